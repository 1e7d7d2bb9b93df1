//! Idempotency keys of calls whose work is outside of a journal: they create or delete sessions, or write files.

use callboard_core::{entry::Actor, error::ConflictKind, id::SessionId};
use callboard_engine::KeyedRequest;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{app::App, call_error::CallError, write_options::WriteOptions};

/// One attempt at a request.
pub(crate) struct Attempt<I> {
    /// What the first attempt was to create, such as a session with this id. A repeat creates the same.
    pub(crate) intent: I,
    /// Whether the request was begun before. It may have been cut off half-way: what it was to create may exist, and what
    /// it was to delete may be gone.
    pub(crate) is_repeat: bool,
}

impl App {
    /// Does `work` and gives its answer. Under an idempotency key it is done once, and the answer is kept. Keys belong
    /// to `scope`: a session, or the server.
    pub(crate) async fn idempotent<T, I, W>(
        &self,
        by: Actor,
        options: &WriteOptions,
        scope: Option<&SessionId>,
        intent: I,
        work: impl FnOnce(Attempt<I>) -> W,
    ) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned,
        I: Serialize + DeserializeOwned,
        W: Future<Output = Result<T, CallError>>,
    {
        let Some(request) = &options.request else { return work(Attempt { intent, is_repeat: false }).await };
        let _guard = self.locks.take((scope.cloned(), request.claim(&by))).await;
        let claim = match self.board.begin(by, request, scope, json!({ "meant": intent })).await? {
            KeyedRequest::Answered(answer) => return kept(answer),
            KeyedRequest::Begun(claim) => claim,
        };
        let first = claim.intent().get("meant").and_then(|intent| I::deserialize(intent).ok());
        let attempt = Attempt { intent: first.unwrap_or(intent), is_repeat: !claim.is_fresh };
        match work(attempt).await {
            Ok(answer) => kept(self.board.settle(&claim, json!({ "done": answer })).await?),
            Err(error) if error.code == ConflictKind::SessionExists.code() => {
                // Another session has the id. That is the answer from now on, even if that session goes.
                kept(self.board.settle(&claim, json!({ "exists": true })).await?)
            }
            Err(error) => Err(error),
        }
    }
}

/// The answer that was kept for a request.
fn kept<T: DeserializeOwned>(mut answer: Value) -> Result<T, CallError> {
    let done = answer.get_mut("done").map(Value::take).ok_or_else(exists)?;
    serde_json::from_value(done).map_err(|error| {
        CallError::new("internal", format!("the answer that was kept for this request cannot be read: {error}"))
    })
}

fn exists() -> CallError {
    CallError::new(ConflictKind::SessionExists.code(), "there is a session with this id")
        .hint("use another id, or leave it out to get a new one")
}
