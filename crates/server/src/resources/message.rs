//! Messages of threads.

use axum::response::{IntoResponse, Response};
use callboard_core::{
    conversation::{self, AddMessages, MessageShape, reading, shape::in_shape},
    id::ThreadId,
};
use callboard_engine::{MessageJson, MessageQuery};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::{
    answer::{Pages, streamed},
    body::RepairedBody,
    call::*,
    caller::AuthorizedToAdd,
    cursor,
    params::roles,
    rights::ReadSession,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_messages, add_messages))
}

/// List the messages of a thread
///
/// These are the newest `limit` messages that match, sorted by time with the oldest first. With `shape`, what was added as a message
/// object of OpenAI or Anthropic comes back as it was.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    params(InPath<ThreadId>, api::MessagesQuery),
    responses((status = OK, description = "The messages that match, the oldest first", body = api::MessageList)))]
async fn list_messages(
    caller: Authorized<ReadSession>,
    InPath(thread): InPath<ThreadId>,
    Query(query): Query<api::MessagesQuery>,
) -> Result<Response, CallError> {
    let cursor = query.cursor.as_deref().map(cursor::place).transpose()?;
    let api::MessagesQuery { limit, before, after, audience, shape, .. } = query;
    let wanted = MessageQuery { limit, before, after, roles: roles(query.roles.as_deref())?, cursor, audience };
    if limit.is_some() || cursor.is_some() || caller.session.is_short(&thread)? {
        let page = caller.session.messages_as_json(&caller.viewer(), &thread, wanted).await?;
        let (messages, next_cursor) = (page.messages, page.next.map(cursor::of_place));
        return match shape {
            Some(shape) => shaped(shape, &messages, next_cursor),
            None => Ok(Answer::ok(Page { messages, next_cursor }).into_response()),
        };
    }
    let all = caller.all_messages(thread, wanted).await?;
    match shape {
        Some(shape) => shaped(shape, &all.try_concat().await?, None),
        None => Ok(streamed("messages", all, None)),
    }
}

/// Add messages to a thread, all or none
///
/// A message with the same id and content as an earlier one is not added again. The thread is created if it does not
/// exist.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    params(InPath<ThreadId>),
    request_body = api::NewMessages,
    responses((status = OK, description = "The id and the entry of each message", body = api::Added)))]
async fn add_messages(
    caller: AuthorizedToAdd<AddMessages>,
    InPath(thread): InPath<ThreadId>,
    RepairedBody { body, options, repaired }: RepairedBody<api::NewMessages>,
) -> Result<Answer<api::Added>, CallError> {
    let add = conversation::AddMessages { thread, messages: reading::read(body.messages)? };
    let receipt = caller.execute(options, add).await?;
    Ok(Answer::ok(api::Added { messages: receipt.answer, head: receipt.head, repaired }).at(receipt.head))
}

/// An [`api::MessageList`] of messages that are JSON already, or message objects of a provider.
#[derive(Serialize)]
struct Page<M> {
    messages: Vec<M>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Messages in the shape of a provider. An object may be several of them, so all must be at hand.
fn shaped(shape: MessageShape, messages: &[MessageJson], next_cursor: Option<String>) -> Result<Response, CallError> {
    let messages = messages.iter().map(MessageJson::read).collect::<Result<Vec<_>, _>>()?;
    Ok(Answer::ok(Page { messages: in_shape(shape, &messages), next_cursor }).into_response())
}

impl Authorized<ReadSession> {
    async fn all_messages(&self, thread: ThreadId, wanted: MessageQuery) -> Result<Pages<MessageJson>, CallError> {
        let (session, viewer) = (self.session.clone(), self.viewer());
        let head = session.state().await?.head.seq;
        // A missing or hidden thread is an error before anything is sent.
        let none = MessageQuery { limit: Some(0), ..MessageQuery::default() };
        session.messages(&viewer, &thread, none).await?;
        let pages = stream::try_unfold(Some(None), move |place| {
            let (session, viewer, thread, wanted) = (session.clone(), viewer.clone(), thread.clone(), wanted.clone());
            async move {
                let Some(from) = place else { return Ok(None) };
                let (page, next) = session.messages_on(&viewer, &thread, &wanted, from, head).await?;
                Ok(Some((page, next.map(Some))))
            }
        });
        Ok(pages.boxed())
    }
}
