//! One message of a thread, by its id.

use callboard_core::{
    conversation::{
        MessageView,
        facts::{MessageAdded, message_key},
    },
    entry::Entry,
    error::Error as Refusal,
    fact::{self, Fact},
    id::{MessageId, Seq, ThreadId},
    view::View,
    viewer::Viewer,
};

use crate::{
    error::Error,
    read::message::{given, stored},
    session::Session,
    sizes::sizes,
};

impl Session {
    /// A message of a thread that `viewer` may see. A hidden one answers like one that is not there.
    pub async fn message(&self, viewer: &Viewer, thread: &ThreadId, id: &MessageId) -> Result<MessageView, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        view.thread(thread)?;
        let absent = || Refusal::not_found("message", id);
        let entry = match id.as_seq() {
            Some(seq) => self.message_at(thread, id, seq).await?,
            None => None,
        };
        let entry = match entry {
            Some(entry) => entry,
            None => {
                let seq = self.live.store.find(self.id(), &message_key(thread, id)).await?.ok_or_else(absent)?;
                self.message_at(thread, id, seq).await?.ok_or_else(absent)?
            }
        };
        self.live.confirm(&state).await?;
        if !view.sees_said(thread, entry.header.seq, &entry.header.audience) {
            return Err(absent().into());
        }
        let MessageAdded(message) = fact::read(&entry)?;
        let values = self.values(stored(&message)).await?;
        let mut message = given(entry.header.seq, message, &values);
        if !view.sees_reasoning_of(message.agent.as_ref()) {
            message.reasoning.clear();
        }
        Ok(message)
    }

    /// The entry `seq`, if it added this message.
    async fn message_at(&self, thread: &ThreadId, id: &MessageId, seq: Seq) -> Result<Option<Entry>, Error> {
        let entry = self.entry(seq).await?.filter(|entry| *entry.header.kind == *MessageAdded::TYPE);
        let Some(entry) = entry else { return Ok(None) };
        let MessageAdded(message) = fact::read(&entry)?;
        Ok((message.thread_id == *thread && message.message_id == *id).then_some(entry))
    }
}
