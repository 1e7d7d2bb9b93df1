//! What every call works with.

use std::{
    collections::BTreeSet,
    ops::Deref,
    sync::{Arc, LazyLock},
};

use callboard_core::{entry::Hash, id::SessionId};
use callboard_engine::{Board, ContextFiles};
use callboard_tasks::Supervisor;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Settings,
    drivers::{Drivers, Driving},
    files::{Files, files_or_none},
    login::Logins,
    metrics::Metrics,
    page::Page,
    secret,
    secret::Secret,
    turns::Turns,
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
    /// The folder of the project, if there is one.
    pub(crate) files: Option<Arc<Files>>,
    pub(crate) metrics: Metrics,
    /// The OpenAPI document. It is made when somebody asks for it.
    pub(crate) document: LazyLock<String>,
    /// Requests with the same idempotency key wait for each other, so that the work is done once. By the session on which a
    /// request works, if any, and the key that it claims.
    pub(crate) turns: Turns<(Option<SessionId>, String)>,
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    /// What calls work with on a server with these settings. `document` makes the OpenAPI document.
    pub(crate) fn new(
        board: Board,
        settings: Settings,
        is_loopback: bool,
        driving: Driving,
        document: fn() -> String,
    ) -> Result<Self, Error> {
        let closing = CancellationToken::new();
        let files = settings.project.as_ref().map(Files::open).transpose()?.map(Arc::new);
        let drivers = Drivers::new(board.clone(), &settings, files.clone(), driving, closing.clone());
        Ok(Self(Arc::new(Inner {
            user_tokens: settings.user_tokens.iter().map(|token| secret::hash(token)).collect(),
            secret: Secret::new(settings.token_secret)?,
            logins: Logins::default(),
            page: Page::new(settings.public_url.as_ref()),
            is_loopback,
            closing,
            drivers,
            files,
            metrics: Metrics::default(),
            document: LazyLock::new(document),
            turns: Turns::default(),
            board,
            settings,
        })))
    }
}

impl Inner {
    /// The supervisor of the background tasks of server, board and store.
    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.board.settings().supervisor
    }

    /// What does with context files what agents ask for.
    pub(crate) fn context_files(&self) -> Arc<dyn ContextFiles> {
        files_or_none(self.files.as_ref())
    }
}
