//! Requests under an idempotency key: for a day it is known which turn answered each, and its answer is given again. What the
//! model said is in the session's journal alone.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use callboard_core::{
    conversation::{MessageReceipt, facts::MessageAdded},
    entry::{Actor, Head},
    event, fact,
    id::Seq,
    viewer::Viewer,
};
use callboard_engine::{Claim, Error, KeyedRequest, Session};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::OwnedMutexGuard};

use super::{
    again::Again,
    dialect::{Asked, Complaint, Dialect},
};
use crate::{app::App, call_error::CallError, write_options::WriteOptions};

/// What a record says of the server that answers the request: its name.
const ASKER: &str = "asker";

/// How far a request has come.
pub(super) enum Begun {
    /// It has to be answered; under its key, if it has one.
    Open(Option<Keyed>),
    /// It was answered with this.
    Answered(Response),
}

/// A request under a key that is being answered.
pub(super) struct Keyed {
    app: App,
    session: Session,
    /// `None` once it is answered.
    claim: Option<Claim>,
    _open: OwnedMutexGuard<()>,
}

/// What is kept of an answer: where it is.
#[derive(Serialize, Deserialize)]
struct Kept {
    turn: Seq,
    /// The entries of the messages that it became. Their tags tell them from those of a later session with the same id.
    messages: Vec<Head>,
    /// Whether it ends at the length that it may have.
    cut_off: bool,
}

/// Begins a request. What began before and has no answer, because the provider or Callboard failed, begins again.
pub(super) async fn begin(
    app: &App,
    session: &Session,
    by: Actor,
    options: &WriteOptions,
    (dialect, asked): (Dialect, &Asked),
) -> Result<Begun, Complaint> {
    let Some(request) = &options.request else { return Ok(Begun::Open(None)) };
    let still_open = || {
        let told = "the request with this Idempotency-Key is still being answered: send it again later";
        Complaint::new(StatusCode::CONFLICT, told)
    };
    let key = (Some(session.id().clone()), format!("answer to {}", request.claim(&by)));
    let open = app.locks.try_take(key).ok_or_else(still_open)?;
    let intent = json!({ ASKER: **app.asking.name() });
    let begun = loop {
        let claim = match app.board.begin(by.clone(), request, Some(session.id()), intent.clone()).await? {
            KeyedRequest::Begun(claim) if !claim.is_fresh => claim,
            begun => break begun,
        };
        // Another server answers it, unless it failed there, or that server is gone.
        if let Some(asker) = claim.intent().get(ASKER).and_then(Value::as_str)
            && app.asking.is_another(asker).await?
        {
            return Err(still_open());
        }
        if let Some(claim) = app.board.begin_anew(claim, intent.clone()).await? {
            break KeyedRequest::Begun(claim);
        }
    };
    Ok(match begun {
        KeyedRequest::Answered(kept) => {
            let again = again(session, by, kept, asked).await?;
            let (media_type, body) = match asked.is_stream {
                true => ("text/event-stream", again.stream(dialect, asked.wants_usage)),
                false => ("application/json", again.whole(dialect).to_string()),
            };
            Begun::Answered(([(header::CONTENT_TYPE, media_type)], body).into_response())
        }
        KeyedRequest::Begun(claim) => {
            Begun::Open(Some(Keyed { app: app.clone(), session: session.clone(), claim: Some(claim), _open: open }))
        }
    })
}

impl Keyed {
    /// Keeps which turn answered the request, and which messages its answer became.
    pub(super) async fn settle(mut self, turn: Seq, messages: &[MessageReceipt], cut_off: bool) {
        let Some(claim) = self.claim.take() else { return };
        let settled = async {
            let mut heads = Vec::new();
            for message in messages {
                heads.extend(self.session.entry(message.seq).await?.map(|entry| entry.head()));
            }
            let kept = Kept { turn, messages: heads, cut_off };
            self.app.board.settle(&claim, json!(kept)).await?;
            Ok::<_, Error>(())
        };
        if let Err(error) = settled.await {
            tracing::warn!(%error, "it could not be kept which turn answered the request of an idempotency key");
        }
    }
}

impl Drop for Keyed {
    /// What has no answer can be asked again at any server.
    fn drop(&mut self) {
        let (Some(claim), Ok(runtime)) = (self.claim.take(), Handle::try_current()) else { return };
        let board = self.app.board.clone();
        runtime.spawn(async move {
            if let Err(error) = board.begin_anew(claim, Value::Null).await {
                tracing::warn!(%error, "it could not be noted that the request of an idempotency key has no answer");
            }
        });
    }
}

/// The answer that was given, as `by` may see it now. One of which something was erased is not given.
async fn again(session: &Session, by: Actor, kept: Value, asked: &Asked) -> Result<Again, Complaint> {
    let Kept { turn, messages: heads, cut_off } = serde_json::from_value(kept).map_err(|error| {
        CallError::new("internal", format!("what was kept of the answer to this request cannot be read: {error}"))
    })?;
    let viewer: Viewer = by.into();
    let mut messages = Vec::new();
    for head in heads {
        let entry = session.entry(head.seq).await?;
        let entry = entry.filter(|entry| entry.head() == head && !event::is_erased(entry)).ok_or_else(gone)?;
        let MessageAdded(message) = fact::read(&entry)?;
        messages.push(session.message(&viewer, &message.thread_id, &message.message_id).await?);
    }
    let created = messages.first().ok_or_else(gone)?.timestamp.as_millis().div_euclid(1000);
    let usage = session.turn(&viewer, turn).await?.usage;
    let (model, offered) = (asked.model.clone(), asked.offered().cloned().collect());
    Ok(Again { turn, model, offered, created, messages, usage, cut_off })
}

fn gone() -> Complaint {
    Complaint::erased("the answer to the request with this Idempotency-Key was erased: ask again under another key")
}
