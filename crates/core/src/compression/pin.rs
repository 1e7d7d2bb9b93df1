//! Pins: messages that compression keeps word for word.

use super::{
    facts::{MessagePinned, MessageUnpinned},
    size,
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::{Message, facts::MessageAdded},
    error::{ConflictKind, Error},
    fact::{self, Fact},
    id::{MessageId, Seq, ThreadId},
    input::InputVisitor,
    rights::Right,
    text::Values,
};

/// Pins a message, or takes its pin away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin<const PINNED: bool> {
    /// The thread.
    pub thread: ThreadId,
    /// The message.
    pub message: MessageId,
    /// The entry that added it.
    pub seq: Seq,
}

/// Pins a message.
pub type PinMessage = Pin<true>;

/// Takes the pin of a message away.
pub type UnpinMessage = Pin<false>;

impl<const PINNED: bool> Command for Pin<PINNED> {
    type Answer = ();

    const RIGHT: Right = Right::manager(if PINNED { "pin messages" } else { "unpin messages" });

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { thread, message, seq } = self.clone();
        let compression = decision.view()?.thread(&thread)?.compression.clone();
        let found = self.find(decision)?;
        if compression.pins.contains_key(&seq) == PINNED {
            return Ok(());
        }
        if !PINNED {
            decision.record(MessageUnpinned { thread_id: thread, message_id: message, seq });
            return Ok(());
        }
        let tokens = size(&found, found.content.in_text(&Values::new()).ok().as_deref());
        let (pinned, target) = (compression.pinned_tokens(), decision.state.session.settings.compression.target());
        let most = target.0 / 2;
        if (pinned + tokens).0 > most {
            let problem = format!(
                "this message takes {tokens} tokens, {pinned} are pinned, and {most} is the most, half of what a thread \
                 is compressed to: unpin others, or raise compression.target_tokens"
            );
            return Err(Error::contradicting(ConflictKind::PinsTooLarge, "", problem).into());
        }
        decision.record(MessagePinned { thread_id: thread, message_id: message, seq, tokens });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/thread"), self.thread.as_str());
        visitor.name(format_args!("/message"), self.message.as_str());
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.seq]
    }
}

impl<const PINNED: bool> Pin<PINNED> {
    /// The message, if the caller sees it.
    fn find(&self, decision: &DecisionBuilder<'_>) -> Result<Message, Undecided> {
        let absent = || Error::not_found("message", &self.message);
        let entry = decision.entry(self.seq)?.filter(|entry| *entry.header.kind == *MessageAdded::TYPE);
        let entry = entry.ok_or_else(absent)?;
        let MessageAdded(message) = fact::read(&entry)?;
        let is_it = message.thread_id == self.thread && message.message_id == self.message;
        if is_it && decision.view()?.sees_in(&self.thread, &entry.header) { Ok(message) } else { Err(absent().into()) }
    }
}
