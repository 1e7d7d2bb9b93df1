//! What a server is told when it is started.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use callboard_model::ChatModel;

/// What a server is told when it is started.
#[derive(Clone)]
pub struct Settings {
    /// Tokens with which one may all, in every session. Where there is one, nobody is let in without a token.
    pub user_tokens: Vec<String>,
    /// The secret from which the tokens of sessions are made. Servers that share a store share it, so that a keyed
    /// request for a token is answered the same by each of them; left out, it is made up at each start.
    pub token_secret: Option<[u8; 32]>,
    /// Where the certificate is; without it the server speaks plain HTTP.
    pub tls: Option<Tls>,
    /// Names besides those of this machine by which it is called: others are refused on a loopback address, and where
    /// one is given here, on every address.
    pub hosts: Vec<String>,
    /// Origins besides its own whose pages may call it, such as `https://board.example`.
    pub origins: Vec<String>,
    /// How much of what it takes.
    pub limits: Limits,
    /// The models of runs.
    pub models: Arc<dyn ChatModel>,
    /// How runs are driven.
    pub runs: callboard_run::Settings,
    /// The folder of a project, whose context files belong to the sessions of the same names. Without it there are none.
    pub project: Option<ProjectFolder>,
}

/// The folder of a project. No file outside of its `.tmp/sessions` is read or written.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    /// Where it is.
    pub root: PathBuf,
    /// How often it is looked whether somebody has written there.
    pub look_every: Duration,
    /// How often it is cleaned up, if at all.
    pub sweep_every: Option<Duration>,
}

/// Files for TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate and those that vouch for it, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// How much a server takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest body: 16 MiB and what JSON adds to a text of that size.
    pub body_bytes: usize,
    /// The largest session that is imported: 4 GiB.
    pub import_bytes: u64,
    /// The largest head of a request: 64 KiB.
    pub head_bytes: usize,
    /// The most connections at once, open streams among them: 4,096. Others wait until one ends.
    pub connections: usize,
    /// For how long a connection may take to send the head of a request: 30 seconds.
    pub head_time: Duration,
    /// For how long a connection may send nothing while a body is read: 30 seconds.
    pub body_time: Duration,
    /// After how long a silent stream says that it is still there: 15 seconds.
    pub keep_alive: Duration,
    /// For how long what was begun may go on when the server stops: 10 seconds.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 24 << 20,
            import_bytes: 4 << 30,
            head_bytes: 64 << 10,
            connections: 4096,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Secrets are not shown.
        let Self { user_tokens, tls, hosts, origins, limits, runs, project, .. } = self;
        let mut shown = f.debug_struct("Settings");
        shown.field("user_tokens", &user_tokens.len()).field("tls", tls).field("hosts", hosts);
        shown
            .field("origins", origins)
            .field("limits", limits)
            .field("runs", runs)
            .field("project", project)
            .finish_non_exhaustive()
    }
}
