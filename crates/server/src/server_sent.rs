//! Server-sent events.

use std::convert::Infallible;

use axum::{
    http::HeaderValue,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::{Stream, StreamExt};
use serde::Serialize;

use crate::app::App;

/// The answer that sends `events` as they come, with a comment whenever nothing came for a while.
pub(crate) fn events(app: &App, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let keep_alive = KeepAlive::new().interval(app.settings.limits.keep_alive);
    let mut response = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive).into_response();
    // Proxies pass each event on at once.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// An event with data as JSON. A comment stands for data that has no form in JSON.
pub(crate) fn event(event: Event, kind: &str, data: &impl Serialize) -> Event {
    event.event(kind).json_data(data).unwrap_or_else(|error| Event::default().comment(error.to_string()))
}
