//! The environment variables. They are read here and nowhere else.

use std::{
    env,
    fmt::Display,
    io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use callboard_engine::{
    RecallSettings,
    core::{entry::Hash, id::SessionId, session::Ttl},
};
use callboard_model::{ApiKey, Endpoints, Proxy};
use callboard_server::{BrowserSettings, HostPort, Rules};
use etcetera::BaseStrategy as _;
use tracing_subscriber::EnvFilter;

use crate::{cli::Global, failure::Failure, remark::Remark, terminal};

/// How long a model may take for one answer.
const TURN_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The model of agents that name none.
pub(crate) fn default_model() -> Option<String> {
    variable("CALLBOARD_MODEL")
}

/// How models are reached.
pub(crate) fn endpoints() -> Endpoints {
    callboard_model::Settings {
        openai_base_url: variable("OPENAI_BASE_URL"),
        openai_api_key: key("OPENAI_API_KEY"),
        anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
        anthropic_api_key: key("ANTHROPIC_API_KEY"),
        proxy: proxy(),
        ..callboard_model::Settings::default()
    }
    .into()
}

/// The proxy for what is not on this machine.
pub(crate) fn proxy() -> Option<Proxy> {
    let url = variable("HTTPS_PROXY").or_else(|| variable("https_proxy"))?;
    Some(Proxy { url, except: variable("NO_PROXY").or_else(|| variable("no_proxy")).unwrap_or_default() })
}

/// A secret in a variable that the user names.
pub(crate) fn secret(name: &str) -> Option<ApiKey> {
    // Such a name cannot be looked up.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    if is_name { key(name) } else { None }
}

/// After how long without use a session expires that says nothing of it, if the environment says so.
pub(crate) fn ttl() -> Result<Option<Ttl>, Failure> {
    parsed("SESSION_TTL_SECONDS")
}

/// The session that commands work on which name none.
pub(crate) fn session() -> Result<Option<SessionId>, Failure> {
    parsed("CALLBOARD_SESSION")
}

/// The user's folder for what programs remember between two commands.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.state_dir().unwrap_or_else(|| folders.data_dir()).join("callboard"))
}

