//! What is said in a conversation.

use std::sync::Arc;

use crate::{
    compression::Compressed,
    conversation::{Message, MessageChecked},
    directive::Received,
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
}
