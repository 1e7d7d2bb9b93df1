//! Messages of threads.

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use callboard_core::{conversation, id::ThreadId};
use callboard_engine::{MessageJson, MessageQuery};
use futures::stream;
use serde::Serialize;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    body::RequestBody,
    caller::{Authorized, AuthorizedToAdd},
    cursor,
    params::{Name, Query, roles},
    problem::Problem,
    rights::{AddMessages, ReadMessages},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add))
}

/// List the messages of a thread by their time
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "list_messages",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread"), api::MessagesQuery),
    responses((status = OK, description = "The messages, the oldest first", body = api::MessageList)))]
async fn list(
    caller: Authorized<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Query(query): Query<api::MessagesQuery>,
) -> Result<Response, Problem> {
    let cursor = query.cursor.as_deref().map(cursor::place).transpose()?;
    let api::MessagesQuery { limit, before, after, .. } = query;
    let wanted = MessageQuery { limit, before, after, roles: roles(query.roles.as_deref())?, cursor };
    if limit.is_some() || cursor.is_some() || caller.session.is_short(&thread)? {
        let page = caller.session.messages_as_json(&caller.viewer(), &thread, wanted).await?;
        let list = Page { messages: page.messages, next_cursor: page.next.map(cursor::of_place) };
        return Ok(Answer::ok(list).into_response());
    }
    all(caller, thread, wanted).await
}

/// An [`api::MessageList`] of messages that are JSON already.
#[derive(Serialize)]
struct Page {
    messages: Vec<MessageJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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

/// Add messages, all or none. One that was added before, under the same id and with the same content, is not added again
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "add_messages",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread")),
    request_body = api::NewMessages,
    responses((status = OK, description = "Where they are", body = api::Added)))]
async fn add(
    caller: AuthorizedToAdd<AddMessages>,
    Name(thread): Name<ThreadId>,
    request: RequestBody<api::NewMessages>,
) -> Result<Answer<api::Added>, Problem> {
    caller.add_messages(thread, request).await
}

impl AuthorizedToAdd<AddMessages> {
    /// Add messages, all or none. One that was added before, under the same id and with the same content, is not added again
    pub(crate) async fn add_messages(
        self,
        thread: ThreadId,
        request: RequestBody<api::NewMessages>,
    ) -> Result<Answer<api::Added>, Problem> {
        let add = conversation::AddMessages { thread, messages: request.body.messages };
        let receipt = self.execute(request.options, add).await?;
        Ok(Answer::ok(api::Added { messages: receipt.answer, head: receipt.head }).at(receipt.head))
    }
}
