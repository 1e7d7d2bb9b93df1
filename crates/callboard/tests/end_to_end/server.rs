//! A server as a process of its own, and calls of it over HTTP as programs make them.

use std::{
    io::{BufRead as _, BufReader},
    iter,
    net::{Shutdown, TcpListener, TcpStream},
    pin::Pin,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use eventsource_stream::Eventsource as _;
use futures::{Stream, StreamExt as _};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::home::{Home, split};

/// How long anything may take until a test is given up.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Looks again and again until something is there.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let last = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < last, "waited in vain for {what}");
        moment();
    }
}

/// Lets others run for a moment, between two looks at something that is waited for.
pub fn moment() {
    // clock: a pause that stands for nothing, only lets others run
    thread::sleep(Duration::from_millis(10));
}

/// The lines that a process prints, each of which must come soon.
pub fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let printed = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (sender, receiver) = mpsc::channel();
    // Nobody may want the rest.
    thread::spawn(move || printed.for_each(|line| drop(sender.send(line))));
    iter::from_fn(move || match receiver.recv_timeout(PATIENCE) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("waited in vain for a line"),
    })
}

/// An address that stays, whatever becomes of the server behind it.
pub struct Relay {
    pub address: String,
    /// Where it leads, if anywhere.
    server: Arc<Mutex<Option<String>>>,
}

impl Relay {
    pub fn to(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Arc::new(Mutex::new(Some(server.address().to_owned())));
        let to = server.clone();
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                // Without a server the connection is closed.
                if let Some(Ok(server)) = to.lock().unwrap().as_ref().map(TcpStream::connect) {
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                        thread::spawn(move || pass(from, to));
                    }
                }
            }
        });
        Self { address, server }
    }

    /// From now on it leads to this server.
    pub fn lead_to(&self, server: &Server) {
        *self.server.lock().unwrap() = Some(server.address().to_owned());
    }

    /// From now on it leads nowhere. Once its server is gone, its port may be that of something else.
    pub fn cut(&self) {
        *self.server.lock().unwrap() = None;
    }
}

/// Passes everything on, and then closes both.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// A server that runs, and is killed in the end.
pub struct Server {
    child: Child,
    /// Where it listens, as it said.
    pub url: String,
}

impl Server {
    /// Starts a server of the home's store with these options more, and waits until it listens.
    pub fn start(home: &Home, more: &str) -> Self {
        Self::of(home.on_the_store(words(more)))
    }

    /// Starts a server with this command, which is one of [`words`], and waits until it listens.
    pub fn of(command: Command) -> Self {
        Self::logging_to(command, Stdio::inherit())
    }

    /// The same, with a log that goes here.
    pub fn logging_to(mut command: Command, log: Stdio) -> Self {
        let mut child = command.stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it did not start: {line}"));
        Self { child, url: said["listening"].as_str().unwrap().to_owned() }
    }

    /// The address without the scheme.
    pub fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub fn tell_to_end(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// Waits until it has ended.
    pub fn ended(&mut self) -> ExitStatus {
        until("the end of the server", || self.child.try_wait().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What starts a server on any free port, with these options more.
pub fn words(more: &str) -> Vec<String> {
    split(&format!("serve --listen 127.0.0.1:0 --json {more}"))
}

/// Calls of a server.
pub struct Http {
    runtime: Runtime,
    client: reqwest::Client,
    pub url: String,
    token: Option<String>,
}

impl Http {
    pub fn new(server: &Server) -> Self {
        // Another test of this process may have been faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The runtime stands still between calls, and would not notice that the server has closed an idle connection.
        let client =
            reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(0).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, client, url: server.url.clone(), token: None }
    }

    /// The same, with a token.
    pub fn with(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let call = self.client.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => call.bearer_auth(token),
            None => call,
        }
    }

    fn answer(&self, call: reqwest::RequestBuilder) -> (u16, Value) {
        self.runtime.block_on(async {
            let response = call.timeout(PATIENCE).send().await.unwrap();
            let status = response.status().as_u16();
            (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
        })
    }

    pub fn get(&self, path: &str) -> (u16, Value) {
        self.answer(self.request("GET", path))
    }

    pub fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.answer(self.request(method, path).json(body))
    }

    /// A call that is made once, however often it is sent.
    pub fn keyed(&self, key: &str, path: &str, body: &Value) -> (u16, Value) {
        self.answer(self.request("POST", path).header("Idempotency-Key", key).json(body))
    }

    /// What a call must give that does what it is to do.
    pub fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// The events of an answer that comes as a stream.
    pub fn streamed(&self, path: &str, body: &Value) -> Vec<String> {
        self.runtime.block_on(async {
            let response = self.request("POST", path).json(body).timeout(PATIENCE).send().await.unwrap();
            assert_eq!(response.status().as_u16(), 200);
            let events = response.bytes_stream().eventsource();
            events.map(|event| event.unwrap().data).collect().await
        })
    }

    /// Follows a session behind an entry, as a browser comes back to a stream.
    pub fn follow(&self, session: &str, last: u64) -> Events<'_> {
        let call = self.request("GET", &format!("/v1/sessions/{session}/events"));
        let response = self.runtime.block_on(call.header("Last-Event-ID", last.to_string()).send()).unwrap();
        assert_eq!(response.status().as_u16(), 200);
        let events = response.bytes_stream().eventsource().filter_map(|event| std::future::ready(event.ok()));
        Events { http: self, events: Box::pin(events) }
    }
}

/// An open stream.
pub struct Events<'a> {
    http: &'a Http,
    events: Pin<Box<dyn Stream<Item = eventsource_stream::Event>>>,
}

impl Events<'_> {
    /// The next entry; `None` once the stream has ended.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let next = async { tokio::time::timeout(PATIENCE, self.events.next()).await };
            let event = self.http.runtime.block_on(next).expect("an entry comes in time")?;
            if event.event == "turn.delta" {
                continue;
            }
            let entry: Value = serde_json::from_str(&event.data).unwrap();
            assert_eq!((event.id, json!(event.event)), (entry["seq"].to_string(), entry["type"].clone()));
            return Some(entry);
        }
    }
}
