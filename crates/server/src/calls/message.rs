//! Messages of threads.

use callboard_api as api;
use callboard_core::{
    conversation::{self, MessageShape, Role, reading, shape::in_shape},
    id::ThreadId,
};
use callboard_engine::{MessageJson, MessageQuery};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde_json::Value;

use super::{
    Answer, Authorized, AuthorizedToAdd, CallError, Pages, WriteOptions, cursor,
    rights::{AddMessages, ReadMessages},
};

/// Messages of a thread: one page, or all in pages.
pub(crate) enum ListedMessages {
    /// One page.
    Page(MessagePage),
    /// One page, or all, as message objects of a provider.
    InShape(ShapedPage),
    /// All messages of a long thread.
    All(Pages<MessageJson>),
}

/// An [`api::MessageList`] of messages that are JSON already.
#[derive(Serialize)]
pub(crate) struct MessagePage {
    messages: Vec<MessageJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A [`MessagePage`] in the shape of a provider.
#[derive(Serialize)]
pub(crate) struct ShapedPage {
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Authorized<ReadMessages> {
    pub(crate) async fn list_messages(
        &self,
        thread: ThreadId,
        query: api::MessagesQuery,
    ) -> Result<ListedMessages, CallError> {
        let cursor = query.cursor.as_deref().map(cursor::place).transpose()?;
        let api::MessagesQuery { limit, before, after, audience, .. } = query;
        let wanted = MessageQuery { limit, before, after, roles: roles(query.roles.as_deref())?, cursor, audience };
        let shape = query.shape;
        if limit.is_some() || cursor.is_some() || self.session.is_short(&thread)? {
            let page = self.session.messages_as_json(&self.viewer(), &thread, wanted).await?;
            let next_cursor = page.next.map(cursor::of_place);
            return match shape {
                Some(shape) => Self::shaped(shape, &page.messages, next_cursor),
                None => Ok(ListedMessages::Page(MessagePage { messages: page.messages, next_cursor })),
            };
        }
        let all = self.all_messages(thread, wanted).await?;
        match shape {
            Some(shape) => Self::shaped(shape, &all.try_concat().await?, None),
            None => Ok(ListedMessages::All(all)),
        }
    }

    /// Messages in the shape of a provider. An object may be several of them, so all must be at hand.
    fn shaped(
        shape: MessageShape,
        messages: &[MessageJson],
        next_cursor: Option<String>,
    ) -> Result<ListedMessages, CallError> {
        let messages = messages.iter().map(MessageJson::read).collect::<Result<Vec<_>, _>>()?;
        Ok(ListedMessages::InShape(ShapedPage { messages: in_shape(shape, &messages), next_cursor }))
    }

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

impl AuthorizedToAdd<AddMessages> {
    pub(crate) async fn add_messages(
        self,
        thread: ThreadId,
        body: api::NewMessages,
        repaired: Vec<usize>,
        options: WriteOptions,
    ) -> Result<Answer<api::Added>, CallError> {
        let add = conversation::AddMessages { thread, messages: reading::read(body.messages)? };
        let receipt = self.execute(options, add).await?;
        Ok(Answer::ok(api::Added { messages: receipt.answer, head: receipt.head, repaired }).at(receipt.head))
    }
}

/// The roles in a list that is separated by commas.
pub(super) fn roles(list: Option<&str>) -> Result<Vec<Role>, CallError> {
    let role = |word: &str| {
        let known = [("user", Role::User), ("ai", Role::Ai), ("assistant", Role::Ai), ("system", Role::System)];
        let mut known = known.into_iter().chain([("tool", Role::Tool)]);
        let found = known.find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, role)| role);
        found.ok_or_else(|| {
            CallError::invalid("/roles", format!("{word:?} is not a role: use USER, AI, SYSTEM or TOOL"))
        })
    };
    api::words(list).map(role).collect()
}
