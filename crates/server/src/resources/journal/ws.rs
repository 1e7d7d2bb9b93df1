//! `GET /v1/sessions/{session}/ws`

use std::time::Duration;

use axum::{
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    response::Response,
};
use callboard_api::FollowQuery;
use callboard_core::json::text_of;
use serde_json::json;

use crate::{
    call_error::CallError,
    caller::Authorized,
    feed::{Feed, FeedItem},
    params::Query,
    rights::ReadJournal,
};

/// Follows the journal over a WebSocket: one entry per frame, as JSON. Pieces of a model's answer have the type
/// `turn.delta` and no `seq`. OpenAPI cannot describe WebSockets, so the description of the whole document does.
pub(crate) async fn ws(
    caller: Authorized<ReadJournal>,
    Query(query): Query<FollowQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, CallError> {
    let upgrade = upgrade.map_err(|error| {
        CallError::new("no_websocket", error.to_string()).hint("open it as a WebSocket, or use `…/events`")
    })?;
    let feed = Feed::open(caller, query, None).await?;
    Ok(upgrade.max_message_size(64 << 10).on_upgrade(move |socket| talk(feed, socket)))
}

/// Sends entries until the stream or the connection ends. Messages of the client are ignored.
async fn talk(mut feed: Feed, mut socket: WebSocket) {
    let keep_alive = feed.caller.app.settings.limits.keep_alive;
    let closing = feed.caller.app.closing.clone();
    loop {
        let message = tokio::select! {
            item = feed.next() => match item {
                Some(item) => Message::Text(frame(&item)),
                None => return close(&mut socket, closing.is_cancelled()).await,
            },
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = tokio::time::sleep(keep_alive) => Message::Ping(bytes::Bytes::new()),
        };
        let sent = tokio::select! {
            sent = socket.send(message) => sent.is_ok(),
            () = closing.cancelled() => false,
        };
        if !sent {
            return;
        }
    }
}

fn frame(item: &FeedItem) -> Utf8Bytes {
    let text = match item {
        FeedItem::Entry(entry) => text_of(entry),
        FeedItem::Heard { kind, data } => json!({ "type": kind, "data": data }).to_string(),
    };
    text.into()
}

async fn close(socket: &mut WebSocket, is_closing: bool) {
    let (code, reason) = if is_closing {
        (1001, "the server is shutting down")
    } else {
        (1000, "the session or the right to read it has ended")
    };
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    // A client that is gone needs no close frame.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
}
