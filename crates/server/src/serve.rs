//! Serving: connections are taken, bounded in number and patience, and ended in order.
//!
//! The loop is ours rather than axum's because it has to do three things that that one leaves out: bound how many
//! connections there are, how long and how large a head may be, and speak TLS.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use callboard_engine::Board;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{Error, Settings, app::App, drivers::Driving, files, openapi, router::guarded, tls};

/// Serves `board` on `listener` until `shutdown` comes: [`Server::ready`] and [`Server::serve`] at once.
pub async fn serve(
    board: Board,
    settings: Settings,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), Error> {
    Server::ready(board, settings, listener)?.serve(shutdown).await;
    Ok(())
}

/// A server that has all it needs, and has taken no connection yet.
pub struct Server {
    app: App,
    routes: Router,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    /// One for each connection.
    tasks: TaskTracker,
    /// Cancelled when there is no more patience with connections.
    cut: CancellationToken,
    /// Ends what runs in the background where this is dropped instead of ended.
    _closing: DropGuard,
}

impl Server {
    /// A server of `board`, ready to take connections on `listener`. What cannot be served with these settings is said
    /// here: on an address that can be reached from elsewhere there is no server without user tokens.
    pub fn ready(board: Board, settings: Settings, listener: TcpListener) -> Result<Self, Error> {
        let address = listener.local_addr()?;
        let is_loopback = address.ip().is_loopback();
        if !is_loopback && settings.user_tokens.is_empty() {
            return Err(Error::NoTokens { address });
        }
        let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?;
        let app = App::new(board, settings, is_loopback, Driving::All, || openapi().to_string())?;
        let (tasks, cut) = (TaskTracker::new(), CancellationToken::new());
        let closing = app.closing.clone().drop_guard();
        Ok(Self { routes: guarded(&app), listener, address, tls, tasks, cut, app, _closing: closing })
    }

    /// Where it can be called, as `http://ADDRESS` or `https://ADDRESS`.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `shutdown` comes.
    ///
    /// Then, in this order: no connection is taken any more; streams end, and the models of runs are asked no longer
    /// (the turns that were under way are asked again by whoever takes the runs up, another server at once); calls that were begun are
    /// answered, for as long as [`Limits::grace`](crate::Limits::grace) says; what is left is cut.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) {
        self.app.drivers.keep();
        let app = self.app.clone();
        self.tasks.spawn(self.app.supervisor().keep("project folder", move || {
            let app = app.clone();
            async move {
                app.closing.run_until_cancelled(files::watch::watch(app.clone())).await;
            }
        }));
        tokio::select! {
            () = self.take() => {}
            () = shutdown => {}
        }
        self.end().await;
    }

    /// Takes connections for ever, as many at once as the limits say.
    async fn take(&self) {
        let places = Arc::new(Semaphore::new(self.app.settings.limits.connections));
        loop {
            // The semaphore is never closed.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((connection, _)) => self.begin(connection, place),
                Err(error) => wait_after(&error).await,
            }
        }
    }

    fn begin(&self, connection: TcpStream, place: OwnedSemaphorePermit) {
        // Small answers are not held back to be sent together; where that cannot be had, it is as well.
        let _ = connection.set_nodelay(true);
        let (app, routes, tls, cut) = (self.app.clone(), self.routes.clone(), self.tls.clone(), self.cut.clone());
        self.tasks.spawn(async move {
            app.metrics.connections.up();
            let talking = app.supervisor().once("connection", async {
                tokio::select! {
                    () = cut.cancelled() => {}
                    () = open(&app, routes, tls, connection) => {}
                }
            });
            talking.await;
            app.metrics.connections.down();
            drop(place);
        });
    }

    async fn end(self) {
        let Self { app, listener, tasks, cut, .. } = self;
        // Whoever comes now is refused at once.
        drop(listener);
        app.closing.cancel();
        let connections = async {
            tasks.close();
            if tokio::time::timeout(app.settings.limits.grace, tasks.wait()).await.is_err() {
                tracing::warn!(connections = tasks.len(), "connections are cut that have not ended in time");
                cut.cancel();
                tasks.wait().await;
            }
        };
        // Others need not wait with the runs until the last connection has ended.
        tokio::join!(connections, app.drivers.ended());
    }
}

async fn open(app: &App, routes: Router, tls: Option<TlsAcceptor>, connection: TcpStream) {
    let Some(tls) = tls else { return talk(app, routes, connection).await };
    match tokio::time::timeout(app.settings.limits.head_time, tls.accept(connection)).await {
        Ok(Ok(connection)) => talk(app, routes, connection).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection did not come to speak TLS"),
        Err(_) => tracing::debug!("a connection took too long to speak TLS"),
    }
}

/// Answers what comes over one connection, until it ends or the server closes and nothing is under way.
async fn talk(app: &App, routes: Router, connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let limits = &app.settings.limits;
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_buf_size(limits.head_bytes.max(8192));
    let service = TowerToHyperService::new(routes);
    let connection = http.serve_connection(TokioIo::new(connection), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = app.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// After an error of the listener: one of a connection that is gone already means nothing, others may pass.
async fn wait_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::error!(%error, "a connection cannot be taken");
    tokio::time::sleep(Duration::from_millis(200)).await;
}
