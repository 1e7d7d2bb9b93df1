//! Keyed requests that make or delete sessions.

use callboard_core::{entry::Actor, id::SessionId};
use callboard_engine::Once;
use serde_json::{Value, json};

use axum::http::StatusCode;

use crate::{app::App, problem::Problem, terms::Terms};

/// What is to be done, and whether it may have been done before.
pub(crate) struct Task {
    /// The session that is made or deleted.
    pub(crate) id: SessionId,
    /// Whether the same request was begun before: then a session that is there is the one it made, and one that is
    /// missing is the one it deleted.
    pub(crate) again: bool,
}

impl App {
    /// Does a request that makes or deletes the session `id` (without one, a new one), once where it carries a key; and
    /// gives the answer.
    pub(crate) async fn once<W>(
        &self,
        by: Actor,
        terms: &Terms,
        id: Option<SessionId>,
        work: impl FnOnce(Task) -> W,
    ) -> Result<Value, Problem>
    where
        W: Future<Output = Result<Value, Problem>>,
    {
        let id = id.unwrap_or_else(|| self.board.new_id());
        let Some(request) = &terms.request else { return work(Task { id, again: false }).await };
        let _turn = self.turns.acquire().await.map_err(|_| Problem::closing())?;
        let intent = json!({ "id": id });
        let claim = match self.board.begin(by, request, intent).await? {
            Once::Answered(answer) => return given(answer),
            Once::Begun(claim) => claim,
        };
        let meant = claim.intent.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let task = Task { id: meant.unwrap_or(id), again: !claim.is_fresh };
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
pub(crate) fn exists() -> Problem {
    Problem::new(StatusCode::CONFLICT, EXISTS, "there is a session with this id")
        .hint("take another id, or leave it out to get a new one")
}
