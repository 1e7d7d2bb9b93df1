//! What is said in a conversation.

use std::sync::Arc;

use callboard_core::{
    compression::Compressed,
    context_set::facts::FormAnswered,
    conversation::{Message, MessageChecked, facts::MessageAdded},
    directive::Received,
    entry::Entry,
    error::Error,
    fact::{Fact, read},
    id::{AgentName, SetName},
};

/// What an entry of a conversation says.
#[derive(Clone, Debug)]
pub enum Said {
    /// A message.
    Message(Arc<Message>),
    /// A verdict on an answer.
    Checked(Arc<MessageChecked>),
    /// A summary of earlier messages.
    Summary(Arc<Compressed>),
    /// What came of a directive.
    Directive(Arc<Received>),
    /// The user has answered this form.
    Form(SetName),
}

/// The types of entries that say something.
pub(crate) const TYPES: [&str; 5] =
    [MessageAdded::TYPE, MessageChecked::TYPE, Compressed::TYPE, Received::TYPE, FormAnswered::TYPE];

impl Said {
    /// What an entry says; an entry that is not part of a conversation is refused.
    pub(crate) fn by(entry: &Entry) -> Result<Self, Error> {
        match &*entry.header.kind {
            MessageAdded::TYPE => read::<MessageAdded>(entry).map(|added| Self::Message(Arc::new(added.0))),
            MessageChecked::TYPE => read(entry).map(|checked| Self::Checked(Arc::new(checked))),
            Compressed::TYPE => read(entry).map(|summary| Self::Summary(Arc::new(summary))),
            Received::TYPE => read(entry).map(|received| Self::Directive(Arc::new(received))),
            FormAnswered::TYPE => read::<FormAnswered>(entry).map(|answered| Self::Form(answered.name)),
            kind => Err(Error::Damaged {
                seq: entry.header.seq,
                kind: kind.to_owned(),
                detail: "it is not part of a conversation".to_owned(),
            }),
        }
    }
}

/// Whether what `by` says may be the result of a call that `caller` made. The user and Callboard, for whom `by` is none, and the manager
/// bring the results of all calls; another agent brings those of its own. A call without a name is that of an agent that is alone.
pub(crate) fn may_answer(
    by: Option<&AgentName>,
    caller: Option<&AgentName>,
    manager: Option<&AgentName>,
    is_alone: bool,
) -> bool {
    let Some(by) = by.filter(|by| manager != Some(*by)) else { return true };
    caller.map_or(is_alone, |caller| caller == by)
}
