//! `GET /v1/sessions/{session}/events`

use std::convert::Infallible;

use axum::{
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use callboard_api::{self as api, FollowQuery, whole};
use callboard_core::id::{Seq, SessionId};
use futures::stream;

use crate::{
    call_error::CallError,
    caller::Authorized,
    feed::Item,
    params::{InPath, Query},
    rights::ReadJournal,
};

/// Follow the journal as server-sent events
///
/// In each event `id` is the number of an entry, `event` its type, and `data` the entry as JSON. After a broken
/// connection, continue with `Last-Event-ID`. Some events have no `id`, since they are not stored: the user and the manager
/// get `turn.delta`, pieces of a model's answer as they arrive; who may see the browser gets `browser.changed`, its tabs after
/// each change, and `browser.noticed`, such as a dialog that a page opened.
#[utoipa::path(get, path = "/v1/sessions/{session}/events", tag = "journal", operation_id = "follow_journal",
    params(InPath<SessionId>, FollowQuery, ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last entry that the client has; it takes precedence over `after`")),
    responses((status = OK, description = "An endless stream: each new entry as an event", content_type = "text/event-stream", body = api::Event)))]
pub(crate) async fn events(
    caller: Authorized<ReadJournal>,
    Query(query): Query<FollowQuery>,
    headers: HeaderMap,
) -> Result<Response, CallError> {
    let feed = caller.follow_journal(query, last(&headers)?).await?;
    let keep_alive = KeepAlive::new().interval(feed.app().settings.limits.keep_alive);
    let events = stream::unfold(feed, async |mut feed| {
        let item = feed.next().await?;
        Some((event(&item), feed))
    });
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let unbuffered = axum::http::HeaderValue::from_static("no");
    response.headers_mut().insert("x-accel-buffering", unbuffered);
    Ok(response)
}

/// The last entry that a caller has who comes back.
fn last(headers: &HeaderMap) -> Result<Option<Seq>, CallError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| whole(text.trim()));
    let wrong = || CallError::new("bad_last_event_id", "Last-Event-ID is the number of an entry");
    number.map(|seq| Some(Seq(seq))).ok_or_else(wrong)
}

fn event(item: &Item) -> Result<Event, Infallible> {
    let event = match item {
        Item::Entry(entry) => Event::default().id(entry.seq.to_string()).event(&*entry.kind).json_data(entry),
        Item::Heard { kind, data } => Event::default().event(kind).json_data(data),
    };
    // What comes from a journal has a form in JSON; a comment stands for what had none.
    Ok(event.unwrap_or_else(|error| Event::default().comment(error.to_string())))
}