/// How this program is called: by its name where a shell finds it by that, else by its path.
pub(crate) fn program() -> String {
    let called = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let Some(name) = called.file_name().filter(|_| called.components().count() > 1) else {
        return called.display().to_string();
    };
    let same = |path: &Path| path.canonicalize().ok().zip(called.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    let folders = env::var_os("PATH").unwrap_or_default();
    let is_found = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    let called = if is_found.is_some_and(|path| same(&path)) { Path::new(name) } else { &called };
    let called = called.display().to_string();
    if called.contains(char::is_whitespace) { format!("'{called}'") } else { called }
}

/// What a command connects to.
pub(crate) enum ConnectionTarget {
    /// The store with this URL, opened in this process.
    Store(String),
    /// The server with this URL.
    Server(String),
}

/// What to connect to. The command line takes precedence over the environment.
pub(crate) fn connection_target(global: &Global) -> Result<ConnectionTarget, Failure> {
    if let Some(url) = &global.url {
        return Ok(ConnectionTarget::Server(url.clone()));
    }
    match variable("CALLBOARD_URL").filter(|_| global.store.is_none()) {
        Some(url) => Ok(ConnectionTarget::Server(url)),
        None => store_url(global).map(ConnectionTarget::Store),
    }
}

/// The access token for the server.
pub(crate) fn token(global: &Global) -> Result<Option<String>, Failure> {
    let Some(path) = &global.token_file else { return Ok(variable("CALLBOARD_TOKEN").map(|it| it.trim().to_owned())) };
    let token = terminal::file(path)?.trim().to_owned();
    if token.is_empty() {
        return Err(Failure::failed("no_token", format!("{} contains no token", path.display())));
    }
    Ok(Some(token))
}

/// The URL of the store: the one that is named, else a file in the user's data folder.
pub(crate) fn store_url(global: &Global) -> Result<String, Failure> {
    if let Some(url) = global.store.clone().or_else(|| variable("CALLBOARD_STORE")) {
        return Ok(url);
    }
    let folders = etcetera::choose_base_strategy().map_err(|error| {
        Failure::failed("no_data_folder", format!("cannot find the user's data folder: {error}"))
            .hint("name a store with --store sqlite:PATH")
    })?;
    Ok(format!("sqlite:{}", folders.data_dir().join("callboard").join("callboard.db").display()))
}

/// The file of a store in SQLite.
pub(crate) fn sqlite_path(store_url: &str) -> Option<&Path> {
    let path = store_url.strip_prefix("sqlite:")?;
    Some(Path::new(path.strip_prefix("//").unwrap_or(path)))
}

/// The folder for what is not in the store: the one that is named, else that of the SQLite file.
pub(crate) fn data_folder<'a>(store_url: &'a str, named: Option<&'a Path>) -> Option<&'a Path> {
    named.or_else(|| sqlite_path(store_url)?.parent())
}

/// What tells a store from others that share a folder. A file of SQLite keeps its name when its folder is moved; the address
/// of a server is nobody's business.
fn store_name(store_url: &str) -> String {
    match sqlite_path(store_url) {
        Some(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        None => Hash::of(store_url.as_bytes()).to_string(),
    }
}

/// Whether this is a store in a SQLite file that is not there, in a place where it can be made.
pub(crate) fn is_missing(store_url: &str) -> bool {
    let path = sqlite_path(store_url).and_then(|path| std::path::absolute(path).ok());
    // With options the store itself says whether it takes them.
    let Some(path) = path.filter(|path| !store_url.contains('?') && !path.exists()) else { return false };
    let place = path.ancestors().skip(1).find(|folder| folder.exists());
    place.is_some_and(|folder| tempfile::tempfile_in(folder).is_ok())
}

/// Where the indices of recall are: in the folder for what is not in the store, else beside the SQLite file.
pub(crate) fn recall(store_url: &str, folder: Option<&Path>) -> RecallSettings {
    let file = data_folder(store_url, folder).map(|folder| folder.join("recall.db"));
    RecallSettings { file, store: store_name(store_url).into(), ..RecallSettings::default() }
}

/// How browsers are started here. Pictures of pages are in `folder`, where there is one.
pub(crate) fn browsers(store_url: &str, folder: Option<&Path>) -> Result<BrowserSettings, Failure> {
    let named = variable("CALLBOARD_BROWSER_ALLOW").unwrap_or_default();
    let allowed = named.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::parse::<HostPort>);
    let allow_addresses = allowed.collect::<Result<_, _>>().map_err(|wrong| {
        Failure::usage("invalid", format!("CALLBOARD_BROWSER_ALLOW: {wrong}")).hint("write for instance 127.0.0.1:8080")
    })?;
    let allow_private = match variable("CALLBOARD_BROWSER_ALLOW_PRIVATE").as_deref().map(str::trim) {
        None | Some("0" | "false") => false,
        Some("1" | "true") => true,
        Some(other) => {
            let problem = format!("CALLBOARD_BROWSER_ALLOW_PRIVATE: {other:?} is neither 1 nor 0");
            return Err(Failure::usage("invalid", problem));
        }
    };
    // Stores that share a folder keep their pictures apart.
    let store = store_name(store_url).replace(['?', '&', '%'], "_");
    Ok(BrowserSettings {
        program: variable("CHROMIUM").map(PathBuf::from),
        search_path: env::var_os("PATH"),
        screenshots: folder.map(|folder| folder.join("screenshots").join(store)),
        rules: Rules { allow_private, allow_addresses, ..Rules::default() },
        ..BrowserSettings::default()
    })
}

/// The settings of the store.
pub(crate) fn store_settings(global: &Global) -> callboard_store::Settings {
    callboard_store::Settings { durability: global.durability, ..callboard_store::Settings::default() }
}

/// A random, unique name for this process as a driver of runs.
pub(crate) fn new_node() -> Arc<str> {
    format!("{:016x}", getrandom::u64().unwrap_or_default()).into()
}

/// How runs are driven by this process, whose name is `node`.
pub(crate) fn runs(node: Arc<str>) -> callboard_run::Settings {
    callboard_run::Settings { node, model: default_model(), turn_timeout: TURN_TIMEOUT }
}

/// Tokens with full rights on a server started here, separated by blanks.
pub(crate) fn user_tokens() -> Vec<String> {
    let tokens = variable("CALLBOARD_USER_TOKENS").unwrap_or_default();
    tokens.split_whitespace().map(str::to_owned).collect()
}

/// The URL of a store for display: without passwords, wherever they stand in it.
pub(crate) fn shown(store_url: &str) -> String {
    let Some((scheme, rest)) = store_url.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") else {
        return store_url.to_owned();
    };
    let (address, options) = rest.split_once('?').map_or((rest, ""), |(address, _)| (address, "?…"));
    match address.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}{options}"),
        None => format!("{scheme}://{address}{options}"),
    }
}

/// Whether colours are wanted (<https://no-color.org>).
pub(crate) fn wants_colours() -> bool {
    variable("NO_COLOR").is_none()
}

/// What is logged by default. A command prints itself why a call failed.
fn logged(is_server: bool) -> EnvFilter {
    // What clients of the Model Context Protocol ask wrongly, they are told.
    EnvFilter::new(if is_server { "warn,rmcp=off" } else { "warn,rmcp=off,callboard_server::problem=off" })
}

/// Sends what `RUST_LOG` asks for to the standard error; by default, warnings. Those of a command stand among what it
/// prints for people, in the same form.
pub(crate) fn start_log(is_server: bool) {
    let asked = EnvFilter::try_from_default_env();
    let for_people = asked.is_err() && !is_server;
    let filter = asked.unwrap_or_else(|_| logged(is_server));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false);
    // A line that cannot be written is dropped: reporting that on the standard error would panic.
    let log = log.without_time().with_target(false).log_internal_errors(false);
    if for_people { log.event_format(Remark).init() } else { log.init() }
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// What a variable says that is set and not empty.
fn parsed<T: FromStr<Err: Display>>(name: &str) -> Result<Option<T>, Failure> {
    let value = variable(name).map(|text| text.trim().parse::<T>());
    value.transpose().map_err(|wrong| Failure::usage("invalid", format!("{name}: {wrong}")))
}

fn key(name: &str) -> Option<ApiKey> {
    ApiKey::new(&variable(name)?)
}
