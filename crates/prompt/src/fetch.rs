//! How a model gets what a prompt does not show: notes name a call, where that is on offer.

use callboard_core::{agent::Tool, conversation::Message, id::Seq, tool::own_tool};

/// Whether Callboard's own tool of this name is on offer.
pub(super) fn is_offered(offered: &[Tool], tool: &str) -> bool {
    // One of the agent's own may have the same name.
    let is_own = |one: &&Tool| own_tool(tool).is_ok_and(|own| own.description == one.description);
    offered.iter().find(|one| one.name == tool).as_ref().is_some_and(is_own)
}

/// Which of the tools that read what was said are on offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    message: bool,
    messages: bool,
}

impl Reads {
    pub(super) fn of(offered: &[Tool]) -> Self {
        Self { message: is_offered(offered, READ_MESSAGE), messages: is_offered(offered, READ_MESSAGES) }
    }

    /// Where a message stands, or how to get it.
    pub(super) fn message(self, message: &Message) -> String {
        let Message { message_id, thread_id, .. } = message;
        let place = format!("message {message_id} of thread {thread_id}");
        if self.message { format!("fetch {place} with `{READ_MESSAGE}`") } else { format!("it is {place}") }
    }

    /// The end of a note that says how to get several messages.
    pub(super) fn messages(self, how: &str) -> String {
        if self.messages { format!("; {how} with `{READ_MESSAGES}`") } else { String::new() }
    }
}

/// Where an entry stands that is no message.
pub(super) fn entry(seq: Seq) -> String {
    format!("it is entry {seq}")
}

const READ_MESSAGE: &str = "read_message";
pub(super) const READ_MESSAGES: &str = "read_messages";
