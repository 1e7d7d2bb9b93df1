//! `callboard serve`: until it is told to end.

mod node;
mod prices;
mod recall;
mod token_key;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use callboard_engine::{
    Archive, BeforeAll, Board, LEASE, RecallSettings,
    core::session::Ttl,
    store::{Lease, Store},
};
use callboard_server::{BrowserSettings, Limits, ProjectFolder, PublicUrl, Server, Settings, Tls};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;

use self::node::Node;
use super::durability;
use crate::{
    cli::{BrowserArgs, Global},
    config,
    failure::Failure,
    master_keys,
    output::Output,
    parse::{self, Sweep},
    signals::Signals,
    terminal,
};

const EXAMPLES: &str = "\
Examples:
  callboard serve
  callboard serve --port 0 --ttl 90d --store sqlite:team.db --json
  callboard serve --ttl 36h --archive expired
  callboard serve --browser http://127.0.0.1:9222
  callboard serve --listen 0.0.0.0:7420 --user-token-file tokens.txt \\
      --tls-certificate cert.pem --tls-key key.pem

Environment:
  CHROMIUM                         the path of Chromium (default: looked for in PATH)
  CALLBOARD_BROWSER_ALLOW          private or loopback addresses that pages may reach: host[:port],…
  CALLBOARD_BROWSER_ALLOW_PRIVATE  1: they may reach all of them

Ctrl-C or SIGTERM shuts it down cleanly; a second one stops it at once. Unfinished runs continue when it is started \
again, or at another server of the same store.";

/// Serve sessions over HTTP
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    pub(crate) listen: String,
    /// The port to listen on, on 127.0.0.1; 0 takes any free port
    #[arg(short, long, value_name = "PORT", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,
    /// How long a session lives after its last use, unless it says so itself: 90d, 36h, 15m, seconds, or never (default: SESSION_TTL_SECONDS, else 24h)
    #[arg(long, value_name = "TIME")]
    pub(crate) ttl: Option<Ttl>,
    /// The folder for what is not in the store: the key that signs tokens, the server's name, and the index of recall (default: that of the SQLite file)
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The folder of a project: the context files in its .tmp/sessions belong to the sessions of the same names
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The seconds between removals of expired sessions, or off
    #[arg(long, value_name = "N|off", default_value = "60", value_parser = parse::sweep)]
    pub(crate) sweep_seconds: Sweep,
    /// A folder into which each expired session is written before it is removed, as ID.jsonl.gz; `callboard import` reads it
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// A TOML file that names the outside sources and the embedding model that recall uses
    #[arg(long, value_name = "FILE")]
    pub(crate) recall: Option<PathBuf>,
    /// A TOML or JSON file with the prices of models, so that turns and sessions say what they cost
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// The most memory that recall's index may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) recall_memory: u64,
    /// The certificate chain in PEM, to serve HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A file with one user token per line, added to those of CALLBOARD_USER_TOKENS; with any, calls need a token
    #[arg(long, value_name = "FILE")]
    pub(crate) user_token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) browsers: BrowserArgs,
    /// Another host name that clients may use for the server; repeatable
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// An origin whose web pages may call the server, as scheme and host; repeatable
    #[arg(long = "origin", value_name = "URL", value_parser = parse::origin)]
    pub(crate) origins: Vec<String>,
    /// The URL at which browsers reach the server through a proxy that removes the path, for instance `https://board.example/team`
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<PublicUrl>,
}

/// How often the project folder is checked for changed context files.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn serve(global: &Global, args: Serve, output: Output) -> Result<ExitCode, Failure> {
    // Before anything is opened, so that a signal during startup counts too.
    let signals = Signals::listen()?;
    if global.url.is_some() {
        return Err(Failure::usage("usage", "a server serves a store, not another server: remove --url"));
    }
    let url = config::store_url(global)?;
    let user_tokens = user_tokens(args.user_token_file.as_deref())?;
    let folder = config::data_folder(&url, args.data.as_deref());
    let mut recall = RecallSettings { memory_bytes: args.recall_memory << 20, ..config::recall(&url, folder) };
    if let Some(path) = &args.recall {
        recall = recall::read(path, recall)?;
    }
    let prices = args.prices.as_deref().map(prices::read).transpose()?;
    let ttl = args.ttl.map_or_else(config::ttl, |ttl| Ok(Some(ttl)))?.unwrap_or(Ttl::DAY);
    let listen = args.port.map_or_else(|| args.listen.clone(), |port| format!("127.0.0.1:{port}"));
    let listener = TcpListener::bind(&listen).await.map_err(|error| no_address(&listen, &error))?;
    let store_settings = config::store_settings(global);
    let supervisor = store_settings.supervisor.clone();
    let store = callboard_store::open(&url, store_settings).await?;
    let token_secret = folder.map(token_key::read_or_make).transpose()?;
    let node = Node::of(folder)?;
    let settings = Settings {
        user_tokens,
        token_secret,
        tls: args.tls_certificate.clone().zip(args.tls_key.clone()).map(|(certificate, key)| Tls { certificate, key }),
        hosts: args.hosts.clone(),
        origins: args.origins.clone(),
        public_url: args.public_url.clone(),
        project: args.project.clone().map(|root| ProjectFolder {
            root,
            look_every: LOOK_EVERY,
            sweep_every: args.sweep_seconds,
        }),
        prices,
        browsers: Some(browsers(&args, &url, folder)?),
        limits: Limits::default(),
        models: Arc::new(config::endpoints()),
        runs: config::runs(node.name.clone()),
    };
    master_keys::known(&url, folder).map_err(master_keys::failure)?;
    let archive = archive(global, args.archive.as_deref(), &url).await?;
    let board_settings = callboard_engine::Settings {
        ttl,
        lease: Lease { holder: node.name.clone(), lasts: LEASE },
        sweep: args.sweep_seconds,
        supervisor,
        master_keys: master_keys::of(&url, folder),
        recall,
        archive,
        ..callboard_engine::Settings::default()
    };
    let board = Board::new(store.clone(), board_settings);
    board.check_master_keys().await?;
    let server = Server::ready(board.clone(), settings, listener)?;
    announce(&server, &url, &*store, ttl, output);
    args.browsers.warning().iter().for_each(|warning| output.note(warning));
    store.warnings().iter().for_each(|remark| output.note(format!("note: {remark}")));
    tokio::select! {
        () = server.serve(signals.sent(1)) => {}
        // A second signal does not wait for the orderly shutdown.
        () = signals.sent(2) => return Ok(ExitCode::FAILURE),
    }
    board.close().await;
    Ok(ExitCode::SUCCESS)
}

