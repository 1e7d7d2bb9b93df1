//! A server for benchmarks, on its own runtime and over TCP.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, Uri},
    routing::post,
};
use callboard_model::{Endpoints, Settings as ModelSettings};
use callboard_server::{Limits, Server, Settings};
use callboard_store::Durability;
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot};

use crate::{bare::Bare, board};

/// A running server.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<anyhow::Result<()>>,
}

impl Served {
    /// Serves a board with sessions of these names, whose models answer at this address, if at any.
    pub(crate) async fn board(sessions: Vec<String>, models: Option<String>) -> anyhow::Result<Self> {
        Self::start(async move |listener, stop| {
            let (_folder, board) = board::temporary()?;
            for session in sessions {
                board::session(&board, &session).await?;
            }
            Server::ready(board.clone(), settings(models), listener)?.serve(async { drop(stop.await) }).await;
            board.close().await;
            Ok(())
        })
        .await
    }

    /// Serves an echo: every request is answered with its body.
    pub(crate) async fn echo() -> anyhow::Result<Self> {
        Self::routes(Router::new().fallback(post(async |body: Bytes| body))).await
    }

    /// Serves a minimal store: it inserts every body into SQLite and answers with it.
    pub(crate) async fn bare(path: &Path) -> anyhow::Result<Self> {
        let bare = Arc::new(Mutex::new(Bare::open(path, Durability::Normal)?));
        let insert = async |State(bare): State<Arc<Mutex<Bare>>>, uri: Uri, body: String| {
            let inserted = bare.lock().map(|mut bare| bare.add(uri.path(), &body));
            inserted.is_ok_and(|inserted| inserted.is_ok()).then_some(body).ok_or(StatusCode::INTERNAL_SERVER_ERROR)
        };
        Self::routes(Router::new().fallback(post(insert)).with_state(bare)).await
    }

    async fn routes(app: Router) -> anyhow::Result<Self> {
        Self::start(async |listener, stop| {
            Ok(axum::serve(listener, app).with_graceful_shutdown(async { drop(stop.await) }).await?)
        })
        .await
    }

    async fn start<S>(serve: S) -> anyhow::Result<Self>
    where
        S: AsyncFnOnce(TcpListener, oneshot::Receiver<()>) -> anyhow::Result<()> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_multi_thread().enable_all().thread_name("served").build()?;
            runtime.block_on(async { serve(TcpListener::from_std(listener)?, stopped).await })
        });
        Ok(Self { address, stop, thread })
    }

    /// Stops it. An error says what went wrong.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        // Where it has ended before, that is what it says.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or_else(|_| anyhow::bail!("the server panicked"))
    }
}

fn settings(openai_base_url: Option<String>) -> Settings {
    let models = ModelSettings { openai_base_url, ..ModelSettings::default() };
    let runs = callboard_run::Settings { node: "bench".into(), model: None, turn_timeout: Limits::default().grace };
    Settings {
        limits: Limits { grace: std::time::Duration::from_millis(200), ..Limits::default() },
        ..Settings::new(Arc::new(Endpoints::from(models)), runs)
    }
}
