//! A server as a process of its own, and calls of it over HTTP as programs make them.

use std::{
    io::{BufRead as _, BufReader},
    pin::Pin,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use eventsource_stream::Eventsource as _;
use futures::{Stream, StreamExt as _};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::home::{Home, split};

/// How long anything may take until a test is given up.
pub const PATIENCE: Duration = Duration::from_secs(60);

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
        self.child.wait().unwrap()
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
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
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
