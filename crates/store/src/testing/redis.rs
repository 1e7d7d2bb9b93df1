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

    /// What it answers to a command whose words have no spaces.
    fn tell(&self, command: &str) -> String {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).expect("its URL");
        let mut words = redis::Cmd::new();
        command.split_whitespace().for_each(|word| {
            words.arg(word);
        });
        let mut connection = client.get_connection().expect("a connection");
        words.query(&mut connection).expect("an answer")
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

/// Three `redis-server` that are a cluster. They end as [`RedisServer`] does.
#[derive(Debug)]
pub struct RedisCluster(Vec<RedisServer>);

impl RedisCluster {
    /// How many slots there are.
    const SLOTS: usize = 16_384;

    /// One that writes down what it is told and flushes it every second.
    pub fn start() -> Self {
        let cluster = Self((0..3).map(|_| Self::node()).collect());
        cluster.join();
        cluster
    }

    /// One that is shared by all who ask while somebody still has it.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<RedisCluster>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let cluster = Arc::new(Self::start());
            *shared = Arc::downgrade(&cluster);
            cluster
        })
    }

    /// The URL of a namespace in it, which names the first node.
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

    /// Shares the slots out and makes the nodes known to each other.
    fn join(&self) {
        let share = Self::SLOTS.div_ceil(self.0.len());
        for (at, node) in self.0.iter().enumerate() {
            let last = (share * (at + 1)).min(Self::SLOTS) - 1;
            node.tell(&format!("CLUSTER ADDSLOTSRANGE {} {last}", share * at));
            node.tell(&format!("CLUSTER SET-CONFIG-EPOCH {}", at + 1));
        }
        // Only those that know nobody yet may be told how to settle who has which slots.
        for node in &self.0 {
            for other in &self.0 {
                let bus = other.options.last().expect("the port of its bus");
                node.tell(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", other.port));
            }
        }
        let knows_all = |node: &RedisServer| {
            let info = node.tell("CLUSTER INFO");
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
