//! Conversations: threads and their messages.

mod add;
mod fact;
mod message;
mod thread;

pub(crate) use self::{
    add::{add, say},
    thread::{audience_of, hand_over, put_thread},
};
pub use self::{
    fact::{MessageAdded, MessageChecked, ThreadUpdated},
    message::{Content, Message, NewContent, NewMessage, Role, ToolCall},
    thread::{Size, Thread, Threads, thread_subject},
};

#[cfg(test)]
mod tests;
