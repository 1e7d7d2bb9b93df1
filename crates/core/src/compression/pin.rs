//! Pins: messages that compression keeps word for word.

use super::{
    decide::check_seen,
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

/// Pins a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinMessage(pub Pin);

/// Takes the pin of a message away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpinMessage(pub Pin);

/// Which message is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The thread.
    pub thread: ThreadId,
    /// The message.
    pub message: MessageId,
    /// The entry that added it.
    pub seq: Seq,
}

impl Command for PinMessage {
    type Answer = ();

    const RIGHT: Right = Right::manager("pin messages");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Pin { thread, message, seq } = self.0.clone();
        check_seen(decision, &thread)?;
        let pinned = self.0.find(decision)?;
        let tokens = size(&pinned, pinned.content.in_text(&Values::new()).ok().as_deref());
        let compression = decision.state.threads.get(&thread).map(|held| held.compression.clone()).unwrap_or_default();
        if compression.pins.contains_key(&seq) {
            return Ok(());
        }
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
        self.0.input(visitor);
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.0.seq]
    }
}

impl Command for UnpinMessage {
    type Answer = ();

    const RIGHT: Right = Right::manager("unpin messages");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Pin { thread, message, seq } = self.0.clone();
        check_seen(decision, &thread)?;
        self.0.find(decision)?;
        let is_pinned =
            decision.state.threads.get(&thread).is_some_and(|held| held.compression.pins.contains_key(&seq));
        if is_pinned {
            decision.record(MessageUnpinned { thread_id: thread, message_id: message, seq });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.0.input(visitor);
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.0.seq]
    }
}

impl Pin {
    fn input(&self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/thread"), self.thread.as_str());
        visitor.name(format_args!("/message"), self.message.as_str());
    }

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
