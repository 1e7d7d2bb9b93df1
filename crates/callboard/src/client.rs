//! Calls of the API: at a server, or on a store in this process. Calls and answers are the same, so that each command is
//! written once.

mod answer;
mod follow;
mod remote;
mod retry;
mod suggest;

use std::{fmt::Display, io};

use bytes::Bytes;
use callboard_engine::core::id::{AgentName, SessionId};
use callboard_mcp::escaped;
use callboard_server::{Local, Pieces};
use futures::{StreamExt as _, stream};
use http::{HeaderValue, Method, Request, Response, header};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use self::answer::Reply;
pub(crate) use self::answer::broken;
pub(crate) use self::{
    follow::{Follow, Followed},
    remote::Remote,
    retry::Retry,
};
use crate::{because::Because, failure::Failure, output::Output};

/// What answers calls.
pub(crate) enum Client {
    /// A store, in this process.
    Local(Local),
    /// A server.
    Remote(Remote),
}

/// Calls on one session.
pub(crate) struct OnSession<'a> {
    pub(crate) client: &'a Client,
    pub(crate) id: SessionId,
    /// Why it is this session.
    pub(crate) because: Because,
    /// As whom all calls are made that do not say it themselves.
    pub(crate) acting_as: Option<AgentName>,
}

/// A call that is being built.
pub(crate) struct Call<'a> {
    client: &'a Client,
    method: Method,
    /// The path, with the query so far.
    address: String,
    /// What it sends, if anything, and of what type that is.
    body: Option<(&'static str, Result<Pieces, serde_json::Error>)>,
    /// Why it concerns the session that it concerns.
    because: Because,
}

/// An answer: its JSON as received, and the parsed value.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    pub(crate) json: Box<RawValue>,
    pub(crate) it: T,
}

impl Client {
    /// A call on `path`, segment by segment.
    pub(crate) fn call(&self, method: Method, path: &[&str]) -> Call<'_> {
        let address = path.iter().map(|segment| format!("/{}", escaped(segment))).collect();
        Call { client: self, method, address, body: None, because: Because::Option }
    }

    /// Shuts down the store of this process in order. A server is not affected.
    pub(crate) async fn close(&self) {
        if let Self::Local(local) = self {
            local.close().await;
        }
    }

    /// Makes a call as it is, and gives the answer as it comes.
    pub(crate) async fn exchange(&self, request: Request<Pieces>) -> Result<Response<Pieces>, Failure> {
        match self {
            Self::Local(local) => Ok(local.call(request).await),
            Self::Remote(server) => server.send(request).await,
        }
    }
}

impl<T> Answer<T> {
    /// Prints it for programs as it came, or what `people` writes for people.
    pub(crate) fn print(&self, output: Output, people: impl FnOnce(&T, Output)) {
        output.answer(&self.json, |output| people(&self.it, output));
    }
}

impl<'a> OnSession<'a> {
    /// The session with this id, which the command line names or the command has made.
    pub(crate) fn named(client: &'a Client, id: SessionId, acting_as: Option<AgentName>) -> Self {
        Self { client, id, because: Because::Option, acting_as }
    }

    /// A call on `path` below the session.
    pub(crate) fn call(&self, method: Method, path: &[&str]) -> Call<'a> {
        let whole: Vec<&str> = ["v1", "sessions", self.id.as_str()].into_iter().chain(path.iter().copied()).collect();
        Call { because: self.because, ..self.client.call(method, &whole).maybe("as", self.acting_as.as_ref()) }
    }

    /// Deletes the session.
    pub(crate) async fn delete(&self) -> Result<(), Failure> {
        self.call(Method::DELETE, &[]).done().await
    }

    pub(crate) fn get(&self, path: &[&str]) -> Call<'a> {
        self.call(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &[&str], body: &impl Serialize) -> Call<'a> {
        self.call(Method::POST, path).json(body)
    }
}

impl<'a> Call<'a> {
    /// Adds a query parameter.
    pub(crate) fn query(mut self, name: &str, value: impl Display) -> Self {
        self.address.push(if self.address.contains('?') { '&' } else { '?' });
        self.address.push_str(name);
        self.address.push('=');
        self.address.push_str(&escaped(&value.to_string()));
        self
    }

    /// Adds a query parameter if there is a value.
    pub(crate) fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sends this as JSON.
    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(body).map(|bytes| once(bytes.into()));
        Self { body: Some(("application/json", bytes)), ..self }
    }

    /// Sends these JSON lines.
    pub(crate) fn lines(self, lines: Pieces) -> Self {
        Self { body: Some(("application/x-ndjson", Ok(lines))), ..self }
    }

    /// Makes the call and reads what comes back.
    pub(crate) async fn answer<T: DeserializeOwned>(self) -> Result<Answer<T>, Failure> {
        self.begin().await?.read().await
    }

    /// Makes the call and prints what comes back.
    pub(crate) async fn print<T: DeserializeOwned>(
        self,
        output: Output,
        people: impl FnOnce(&T, Output),
    ) -> Result<(), Failure> {
        self.answer::<T>().await?.print(output, people);
        Ok(())
    }

    /// Makes the call and reads the body of the answer as it is.
    pub(crate) async fn bytes(self) -> Result<Bytes, Failure> {
        self.begin().await?.all().await
    }

    /// Makes the call and ignores the body of the answer.
    pub(crate) async fn done(self) -> Result<(), Failure> {
        self.bytes().await.map(drop)
    }

    /// Makes the call and returns the answer as a stream.
    pub(crate) async fn pieces(self) -> Result<Pieces, Failure> {
        Ok(self.begin().await?.pieces())
    }

    /// Makes the call. A refusal is an error, which says what may have been meant.
    async fn begin(self) -> Result<Reply, Failure> {
        let (client, address) = (self.client, self.address.clone());
        match self.sent().await {
            Ok(reply) => Ok(reply),
            Err(failure) => Err(suggest::explained(client, &address, failure).await),
        }
    }

    /// Makes the call. A refusal is an error.
    async fn sent(self) -> Result<Reply, Failure> {
        let Self { client, method, address, body, because } = self;
        let (kind, pieces) = body.unzip();
        let pieces = pieces.unwrap_or_else(|| Ok(stream::empty().boxed()));
        let pieces =
            pieces.map_err(|error| Failure::failed("invalid", format!("cannot write the request as JSON: {error}")))?;
        let request = Request::builder().method(method).uri(address).body(pieces);
        let mut request =
            request.map_err(|error| Failure::failed("invalid", format!("cannot build the request: {error}")))?;
        request.headers_mut().extend(kind.map(|kind| (header::CONTENT_TYPE, HeaderValue::from_static(kind))));
        let server = match client {
            Client::Local(_) => None,
            Client::Remote(server) => Some(server.name().to_owned()),
        };
        Reply::of(client.exchange(request).await?, server).accepted(because).await
    }
}

fn once(bytes: Bytes) -> Pieces {
    stream::once(std::future::ready(Ok::<_, io::Error>(bytes))).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_kind_can_stand_in_an_address() {
        assert_eq!(escaped("Process Steps"), "Process%20Steps");
        assert_eq!(escaped("agent:a/b?c#d&e%"), "agent%3Aa%2Fb%3Fc%23d%26e%25");
        assert_eq!(escaped("\u{fc}"), "%C3%BC");
    }
}