/// How the browsers of sessions are started.
fn browsers(args: &Serve, url: &str, folder: Option<&Path>) -> Result<BrowserSettings, Failure> {
    let settings = config::browsers(url, folder)?;
    let sweep_every = args.sweep_seconds.unwrap_or(settings.sweep_every);
    Ok(args.browsers.over(BrowserSettings { sweep_every, ..settings }))
}

/// The archive of expired sessions. It reads the store through a handle of its own, by whose clock nothing has expired.
async fn archive(global: &Global, folder: Option<&Path>, url: &str) -> Result<Option<Arc<Archive>>, Failure> {
    let Some(folder) = folder else { return Ok(None) };
    if url.starts_with("memory:") {
        return Err(Failure::usage(
            "usage",
            "a store in memory cannot be archived: use another --store, or remove --archive",
        ));
    }
    let settings = callboard_store::Settings { clock: Arc::new(BeforeAll), ..config::store_settings(global) };
    let store = callboard_store::open(url, settings).await?;
    let archive = Archive::new(folder, store).map_err(|error| {
        Failure::failed("unwritable", format!("cannot write to {}: {error}", folder.display()))
            .hint("name another folder with --archive, or allow writing to this one")
    });
    Ok(Some(Arc::new(archive?)))
}

/// The tokens of the file, a line each, and those of the environment.
fn user_tokens(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    let mut tokens = config::user_tokens();
    if let Some(path) = file {
        let text = terminal::file(path)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let before = tokens.len();
        tokens.extend(lines.map(str::to_owned));
        if tokens.len() == before {
            return Err(Failure::failed("no_tokens", format!("{} contains no token", path.display()))
                .hint("write one token per line, for instance made with: openssl rand -hex 32"));
        }
    }
    match tokens.iter().find(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        // The token itself is not shown.
        Some(_) => Err(Failure::failed("bad_token", "a user token may only contain visible ASCII characters")
            .hint("make one, for instance with: openssl rand -hex 32")),
        None => Ok(tokens),
    }
}

fn no_address(listen: &str, error: &std::io::Error) -> Failure {
    let failure = Failure::failed("cannot_listen", format!("cannot listen on {listen}: {error}"));
    match error.kind() {
        ErrorKind::AddrInUse => {
            failure.hint("the address is in use: stop the other server, or use another one with --port")
        }
        ErrorKind::PermissionDenied => failure.hint("use a port of 1024 or above"),
        _ => failure.hint("use an address and a port, for instance --listen 127.0.0.1:7420"),
    }
}

/// Prints the address, the store with its durability, the default model, and when sessions expire.
fn announce(server: &Server, store_url: &str, store: &dyn Store, ttl: Ttl, output: Output) {
    if output.json {
        return output.json(&json!({"listening": server.url()}));
    }
    output.line(format!("listening on {}", server.url()));
    output.line(format!("store {}; {}", config::shown(store_url), durability(store.durability())));
    output.line(match config::default_model() {
        Some(model) => format!("default model {model}"),
        None => "no default model: set CALLBOARD_MODEL for agents that name none".to_owned(),
    });
    output.line(match ttl {
        Ttl::Never => "sessions made here never expire, unless they say otherwise (--ttl)".to_owned(),
        ttl => format!("sessions made here expire {ttl} after their last use, unless they say otherwise (--ttl)"),
    });
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::commands::{Cli, Command};

    fn place(line: &str, store: &str) -> Option<String> {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Some(Command::Serve(args)) = cli.command else { panic!("{line}") };
        config::data_folder(store, args.data.as_deref()).map(|folder| folder.display().to_string())
    }

    #[test]
    fn what_is_not_in_the_store_is_beside_it_unless_said_otherwise() {
        assert_eq!(place("callboard serve", "sqlite:/a/b.db"), Some("/a".to_owned()));
        assert_eq!(place("callboard serve", "sqlite:///a/b.db"), Some("/a".to_owned()));
        assert_eq!(place("callboard serve", "sqlite:b.db"), Some(String::new()));
        assert_eq!(place("callboard serve", "memory:"), None);
        assert_eq!(place("callboard serve --data /c", "memory:"), Some("/c".to_owned()));
    }
}
