//! `GET /v1/sessions/{session}/events`

use axum::{
    http::HeaderMap,
    response::{Response, sse::Event},
};
use callboard_api::{self as api, FollowQuery, whole};
use callboard_core::id::Seq;
use futures::stream;

use crate::{
    call_error::CallError,
    caller::Authorized,
    feed::{Feed, FeedItem},
    params::Query,
    rights::ReadJournal,
    server_sent,
};

/// Follow the journal as server-sent events
///
/// In each event `id` is the number of an entry, `event` its type, and `data` the entry as JSON. After a broken
/// connection, continue with `Last-Event-ID`. Some events have no `id`, since they are not stored: the user and the manager
/// get `turn.delta`, pieces of a model's answer as they arrive; who may see the browser gets `browser.changed`, its tabs after
/// each change, and `browser.noticed`, such as a dialog that a page opened; an agent gets `entries.changed` where words in
/// entries that it sees were erased, hidden or restored.
#[utoipa::path(get, path = "/v1/sessions/{session}/events", tag = "journal",
    params(FollowQuery, ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last entry that the client has; it takes precedence over `after`")),
    responses((status = OK, description = "An endless stream: each new entry as an event", content_type = "text/event-stream", body = api::Event)))]
pub(crate) async fn follow_journal(
    caller: Authorized<ReadJournal>,
    Query(query): Query<FollowQuery>,
    headers: HeaderMap,
) -> Result<Response, CallError> {
    let app = caller.app.clone();
    let feed = Feed::open(caller, query, last(&headers)?).await?;
    let events = stream::unfold(feed, async |mut feed| {
        let item = feed.next().await?;
        Some((event(&item), feed))
    });
    Ok(server_sent::events(&app, events))
}

/// The last entry that a caller has who comes back.
fn last(headers: &HeaderMap) -> Result<Option<Seq>, CallError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| whole(text.trim()));
    let wrong = || CallError::new("bad_last_event_id", "Last-Event-ID is the number of an entry");
    number.map(|seq| Some(Seq(seq))).ok_or_else(wrong)
}

fn event(item: &FeedItem) -> Event {
    match item {
        FeedItem::Entry(entry) => server_sent::event(Event::default().id(entry.seq.to_string()), &entry.kind, entry),
        FeedItem::Heard { kind, data } => server_sent::event(Event::default(), kind, data),
    }
}
