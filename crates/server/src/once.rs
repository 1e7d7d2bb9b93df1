//! Keyed requests that are done outside of a journal: they make or delete sessions, or write files.

use callboard_core::{entry::Actor, id::SessionId};
use callboard_engine::Once;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use axum::http::StatusCode;

use crate::{app::App, problem::Problem, terms::Terms};

/// What is to be done, and whether it may have been done before.
pub(crate) struct Task<M> {
    /// What was meant when the request was first begun, such as the id of the session that it makes.
    pub(crate) meant: M,
    /// Whether the same request was begun before: then what is there may be what it made, and what is missing what it
    /// deleted.
    pub(crate) again: bool,
}

impl App {
    /// Does a request, once where it carries a key, and gives the answer. Its key is one of those of `scope`, the session
    /// that it works on where it has one.
    pub(crate) async fn once<M, W>(
        &self,
        by: Actor,
        terms: &Terms,
        scope: Option<&SessionId>,
        meant: M,
        work: impl FnOnce(Task<M>) -> W,
    ) -> Result<Value, Problem>
    where
        M: Serialize + DeserializeOwned,
        W: Future<Output = Result<Value, Problem>>,
    {
        let Some(request) = &terms.request else { return work(Task { meant, again: false }).await };
        let _turn = self.turns.acquire().await.map_err(|_| Problem::closing())?;
        let claim = match self.board.begin(by, request, scope, json!({ "meant": meant })).await? {
            Once::Answered(answer) => return given(answer),
            Once::Begun(claim) => claim,
        };
        let first = claim.intent.get("meant").and_then(|meant| M::deserialize(meant).ok());
        let task = Task { meant: first.unwrap_or(meant), again: !claim.is_fresh };
        match work(task).await {
            Ok(answer) => given(self.board.settle(&claim, json!({ "done": answer })).await?),
            Err(problem) if problem.code == EXISTS => {
                // Somebody else's session has the id: this is the answer from now on, whatever becomes of that one.
                given(self.board.settle(&claim, json!({ "exists": true })).await?)
            }
            Err(problem) => Err(problem),
        }
    }
}

const EXISTS: &str = "session_exists";

fn given(mut answer: Value) -> Result<Value, Problem> {
    match answer.get_mut("done") {
        Some(done) => Ok(done.take()),
        None => Err(exists()),
    }
}

/// That an id is in use.
fn exists() -> Problem {
    Problem::new(StatusCode::CONFLICT, EXISTS, "there is a session with this id")
        .hint("take another id, or leave it out to get a new one")
}
