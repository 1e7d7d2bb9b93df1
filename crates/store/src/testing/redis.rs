//! Redis servers for tests.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
};

use redis::{AsyncConnectionConfig, Client, aio::MultiplexedConnection};

use super::free_port;

/// How many ports are tried: another process may take a port that was free a moment ago.
const TRIES: usize = 8;

/// Connects with the Redis on this port, however busy the machine is: by itself the client waits for a second, and for half of
/// one for an answer.
pub async fn connection(port: u16) -> MultiplexedConnection {
    let client = Client::open(format!("redis://127.0.0.1:{port}")).expect("its URL");
    let patient = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&patient).await.expect("a connection")
}

/// A `redis-server` with its own data, on a free port of this machine. It ends and its data is removed when this is dropped;
/// the server also ends when the process ends in any other way.
#[derive(Debug)]
pub struct RedisServer {
    folder: tempfile::TempDir,
    options: Vec<String>,
    port: u16,
    running: Option<Running>,
}

/// The process of the server, and another one that ends it when ours is gone.
#[derive(Debug)]
struct Running {
    server: Child,
    guard: Child,
}

impl RedisServer {
    /// Starts a server with an append-only file that is flushed every second.
    pub fn start() -> Self {
        Self::with(&["--appendonly", "yes"])
    }

    /// Starts a server that flushes each write before it answers.
    pub fn durable() -> Self {
        Self::with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// Starts a server with these options.
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

    /// The server that tests share: one of another process, see the example `databases`, else one of this process, which ends
    /// when nobody uses it any more.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<RedisServer>> = Mutex::new(Weak::new());
        of_this_process(&SHARED, || match super::ports("redis")[..] {
            [port] => Self::elsewhere(port),
            _ => Self::start(),
        })
    }

    /// The server of another process on this port.
    fn elsewhere(port: u16) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the data of a server");
        Self { folder, options: vec![], port, running: None }
    }

    /// The folder with its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a namespace in it.
    pub fn url(&self, namespace: &str) -> String {
        format!("redis://127.0.0.1:{}?namespace={namespace}", self.port)
    }

    /// Sends a command whose arguments contain no spaces. Returns the answer.
    fn call(&self, command: &str) -> String {
        let client = Client::open(format!("redis://127.0.0.1:{}", self.port)).expect("its URL");
        let mut words = redis::Cmd::new();
        command.split_whitespace().for_each(|word| {
            words.arg(word);
        });
        let mut connection = client.get_connection().expect("a connection");
        words.query(&mut connection).expect("an answer")
    }

    /// Ends it at once, as a crash does.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Kills it if it is running, and starts it again with the same port and data.
    pub fn restart(&mut self) {
        self.kill();
        let tries = (0..TRIES).find_map(|_| run(self.folder.path(), &self.options, self.port));
        self.running = Some(tries.expect("redis-server starts again on its port"));
    }
}

/// A cluster of three `redis-server`s. They end as [`RedisServer`] does.
#[derive(Debug)]
pub struct RedisCluster(Vec<RedisServer>);

impl RedisCluster {
    /// How many slots there are.
    const SLOTS: usize = 16_384;

    /// Starts a cluster whose servers are like [`RedisServer::start`].
    pub fn start() -> Self {
        let cluster = Self((0..3).map(|_| Self::node()).collect());
        cluster.join();
        cluster
    }

    /// The cluster that tests share, as [`RedisServer::shared`].
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<RedisCluster>> = Mutex::new(Weak::new());
        of_this_process(&SHARED, || match super::ports("cluster")[..] {
            [] => Self::start(),
            ref ports => Self(ports.iter().map(|&port| RedisServer::elsewhere(port)).collect()),
        })
    }

    /// The URL of a namespace in it. It names the first node.
    pub fn url(&self, namespace: &str) -> String {
        self.0.first().expect("a node").url(namespace)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.0
    }

    fn node() -> RedisServer {
        let bus = free_port().to_string();
        RedisServer::with(&["--appendonly", "yes", "--cluster-enabled", "yes", "--cluster-port", &bus])
    }

    /// Distributes the slots, and makes the nodes known to each other.
    fn join(&self) {
        let share = Self::SLOTS.div_ceil(self.0.len());
        for (at, node) in self.0.iter().enumerate() {
            let last = (share * (at + 1)).min(Self::SLOTS) - 1;
            node.call(&format!("CLUSTER ADDSLOTSRANGE {} {last}", share * at));
            node.call(&format!("CLUSTER SET-CONFIG-EPOCH {}", at + 1));
        }
        // The epochs must be set before the nodes meet.
        for node in &self.0 {
            for other in &self.0 {
                let bus = other.options.last().expect("the port of its bus");
                node.call(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", other.port));
            }
        }
        let knows_all = |node: &RedisServer| {
            let info = node.call("CLUSTER INFO");
            let nodes = format!("cluster_known_nodes:{}\r", self.0.len());
            info.contains("cluster_state:ok") && info.contains("cluster_slots_assigned:16384") && info.contains(&nodes)
        };
        while !self.0.iter().all(knows_all) {
            thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both may have ended already. The guard goes last, and then has nothing left to end.
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

/// What is shared now, else what `start` makes.
fn of_this_process<T>(shared: &Mutex<Weak<T>>, start: impl FnOnce() -> T) -> Arc<T> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *shared = Arc::downgrade(&started);
        started
    })
}

/// Starts a server and waits until it is ready; `None` if it ended instead.
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
    // The output must be read, or the server would block on it.
    thread::spawn(move || lines.for_each(drop));
    ready.then_some(running)
}

/// Starts a process that ends the one with this id when ours ends in any way: its input is closed then.
fn guard(id: u32) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("read _; kill -9 {id}")]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("sh")
}
