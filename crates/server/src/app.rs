//! What every call works with.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    ops::Deref,
    sync::{Arc, LazyLock},
};

use callboard_api as api;
use callboard_core::{count::Usage, entry::Hash, id::SessionId, time::Timestamp};
use callboard_engine::{Board, Outside};
use callboard_tasks::Supervisor;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Settings, asking::Asking, browsers::Browsers, drivers::Drivers, driving, executions::Executions,
    files::Files, keyed_lock::KeyedLock, login::Logins, metrics::Metrics, page::Page, secret, secret::Secret,
};

/// What every call works with. Clones share it.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) board: Board,
    pub(crate) settings: Settings,
    /// The hashes of the tokens that give all rights.
    pub(crate) user_tokens: BTreeSet<Hash>,
    pub(crate) secret: Secret,
    /// The browsers that are logged in.
    pub(crate) logins: Logins,
    pub(crate) page: Page,
    /// Whether only this machine can reach the server.
    pub(crate) is_loopback: bool,
    /// Cancelled when the server stops. Streams end then.
    pub(crate) closing: CancellationToken,
    pub(crate) drivers: Drivers,
    pub(crate) executions: Executions,
    /// The folder of the project, if there is one.
    pub(crate) files: Option<Arc<Files>>,
    /// The browsers of sessions, if they may have any here.
    pub(crate) browsers: Option<Browsers>,
    /// All of them, for agents.
    pub(crate) outside: Outside,
    pub(crate) metrics: Metrics,
    /// The OpenAPI document. It is made when somebody asks for it.
    pub(crate) document: LazyLock<String>,
    /// What is done by one request at a time, such as the work of an idempotency key, so that it is done once. By the session on
    /// which a request works, if any, and what it does.
    pub(crate) locks: KeyedLock<(Option<SessionId>, String)>,
    /// What this server asks models for programs.
    pub(crate) asking: Asking,
}

impl App {
    /// What this usage of models costs together, as far as their prices are known.
    pub(crate) fn cost<'a>(&self, used: impl IntoIterator<Item = (Option<&'a str>, Usage)>) -> Option<api::Cost> {
        let prices = self.settings.prices.as_ref()?;
        let costs = used.into_iter().filter_map(|(model, usage)| prices.of(model?, usage));
        let amount = costs.reduce(|one, other| one + other)?;
        // What adding up fractions leaves behind is of no use.
        Some(api::Cost { amount: (amount * 1e8).round() / 1e8, currency: prices.currency.clone() })
    }
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    /// What calls work with on a server with these settings, which listens on `address`, if on any. `document` makes the
    /// OpenAPI document.
    pub(crate) fn new(
        board: Board,
        settings: Settings,
        address: Option<SocketAddr>,
        driving: driving::Driving,
        document: fn() -> String,
    ) -> Result<Self, Error> {
        let closing = CancellationToken::new();
        let files = settings.project.as_ref().map(Files::open).transpose()?.map(Arc::new);
        let own = address.into_iter().collect();
        let browsers =
            settings.browsers.as_ref().map(|browsers| Browsers::new(board.clone(), browsers, own, closing.clone()));
        let mut outside = Outside::default();
        if let Some(files) = &files {
            outside.files = Some(files.clone());
        }
        if let Some(browsers) = &browsers {
            outside.browsers = Some(Arc::new(browsers.clone()));
        }
        let (models, runs) = (settings.models.clone(), settings.runs.clone());
        let (held, ends) = (board.clone(), closing.clone());
        let means = Arc::new(driving::Means { board: held, models, settings: runs, driving, closing: ends });
        let executions = Executions::new(means.clone(), outside.browsers.clone());
        outside.workflows = Some(Arc::new(executions.clone()));
        let drivers = Drivers::new(means, outside.clone(), executions.clone());
        Ok(Self(Arc::new(Inner {
            user_tokens: settings.user_tokens.iter().map(|token| secret::hash(token)).collect(),
            secret: Secret::new(settings.token_secret)?,
            logins: Logins::default(),
            page: Page::new(settings.public_url.as_ref()),
            is_loopback: address.is_none_or(|address| address.ip().is_loopback()),
            closing,
            drivers,
            executions,
            files,
            browsers,
            outside,
            metrics: Metrics::default(),
            document: LazyLock::new(document),
            locks: KeyedLock::default(),
            asking: Asking::new(board.clone()),
            board,
            settings,
        })))
    }
}

impl Inner {
    /// The time by which entries are made and access tokens expire.
    pub(crate) fn now(&self) -> Timestamp {
        self.board.settings().clock.now()
    }

    /// The supervisor of the background tasks of server, board and store.
    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.board.settings().supervisor
    }
}
