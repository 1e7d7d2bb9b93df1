//! The connection to Chromium: commands and their answers, events, one task.

use std::{borrow::Cow, collections::HashMap, time::Duration};

use chromiumoxide::{
    Connection, Method,
    error::CdpError,
    types::{CallId, Error as ProtocolError, EventMessage, Message, MethodId},
};
use futures::StreamExt as _;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::BrowserError;

/// An event as it comes. The client's own type for this does not read the session's id.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Event {
    pub(crate) method: MethodId,
    #[serde(rename = "sessionId")]
    pub(crate) session: Option<String>,
    pub(crate) params: Value,
}

impl Method for Event {
    fn identifier(&self) -> MethodId {
        self.method.clone()
    }
}

impl EventMessage for Event {
    fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// A command, to the session of a page or to the browser.
#[derive(Debug)]
pub(crate) struct DevtoolsCommand {
    pub(crate) session: Option<String>,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// What is done with events. It runs within the connection's task, so it must not wait; the commands that it returns are sent
/// in order, and their answers only noted where they are errors.
pub(crate) trait Events: Send + 'static {
    fn on_event(&mut self, event: Event) -> Vec<DevtoolsCommand>;
    /// The connection has ended.
    fn on_end(&mut self);
}

type Answer = Result<Value, ProtocolError>;

/// Sends commands. Clones share the connection.
#[derive(Clone, Debug)]
pub(crate) struct DevTools {
    requests: mpsc::Sender<(DevtoolsCommand, oneshot::Sender<Answer>)>,
    limit: Duration,
}

impl DevTools {
    /// Connects to the address and starts the task that serves the connection; it ends with the connection.
    pub(crate) async fn connect(
        url: &str,
        limit: Duration,
        events: impl Events,
    ) -> Result<(Self, JoinHandle<()>), BrowserError> {
        let cannot = |reason: String| BrowserError::CannotAttach { url: url.to_owned(), reason };
        let connection = tokio::time::timeout(limit, Connection::<Event>::connect(url))
            .await
            .map_err(|_| cannot("no answer".into()))?
            .map_err(|error| cannot(error.to_string()))?;
        let (requests, queue) = mpsc::channel(256);
        let task = tokio::spawn(serve(connection, queue, events));
        Ok((Self { requests, limit }, task))
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.requests.is_closed()
    }

    /// Sends a command and waits for its answer, at most as long as a command may take.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<T, BrowserError> {
        self.call_within(self.limit, session, method, params).await
    }

    /// The same with a limit of its own.
    pub(crate) async fn call_within<T: DeserializeOwned>(
        &self,
        limit: Duration,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<T, BrowserError> {
        let gone = || BrowserError::Gone { during: method.to_owned() };
        let (sender, answer) = oneshot::channel();
        let command = DevtoolsCommand { session: session.map(str::to_owned), method, params };
        self.requests.send((command, sender)).await.map_err(|_| gone())?;
        let value = tokio::time::timeout(limit, answer)
            .await
            .map_err(|_| BrowserError::TimedOut { what: method.to_owned(), limit })?
            .map_err(|_| gone())?
            .map_err(|error| BrowserError::Refused { method: method.to_owned(), reason: error.message })?;
        serde_json::from_value(value)
            .map_err(|error| BrowserError::NotUnderstood { method: method.to_owned(), reason: error.to_string() })
    }
}

async fn serve(
    mut connection: Connection<Event>,
    mut queue: mpsc::Receiver<(DevtoolsCommand, oneshot::Sender<Answer>)>,
    mut events: impl Events,
) {
    let mut waiting: HashMap<CallId, oneshot::Sender<Answer>> = HashMap::new();
    loop {
        tokio::select! {
            request = queue.recv() => match request {
                // Every handle is gone.
                None => break,
                Some((command, answer)) => {
                    // A caller that stopped waiting leaves its place behind.
                    waiting.retain(|_, answer| !answer.is_closed());
                    if let Some(id) = submit(&mut connection, command) {
                        waiting.insert(id, answer);
                    }
                }
            },
            message = connection.next() => match message {
                None | Some(Err(CdpError::Ws(_) | CdpError::Io(_) | CdpError::UnexpectedWsMessage(_))) => break,
                Some(Err(error)) => tracing::debug!(%error, "a DevTools message is not understood"),
                Some(Ok(Message::Event(event))) => {
                    for command in events.on_event(event) {
                        submit(&mut connection, command);
                    }
                }
                Some(Ok(Message::Response(response))) => {
                    let answer = match response.error {
                        Some(error) => Err(error),
                        None => Ok(response.result.unwrap_or(Value::Null)),
                    };
                    match waiting.remove(&response.id) {
                        // Whoever asked may have stopped waiting.
                        Some(waiter) => drop(waiter.send(answer)),
                        None => if let Err(error) = answer { tracing::debug!(%error, "a DevTools command failed") },
                    }
                }
            },
        }
    }
    // Callers see the end of the queue before the tabs are marked as gone, never the other way round.
    queue.close();
    drop(waiting);
    events.on_end();
}

fn submit(connection: &mut Connection<Event>, command: DevtoolsCommand) -> Option<CallId> {
    let submitted =
        connection.submit_command(Cow::Borrowed(command.method), command.session.map(Into::into), command.params);
    submitted
        .inspect_err(|error| tracing::debug!(%error, method = command.method, "a DevTools command cannot be sent"))
        .ok()
}
