//! What is read of a session, always as one viewer sees it: prompts, messages, entries, streams, and why each is so.

mod documents;
pub(crate) mod entries;
pub(crate) mod filter;
pub(crate) mod message;
pub(crate) mod messages;
mod one_message;
pub(crate) mod plan;
pub(crate) mod prompt;
pub(crate) mod recall;
pub(crate) mod results;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod subscribe;
pub(crate) mod turns;
pub(crate) mod variables;
pub(crate) mod why;
