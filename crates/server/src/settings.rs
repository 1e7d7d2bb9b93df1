//! Settings of a server.

use std::{path::PathBuf, sync::Arc, time::Duration};

use callboard_model::ChatModel;

use crate::{browsers::BrowserSettings, prices::Prices, public_url::PublicUrl};

/// Settings of a server.
#[derive(Clone)]
pub struct Settings {
    /// Tokens that give all rights, in every session. If there are any, every request needs a token.
    pub user_tokens: Vec<String>,
    /// The secret from which access tokens of sessions are derived. Servers that share a store share it, so that a keyed
    /// request for a token gets the same answer from each. If absent: a random one at each start.
    pub token_secret: Option<[u8; 32]>,
    /// The files for TLS. If absent: plain HTTP.
    pub tls: Option<Tls>,
    /// Host names of this server besides those of the loopback interface. Requests for other hosts are refused on a loopback
    /// address and, if there are names here, on every address.
    pub hosts: Vec<String>,
    /// Origins besides its own whose web pages may call it, such as `https://board.example`.
    pub origins: Vec<String>,
    /// The URL under which browsers reach it, where that is another one, such as that of a proxy.
    pub public_url: Option<PublicUrl>,
    /// Limits of sizes, times and connections.
    pub limits: Limits,
    /// The models of runs.
    pub models: Arc<dyn ChatModel>,
    /// How runs are driven.
    pub runs: callboard_run::Settings,
    /// The folder of a project. Its context files belong to the sessions of the same names.
    pub project: Option<ProjectFolder>,
    /// What models cost, if that is known.
    pub prices: Option<Prices>,
    /// How the browsers of sessions are started. If absent: sessions have none here.
    pub browsers: Option<BrowserSettings>,
}

impl Settings {
    /// These models and runs, the usual limits, and nothing of the rest.
    pub fn new(models: Arc<dyn ChatModel>, runs: callboard_run::Settings) -> Self {
        Self {
            user_tokens: Vec::new(),
            token_secret: None,
            tls: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            public_url: None,
            limits: Limits::default(),
            models,
            runs,
            project: None,
            prices: None,
            browsers: None,
        }
    }
}

/// The folder of a project. No file outside of its `.tmp/sessions` is read or written.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    /// Its path.
    pub root: PathBuf,
    /// How often to check for changes.
    pub look_every: Duration,
    /// How often to remove folders of deleted and unused sessions, if at all.
    pub sweep_every: Option<Duration>,
}

/// Files for TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate chain, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest body in bytes. Default: 24 MiB, enough for a text of 16 MiB as JSON.
    pub body_bytes: usize,
    /// The largest import in bytes. Default: 4 GiB.
    pub import_bytes: u64,
    /// The largest head of a request in bytes. Default: 64 KiB.
    pub head_bytes: usize,
    /// The most connections at a time, with open streams. Further ones wait. Default: 4,096.
    pub connections: usize,
    /// The longest time in which the head of a request has to arrive. Default: 30 seconds.
    pub head_time: Duration,
    /// The longest pause while a body arrives. Default: 30 seconds.
    pub body_time: Duration,
    /// How often an idle stream sends a sign of life. Default: 15 seconds.
    pub keep_alive: Duration,
    /// How long requests may go on while the server stops. Default: 10 seconds.
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
