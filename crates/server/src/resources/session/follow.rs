//! `GET /v1/events`

use axum::response::{Response, sse::Event};
use callboard_api as api;
use callboard_engine::{SessionChange, SessionChanges, SessionInfo};
use futures::{StreamExt, stream};
use serde_json::json;

use super::whole;
use crate::{app::App, call_error::CallError, caller::AuthorizedOnServer, rights::ListSessions, server_sent};

/// Follow the list of sessions as server-sent events
///
/// `session.changed` has a session as `GET /v1/sessions` would list it now: it is new, or was changed or used.
/// `session.gone` has the `id` of one that was deleted or expired. After `sessions.changed` any session may be another, so
/// read the list again. Nothing is sent twice: open the stream, then read the list, also after a broken connection.
#[utoipa::path(get, path = "/v1/events", tag = "sessions",
    responses((status = OK, description = "An endless stream of changes", content_type = "text/event-stream", body = api::SessionEvent)))]
pub(super) async fn follow_sessions(server: AuthorizedOnServer<ListSessions>) -> Result<Response, CallError> {
    let app = server.app;
    let begun = (app.clone(), app.metrics.streams.open(), app.board.follow_sessions());
    let events = stream::unfold(begun, async |(app, open, mut changes)| {
        let next = next(&app, &mut changes).await?;
        Some((stream::iter(next), (app, open, changes)))
    });
    Ok(server_sent::events(&app, events.flatten()))
}

/// The next events; `None` at the end of the stream.
async fn next(app: &App, changes: &mut SessionChanges) -> Option<Vec<Event>> {
    match app.closing.run_until_cancelled(changes.next()).await? {
        Ok(changed) => Some(changed?.into_iter().map(|change| event(app, change)).collect()),
        Err(error) => {
            // The client comes back, reads the list, and then gets the error.
            tracing::info!(%error, "the stream of sessions ends");
            None
        }
    }
}

fn event(app: &App, change: SessionChange) -> Event {
    let event = Event::default();
    match change {
        SessionChange::Is(info) => server_sent::event(event, "session.changed", &whole(app, SessionInfo::clone(&info))),
        SessionChange::Gone(id) => server_sent::event(event, "session.gone", &json!({ "id": id })),
        SessionChange::Any => server_sent::event(event, "sessions.changed", &json!({})),
    }
}
