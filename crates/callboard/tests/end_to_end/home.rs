//! A place of its own for a test: a store, the environment, and the binary in it.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use callboard_model::scripted::Scripted;
use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Http, Server};

/// A folder with a store in it, in which the binary runs and knows nothing of the world around.
pub struct Home {
    folder: TempDir,
    /// Where a model is, and what it is called.
    model: Option<(String, &'static str)>,
    /// The server that has the store, where there is one: all commands go to it.
    server: Option<Server>,
}

/// How commands reach the store.
pub type Way = fn(Home) -> Home;

/// What came of a command.
pub struct Done {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), model: None, server: None }
    }

    /// The same, with a server of the store, to which all commands go.
    pub fn over_http(self) -> Self {
        // Straight on a store, sessions never expire.
        self.at_server("--ttl never")
    }

    /// The same, with a server that has these options.
    pub fn at_server(mut self, options: &str) -> Self {
        self.server = Some(Server::start(&self, options));
        self
    }

    /// The same, with a session that is made with these options.
    pub fn with_session(self, options: &str) -> Self {
        self.json(&format!("session new {options}"));
        self
    }

    /// The same, with a model.
    pub fn with(endpoint: &Scripted) -> Self {
        Self::at(endpoint.base_url(), "openai:scripted")
    }

    /// The same, with the model of this name at this address.
    pub fn at(url: String, name: &'static str) -> Self {
        Self { model: Some((url, name)), ..Self::new() }
    }

    /// Calls of the server.
    pub fn http(&self) -> Http {
        Http::new(self.server.as_ref().expect("there is a server"))
    }

    /// Makes calls of the server; of one that is started for them where there is none.
    pub fn with_http<T>(&self, calls: impl FnOnce(&Http) -> T) -> T {
        let started = self.server.is_none().then(|| Server::start(self, "--ttl never"));
        let server = self.server.as_ref().or(started.as_ref()).expect("there is a server");
        calls(&Http::new(server))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A command that is ready to be started, at the server where there is one.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.on_the_store(words);
        if let Some(server) = &self.server {
            command.env("CALLBOARD_URL", &server.url);
        }
        command
    }

    /// A command that is ready to be started, straight on the store.
    pub fn on_the_store<S: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callboard"));
        command.args(words).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.folder.path()).env("CALLBOARD_STORE", "sqlite:team.db").env("RUST_LOG", "error");
        command.envs(std::env::var_os("CHROMIUM").map(|path| ("CHROMIUM", path)));
        if let Some((url, name)) = &self.model {
            let anthropic = name.starts_with("anthropic:");
            let base_url = if anthropic { "ANTHROPIC_BASE_URL" } else { "OPENAI_BASE_URL" };
            command.env(base_url, url).env("CALLBOARD_MODEL", name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command line: words with blanks between them, `'…'` around those that have some.
    pub fn run(&self, line: &str) -> Done {
        done(self.command(split(line)).output().unwrap())
    }

    /// Runs a command line with something to read.
    pub fn feed(&self, line: &str, input: impl AsRef<[u8]>) -> Done {
        let mut child = self.command(split(line)).stdin(Stdio::piped()).spawn().unwrap();
        // Whoever refuses the command line reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        done(child.wait_with_output().unwrap())
    }

    /// Runs a line of the shell, which finds the binary as `callboard`.
    pub fn shell(&self, line: &str) -> Done {
        let binary = Path::new(env!("CARGO_BIN_EXE_callboard")).parent().unwrap().to_owned();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::join_paths(std::iter::once(binary).chain(std::env::split_paths(&others))).unwrap();
        let known = self.command::<&str>([]);
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null()).env_clear();
        shell.envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
        done(shell.env("PATH", folders).env("no_proxy", "*").output().unwrap())
    }

    /// Starts a command line that goes on by itself.
    pub fn start(&self, line: &str) -> Child {
        self.command(split(line)).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The answer of a command line that must do.
    pub fn json(&self, line: &str) -> Value {
        let done = self.run(&format!("{line} --json"));
        assert_eq!(done.status, 0, "{line}: {}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{line}: {error}: {}", done.stdout))
    }

    /// The error of a command line that must fail.
    pub fn error(&self, line: &str) -> (i32, Value) {
        let done = self.run(&format!("{line} --json"));
        assert_ne!(done.status, 0, "{line}: {}", done.stdout);
        let error: Value = serde_json::from_str(&done.stdout).unwrap();
        (done.status, error["error"].clone())
    }

    /// All entries of a session's journal.
    pub fn journal(&self, session: &str) -> Vec<Value> {
        let mut journal = self.json(&format!("session journal --session {session}"));
        serde_json::from_value(journal["entries"].take()).unwrap()
    }

    /// Fails where anything is wrong with the store.
    pub fn assert_sound(&self) {
        let done = done(self.on_the_store(["doctor", "--no-model", "--json"]).output().unwrap());
        assert_eq!(done.status, 0, "{}", done.stdout);
    }

    /// What a person sees who types these lines.
    pub fn transcript(&self, lines: &[&str]) -> String {
        let mut written = String::new();
        for line in lines {
            let Done { stdout, stderr, status } = self.run(line);
            written += &format!("$ callboard {line}\n{stdout}");
            written.extend(stderr.lines().map(|line| format!("! {line}\n")));
            if status != 0 {
                written += &format!("= {status}\n");
            }
        }
        self.normal(&written)
    }

    /// A text without what differs from one time to the next.
    pub fn normal(&self, text: &str) -> String {
        let text = text.replace(&self.folder.path().display().to_string(), "HOME");
        let text = text.replace(env!("CARGO_BIN_EXE_callboard"), "callboard");
        let text = replace(&text, "####-##-##T##:##:##.###Z", "TIME");
        let text = without_size(&without_cursor(&without_salt(&text)));
        replace(&replace(&text, "########-######-aaaa", "SESSION"), "#.# s", "N s")
    }
}

