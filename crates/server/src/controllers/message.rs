//! Messages of threads.

use axum::response::{IntoResponse, Response};
use callboard_core::{
    conversation::{MessageReceipt, NewMessage},
    id::{Seq, ThreadId},
    time::Timestamp,
};
use callboard_engine::{MessageJson, MessageQuery};
use futures::stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    body::RequestBody,
    caller::{Authorized, AuthorizedToAdd},
    cursor,
    params::{Name, Query, number, roles, time},
    problem::Problem,
    rights::{AddMessages, ReadMessages},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add))
}

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
    messages: Vec<MessageJson>,
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
async fn list(
    caller: Authorized<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Query(query): Query<ListQuery>,
) -> Result<Response, Problem> {
    let cursor = query.cursor.as_deref().map(cursor::place).transpose()?;
    let ListQuery { limit, before, after, .. } = query;
    let wanted = MessageQuery { limit, before, after, roles: roles(query.roles.as_deref())?, cursor };
    if limit.is_some() || cursor.is_some() || caller.session.is_short(&thread)? {
        let page = caller.session.messages_as_json(&caller.viewer(), &thread, wanted).await?;
        let list = MessageList { messages: page.messages, next_cursor: page.next.map(cursor::of_place) };
        return Ok(Answer::ok(list).into_response());
    }
    all(caller, thread, wanted).await
}

/// All messages, given as they are read.
async fn all(caller: Authorized<ReadMessages>, thread: ThreadId, wanted: MessageQuery) -> Result<Response, Problem> {
    let head = caller.session.state().await?.head.seq;
    // A thread that is not there, or is hidden, is refused before anything is given.
    let none = MessageQuery { limit: Some(0), ..MessageQuery::default() };
    caller.session.messages(&caller.viewer(), &thread, none).await?;
    let pages = stream::try_unfold(Some(None), move |place| {
        let (session, viewer, thread, wanted) =
            (caller.session.clone(), caller.viewer(), thread.clone(), wanted.clone());
        async move {
            let Some(from) = place else { return Ok(None) };
            let (page, next) = session.messages_on(&viewer, &thread, &wanted, from, head).await?;
            Ok::<_, Problem>(Some((page, next.map(Some))))
        }
    });
    Ok(streamed("messages", pages, String::new()))
}

/// Messages that are to be added.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessages {
    messages: Vec<NewMessage>,
}

/// Where the messages are.
#[derive(Serialize, ToSchema)]
pub(crate) struct Added {
    #[schema(value_type = Vec<AddedMessage>)]
    messages: Vec<MessageReceipt>,
    #[schema(value_type = u64)]
    head: Seq,
}

/// Where a message is.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct AddedMessage {
    message_id: String,
    seq: u64,
}

/// Add messages, all or none. One that was added before, under the same id and with the same content, is not added again
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "add_messages",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    request_body = shape::message::NewMessagesShape,
    responses((status = OK, description = "Where they are", body = Added)))]
async fn add(
    caller: AuthorizedToAdd<AddMessages>,
    Name(thread): Name<ThreadId>,
    request: RequestBody<NewMessages>,
) -> Result<Answer<Added>, Problem> {
    let add = callboard_core::conversation::AddMessages { thread, messages: request.body.messages };
    let receipt = caller.execute(request.options, add).await?;
    Ok(Answer::ok(Added { messages: receipt.answer, head: receipt.head }).at(receipt.head))
}
