//! What comes back of a call: an answer, or why there is none.

use bytes::{Bytes, BytesMut};
use callboard_server::Pieces;
use futures::StreamExt as _;
use http::{Response, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::Answer;
use crate::failure::{Failure, Problem};

/// What came back, before it is read.
pub(super) struct Reply {
    status: StatusCode,
    kind: String,
    pieces: Pieces,
    /// Which server it came from; nothing where it is this process.
    server: Option<String>,
}

impl Reply {
    pub(super) fn of(response: Response<Pieces>) -> Self {
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Self { status: response.status(), kind, pieces: response.into_body(), server: None }
    }

    /// The same, from this server.
    pub(super) fn from(self, server: &str) -> Self {
        Self { server: Some(server.to_owned()), ..self }
    }

    /// The same, where the call was done. Where it was refused, why.
    pub(super) async fn accepted(self) -> Result<Self, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        let (status, server, is_problem) = (self.status, self.server.clone(), self.kind == "application/problem+json");
        let no_callboard = self.no_callboard();
        let body = self.all().await?;
        let problem = is_problem.then(|| serde_json::from_slice::<Problem>(&body).ok()).flatten();
        Err(match problem {
            Some(problem) => refused(problem, status, server.is_some()),
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
            Failure::failed("not_understood", format!("the answer is not understood: {error}"))
                .hint("the server may be of another version: compare `callboard --version` and `callboard doctor`")
        })?;
        Ok(Answer { json, it })
    }

    /// All that comes.
    pub(super) async fn all(mut self) -> Result<Bytes, Failure> {
        let mut all = BytesMut::new();
        while let Some(piece) = self.pieces.next().await {
            all.extend_from_slice(&piece.map_err(|error| broken(&error))?);
        }
        Ok(all.freeze())
    }

    pub(super) fn pieces(self) -> Pieces {
        self.pieces
    }

    /// Whether it is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        self.kind == "text/event-stream"
    }

    /// That whoever answered is no Callboard.
    pub(super) fn no_callboard(&self) -> Failure {
        let who = self.server.as_deref().unwrap_or("this process");
        let kind = if self.kind.is_empty() { "nothing that is named" } else { &self.kind };
        let detail = format!("{who} is no Callboard: it answers with {} and {kind}", self.status);
        Failure::failed("no_callboard", detail).hint("look whether --url, or CALLBOARD_URL, is right")
    }
}

/// The code for an answer that did not come whole.
pub(super) const BROKEN_OFF: &str = "broken_off";

/// That an answer did not come whole.
pub(crate) fn broken(error: &std::io::Error) -> Failure {
    Failure::failed(BROKEN_OFF, format!("the answer broke off: {error}"))
}

/// Why a call was refused, with what would do on the command line.
fn refused(problem: Problem, status: StatusCode, by_server: bool) -> Failure {
    let is_session = status == StatusCode::NOT_FOUND && problem.detail.starts_with("there is no session ");
    let failure = Failure { problem: Box::new(problem), is_wrong_use: false };
    if is_session && failure.problem.hint.is_none() {
        return failure.hint("`callboard session list` shows those there are");
    }
    if by_server && status == StatusCode::UNAUTHORIZED {
        return failure.hint("put a token of this server or session into CALLBOARD_TOKEN, or name a --token-file");
    }
    if failure.problem.code == "busy" {
        return failure.hint("try again");
    }
    failure
}
