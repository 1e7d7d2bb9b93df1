//! A Redis of one's own.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
};

/// How often another port is tried where somebody else took the one that was free.
const TRIES: usize = 8;

/// A `redis-server` on a free port of this machine with data in a folder of its own. It ends, and the data with it, when
/// this is dropped, also by a panic, and when the process ends in any other way.
#[derive(Debug)]
pub struct RedisServer {
    folder: tempfile::TempDir,
    options: Vec<String>,
    port: u16,
    running: Option<Running>,
}

/// The process, and another one that ends it when ours is gone.
#[derive(Debug)]
struct Running {
    server: Child,
    guard: Child,
}

impl RedisServer {
    /// One that writes down what it is told and flushes it every second.
    pub fn start() -> Self {
        Self::with(&["--appendonly", "yes"])
    }

    /// One that flushes what it was told before it answers.
    pub fn durable() -> Self {
        Self::with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// One with these options.
    pub fn with(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the data of a server");
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        for _ in 0..TRIES {
            let port = free_port();
            if let Some(running) = run(folder.path(), &options, port) {
                return Self { folder, options, port, running: Some(running) };
            }
        }
        panic!("redis-server did not start on any of {TRIES} free ports");
    }

    /// One that is shared by all who ask while somebody still has it.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<RedisServer>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a namespace in it.
    pub fn url(&self, namespace: &str) -> String {
        format!("redis://127.0.0.1:{}?namespace={namespace}", self.port)
    }

    /// Ends it without giving it time for anything, as a crash does.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts it again on the same port with the same data, after it was killed if it was not.
    pub fn restart(&mut self) {
        self.kill();
        let tries = (0..TRIES).find_map(|_| run(self.folder.path(), &self.options, self.port));
        self.running = Some(tries.expect("redis-server starts again on its port"));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both may have ended before. The guard goes last, and finds nothing left to end.
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Starts a server and waits until it is ready; `None` where it ended instead.
fn run(folder: &Path, options: &[String], port: u16) -> Option<Running> {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"]);
    command.arg("--dir").arg(folder).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().expect("redis-server is needed in PATH: apt-get install redis-server");
    let guard = guard(server.id());
    let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines();
    let running = Running { server, guard };
    let ready = lines.by_ref().map_while(Result::ok).any(|line| line.contains("Ready to accept connections"));
    // Somebody must take what it prints, or it would wait for ever.
    thread::spawn(move || lines.for_each(drop));
    ready.then_some(running)
}

/// A process that ends the one with this id when ours has ended, however it did: the pipe to it closes then.
fn guard(id: u32) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("read _; kill -9 {id}")]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("sh")
}