fn done(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status.code().unwrap_or(-1) }
}

/// Words with blanks between them, `'…'` around those that have some.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, quoted) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(quoted.split_whitespace().map(str::to_owned)),
            _ => words.push(quoted.to_owned()),
        }
    }
    words
}

/// A text without the random numbers that keep journals apart.
fn without_salt(text: &str) -> String {
    let mut pieces = text.split("\"salt\":");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + "\"salt\":N" + piece.trim_start_matches(|c: char| c == '"' || c.is_ascii_digit())
    })
}

/// A text without how large the entries of a session are: random numbers in them have more digits or fewer.
fn without_size(text: &str) -> String {
    let mut pieces = text.split(",\"size_bytes\":");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces
        .fold(first, |text, piece| text + ",\"size_bytes\":N" + piece.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// A text without where the next page is.
fn without_cursor(text: &str) -> String {
    let mut pieces = text.split("\"next_cursor\":\"");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + "\"next_cursor\":\"CURSOR" + piece.trim_start_matches(|c: char| c != '"'))
}

/// Replaces what looks like `pattern`, in which `#` is a digit and `a` a digit or a letter.
pub fn replace(text: &str, pattern: &str, with: &str) -> String {
    let fits = |text: &str| {
        let mut there = text.chars();
        pattern.chars().all(|wanted| match (wanted, there.next()) {
            ('#', Some(c)) => c.is_ascii_digit(),
            ('a', Some(c)) => c.is_ascii_alphanumeric(),
            (wanted, c) => c == Some(wanted),
        })
    };
    let (mut replaced, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = if fits(rest) { pattern.len() } else { c.len_utf8() };
        replaced += if fits(rest) { with } else { &rest[..length] };
        rest = &rest[length..];
    }
    replaced
}

/// Whether this process may write everywhere.
pub fn is_root() -> bool {
    Path::new("/proc/self").exists()
        && std::fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

/// A command as another program starts it.
fn within(program: &str, options: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(program);
    outer.args(options).arg(command.get_program()).args(command.get_args());
    outer.current_dir(command.get_current_dir().unwrap()).env_clear();
    outer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer
}

/// A command for which permissions mean something, also where root runs it.
pub fn unprivileged(command: Command) -> Command {
    if is_root() { within("setpriv", &["--bounding-set=-dac_override"], &command) } else { command }
}
