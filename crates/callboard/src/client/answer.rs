//! The reply to a call: an answer, or why the call was refused.

use bytes::{Bytes, BytesMut};
use callboard_server::Pieces;
use futures::TryStreamExt as _;
use http::{Response, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::Answer;
use crate::{
    because::Because,
    failure::{Failure, Problem},
};

/// A reply whose body has not been read.
pub(super) struct Reply {
    status: StatusCode,
    kind: String,
    pieces: Pieces,
    /// The server that it came from; `None` for a store in this process.
    server: Option<String>,
}

impl Reply {
    pub(super) fn of(response: Response<Pieces>, server: Option<String>) -> Self {
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Self { status: response.status(), kind, pieces: response.into_body(), server }
    }

    /// Itself if the call succeeded, else the reason for the refusal.
    pub(super) async fn accepted(self, because: Because) -> Result<Self, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        let (status, server, is_problem) = (self.status, self.server.clone(), self.kind == "application/problem+json");
        let no_callboard = self.no_callboard();
        let body = self.all().await?;
        let problem = is_problem.then(|| serde_json::from_slice::<Problem>(&body).ok()).flatten();
        Err(match problem {
            Some(problem) => refused(problem, status, server.is_some(), because),
            None => no_callboard,
        })
    }

    /// Reads it as JSON.
    pub(super) async fn read<T: DeserializeOwned>(self) -> Result<Answer<T>, Failure> {
        let no_callboard = self.no_callboard();
        if self.kind != "application/json" {
            return Err(no_callboard);
        }
        let body = self.all().await?;
        let json: Box<RawValue> = serde_json::from_slice(&body).map_err(|_| no_callboard)?;
        let it = serde_json::from_str(json.get()).map_err(|error| {
            Failure::failed("not_understood", format!("cannot read the answer: {error}"))
                .hint("the server may have another version: compare `callboard --version` and `callboard doctor`")
        })?;
        Ok(Answer { json, it })
    }

    /// Reads the whole body.
    pub(super) async fn all(self) -> Result<Bytes, Failure> {
        let all = self.pieces.try_collect::<BytesMut>().await.map_err(|error| broken(&error))?;
        Ok(all.freeze())
    }

    pub(super) fn pieces(self) -> Pieces {
        self.pieces
    }

    /// Whether it is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        self.kind == "text/event-stream"
    }

    /// The failure for an answer that does not come from Callboard.
    pub(super) fn no_callboard(&self) -> Failure {
        let who = self.server.as_deref().unwrap_or("this process");
        let kind = if self.kind.is_empty() { "no content type" } else { &self.kind };
        let detail = format!("{who} is not a Callboard server: it answers with {} and {kind}", self.status);
        Failure::failed("no_callboard", detail).hint("check --url or CALLBOARD_URL")
    }
}

/// The error code of an incomplete answer.
pub(super) const BROKEN_OFF: &str = "broken_off";

/// The failure for an incomplete answer.
pub(crate) fn broken(error: &std::io::Error) -> Failure {
    Failure::failed(BROKEN_OFF, format!("the connection broke in the middle of the answer: {error}"))
}

/// Why a call was refused, with a hint for the command line.
fn refused(problem: Problem, status: StatusCode, by_server: bool, because: Because) -> Failure {
    let resource = problem.resource.clone().filter(|_| status == StatusCode::NOT_FOUND);
    let mut failure = Failure { problem: Box::new(problem), is_wrong_use: false };
    if resource.as_deref() == Some("session") || status == StatusCode::GONE {
        failure.problem.hint.get_or_insert_with(|| "`callboard session list` lists the sessions".to_owned());
        return because.explain(failure);
    }
    match resource.as_deref() {
        // A server names the call that lists them.
        Some("thread") => failure.hint("`callboard thread list` lists the threads"),
        Some("agent") => failure.hint("`callboard session show` lists the agents"),
        Some("form") => failure.hint("`callboard form list` lists the forms"),
        Some("context_set") => failure.hint("`callboard set list` lists the context sets"),
        _ if by_server && status == StatusCode::UNAUTHORIZED => {
            failure.hint("set CALLBOARD_TOKEN to a token of this server or session, or use --token-file FILE")
        }
        _ if failure.problem.code == "busy" => failure.hint("try again"),
        _ => failure,
    }
}
