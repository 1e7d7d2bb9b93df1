//! `Idempotency-Key` on requests that are done outside of a journal: they make or delete sessions, or write files.

use axum::http::StatusCode;
use callboard_core::{entry::Actor, id::SessionId};
use callboard_engine::KeyedRequest;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{app::App, problem::Problem, write_options::WriteOptions};

/// One attempt at a request.
pub(crate) struct Attempt<I> {
    /// What the first attempt was to make, such as a session with this id. A repeat makes the same.
    pub(crate) intent: I,
    /// Whether the request was begun before. It may have been cut off half-way: what it was to make may exist, and what
    /// it was to delete may be gone.
    pub(crate) is_repeat: bool,
}

impl App {
    /// Does `work` and gives its answer. Under an idempotency key it is done once, and the answer is kept. Keys belong
    /// to `scope`: a session, or the server.
    pub(crate) async fn idempotent<I, W>(
        &self,
        by: Actor,
        options: &WriteOptions,
        scope: Option<&SessionId>,
        intent: I,
        work: impl FnOnce(Attempt<I>) -> W,
    ) -> Result<Value, Problem>
    where
        I: Serialize + DeserializeOwned,
        W: Future<Output = Result<Value, Problem>>,
    {
        let Some(request) = &options.request else { return work(Attempt { intent, is_repeat: false }).await };
        let _turn = self.turns.take((scope.cloned(), request.claim(&by))).await;
        let claim = match self.board.begin(by, request, scope, json!({ "meant": intent })).await? {
            KeyedRequest::Answered(answer) => return kept(answer),
            KeyedRequest::Begun(claim) => claim,
        };
        let first = claim.intent.get("meant").and_then(|intent| I::deserialize(intent).ok());
        let attempt = Attempt { intent: first.unwrap_or(intent), is_repeat: !claim.is_fresh };
        match work(attempt).await {
            Ok(answer) => kept(self.board.settle(&claim, json!({ "done": answer })).await?),
            Err(problem) if problem.code == EXISTS => {
                // Another session has the id. That is the answer from now on, even if that session goes.
                kept(self.board.settle(&claim, json!({ "exists": true })).await?)
            }
            Err(problem) => Err(problem),
        }
    }
}

const EXISTS: &str = "session_exists";

/// The answer that was kept for a request.
fn kept(mut answer: Value) -> Result<Value, Problem> {
    match answer.get_mut("done") {
        Some(done) => Ok(done.take()),
        None => Err(exists()),
    }
}

fn exists() -> Problem {
    Problem::new(StatusCode::CONFLICT, EXISTS, "there is a session with this id")
        .hint("take another id, or leave it out to get a new one")
}
