//! `GET /v1/sessions/{session}/threads/{thread}/messages`

use axum::response::{IntoResponse, Response};
use callboard_core::{id::ThreadId, time::Timestamp};
use callboard_engine::{MessageQuery, MessageView};
use futures::stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    answer::{Answer, streamed},
    caller::On,
    cursor,
    params::{Name, Query, number, roles, time},
    problem::Problem,
    rights::ReadMessages,
    shape,
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// The most recent ones, at most so many; all where it is left out.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    limit: Option<usize>,
    /// Only those with an earlier time.
    #[serde(default, deserialize_with = "time")]
    #[param(value_type = Option<shape::message::TimeShape>)]
    before: Option<Timestamp>,
    /// Only those with a later time.
    #[serde(default, deserialize_with = "time")]
    #[param(value_type = Option<shape::message::TimeShape>)]
    after: Option<Timestamp>,
    /// Only those in these roles, with commas between them.
    #[param(value_type = Option<shape::text::Roles>)]
    roles: Option<String>,
    /// The `next_cursor` of the page before, which was of more recent ones.
    #[param(pattern = "^(2d)?(3[0-9]){1,15}2f(3[0-9]){1,19}$")]
    cursor: Option<String>,
}

/// Messages, the oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageList {
    #[schema(value_type = Vec<shape::message::MessageShape>)]
    messages: Vec<MessageView>,
    /// Where older ones are, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List the messages of a thread by their time
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "list_messages",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread"), ListQuery),
    responses((status = OK, description = "The messages, the oldest first", body = MessageList)))]
pub(crate) async fn list(
    on: On<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Query(query): Query<ListQuery>,
) -> Result<Response, Problem> {
    let cursor = query.cursor.as_deref().map(cursor::place).transpose()?;
    let ListQuery { limit, before, after, .. } = query;
    let wanted = MessageQuery { limit, before, after, roles: roles(query.roles.as_deref())?, cursor };
    if limit.is_some() || cursor.is_some() {
        let page = on.session.messages(&on.viewer(), &thread, wanted).await?;
        let list = MessageList { messages: page.messages, next_cursor: page.next.map(cursor::of_place) };
        return Ok(Answer::ok(list).into_response());
    }
    all(on, thread, wanted).await
}

/// All messages, given as they are read.
async fn all(on: On<ReadMessages>, thread: ThreadId, wanted: MessageQuery) -> Result<Response, Problem> {
    let head = on.session.state().await?.head.seq;
    // A thread that is not there, or is hidden, is refused before anything is given.
    let none = MessageQuery { limit: Some(0), ..MessageQuery::default() };
    on.session.messages(&on.viewer(), &thread, none).await?;
    let pages = stream::try_unfold(Some(None), move |place| {
        let (session, viewer, thread, wanted) = (on.session.clone(), on.viewer(), thread.clone(), wanted.clone());
        async move {
            let Some(from) = place else { return Ok(None) };
            let (page, next) = session.messages_on(&viewer, &thread, &wanted, from, head).await?;
            Ok::<_, Problem>(Some((page, next.map(Some))))
        }
    });
    Ok(streamed("messages", pages, String::new()))
}
