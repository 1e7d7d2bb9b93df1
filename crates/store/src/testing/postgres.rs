//! A Postgres server for tests.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use super::free_port;

/// How many ports are tried: another process may take a port that was free a moment ago.
const TRIES: usize = 5;

/// Who may log in: `guarded` with a password, `discreet` only with encryption, everybody else without either.
const ACCESS: &str = "host all guarded 127.0.0.1/32 scram-sha-256\nhostssl all discreet 127.0.0.1/32 trust\n\
    host all discreet 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 trust\n";

/// A Postgres server with its own data, on a free port of the loopback interface. It ends and its data is removed when this
/// is dropped, and also when the process ends in any way.
///
/// The role `postgres` needs no password. A test may create the role `guarded`, which needs its password, and the role
/// `discreet`, which needs an encrypted connection.
#[derive(Debug)]
pub struct PostgresServer {
    binaries: PathBuf,
    folder: PathBuf,
    port: u16,
    /// A process that ends the server when its input, which is held here, is closed. Absent for a server of another process.
    watchdog: Option<Child>,
}

impl PostgresServer {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    ///
    /// If Postgres is not installed or does not start. The message says what to do.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with settings such as `fsync=off`.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    pub fn start_with(settings: &[&str]) -> Self {
        Self::start_from(settings, &[])
    }

    fn start_from(settings: &[&str], files: &[(&str, &str)]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let binaries = binaries();
        let name = format!("callboard-postgres-{}-{}", process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(name);
        let mut server = Self { watchdog: Some(watchdog(&binaries, &folder)), binaries, folder, port: 0 };
        server.make(settings, files);
        server.bring_up();
        server
    }

    /// Starts a server that can encrypt, with this certificate and key in PEM.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    pub fn start_encrypting(certificate: &str, key: &str) -> Self {
        Self::start_from(&["ssl = on"], &[("server.crt", certificate), ("server.key", key)])
    }

    /// The server that tests share: one of another process, see the example `databases`, else one of this process, which
    /// the first call starts.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        SHARED.get_or_init(|| match super::ports("postgres")[..] {
            [port] => Self { binaries: PathBuf::new(), folder: PathBuf::new(), port, watchdog: None },
            _ => Self::start(),
        })
    }

    /// The URL of a namespace in its database.
    pub fn url(&self, namespace: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?namespace={namespace}", self.port)
    }

    /// The folder with its data.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it as a crash does, and starts it again with the same data and port.
    ///
    /// # Panics
    ///
    /// If it does not start again.
    pub fn restart(&self) {
        self.control(&["restart", "-w", "-m", "immediate", "-t", "60"], "restart");
    }

    /// Ends it as a crash does. [`Self::restart`] brings it back.
    ///
    /// # Panics
    ///
    /// If it cannot be ended.
    pub fn kill(&self) {
        self.control(&["stop", "-w", "-m", "immediate", "-t", "60"], "stop");
    }

    /// Creates the data folder and the configuration.
    fn make(&self, settings: &[&str], files: &[(&str, &str)]) {
        let data = self.data();
        let initdb = self.binaries.join("initdb");
        let mut command = unprivileged(&initdb);
        command.arg("-D").arg(&data).args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]);
        succeed(&mut command, "initdb");
        let settings: String = settings.iter().map(|setting| format!("{setting}\n")).collect();
        let fixed = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 400\n\
             shared_buffers = 64MB\nmax_wal_size = 256MB\n{settings}"
        );
        self.append("postgresql.conf", &fixed);
        files.iter().for_each(|(name, text)| self.append(name, text));
        self.append("pg_hba.conf.new", ACCESS);
        let mut rename = unprivileged(Path::new("mv"));
        rename.arg(data.join("pg_hba.conf.new")).arg(data.join("pg_hba.conf"));
        succeed(&mut rename, "writing pg_hba.conf");
    }

    /// Appends to a file in the data folder, which may belong to another user.
    fn append(&self, file: &str, text: &str) {
        let mut shell = unprivileged(Path::new("sh"));
        shell.args(["-c", "umask 077; printf %s \"$1\" >> \"$0\""]).arg(self.data().join(file)).arg(text);
        succeed(&mut shell, file);
    }

    fn bring_up(&mut self) {
        for _ in 0..TRIES {
            self.port = free_port();
            let options = format!("-p {}", self.port);
            if self.pg_ctl(&["start", "-w", "-t", "60", "-o", &options]).success() {
                return;
            }
        }
        panic!("Postgres does not start: {}", self.log());
    }

    fn control(&self, arguments: &[&str], what: &str) {
        assert!(self.pg_ctl(arguments).success(), "Postgres does not {what}: {}", self.log());
    }

    fn pg_ctl(&self, arguments: &[&str]) -> ExitStatus {
        let mut command = unprivileged(&self.binaries.join("pg_ctl"));
        command.arg("-D").arg(self.data()).arg("-l").arg(self.folder.join("log")).args(arguments);
        // The server must not keep the output of this process open.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap_or_else(|error| panic!("pg_ctl cannot be run: {error}"))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The end of the server's log.
    fn log(&self) -> String {
        let mut tail = unprivileged(Path::new("tail"));
        tail.args(["-n", "20"]).arg(self.folder.join("log"));
        tail.output().map(|output| said(&output)).unwrap_or_default()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut watchdog) = self.watchdog.take() {
            drop(watchdog.stdin.take());
            // Nothing can be done about an error here.
            let _ = watchdog.wait();
        }
    }
}

/// Starts a process that creates `folder` and waits until its input is closed, which happens when this process ends in any
/// way. Then it ends the server and removes the folder.
fn watchdog(binaries: &Path, folder: &Path) -> Child {
    let script = "trap '' INT TERM HUP; mkdir -m 700 \"$1\" && echo ready; while read -r _; do :; done
        \"$0/pg_ctl\" -D \"$1/data\" stop -m immediate -t 60 >/dev/null 2>&1; rm -rf \"$1\"";
    let mut command = unprivileged(Path::new("sh"));
    command.args(["-c", script]).arg(binaries).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watchdog = command.spawn().unwrap_or_else(|error| panic!("cannot start a shell for Postgres: {error}"));
    let mut ready = String::new();
    if let Some(output) = watchdog.stdout.take() {
        let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut ready);
    }
    assert_eq!(ready, "ready\n", "the folder {} cannot be created", folder.display());
    watchdog
}

/// A command that does not run as root, since Postgres refuses to.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"]).arg(program);
    // That user may not be permitted to read the current folder.
    command.current_dir("/");
    command
}

fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n"))
}

/// The folder with the newest `initdb` and `pg_ctl`.
fn binaries() -> PathBuf {
    let in_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let said = Command::new("pg_config").arg("--bindir").output();
    let said = said.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())).ok();
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok())
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    let installed = versions.into_iter().rev().map(|(_, folder)| folder);
    let complete = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
    let found = in_path.into_iter().chain(installed).chain(said).find(complete);
    found.expect("no Postgres here: `apt-get install postgresql`, or put the folder of initdb and pg_ctl in PATH")
}

fn succeed(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what} cannot be run: {error}"));
    assert!(output.status.success(), "{what} failed: {}", said(&output));
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
