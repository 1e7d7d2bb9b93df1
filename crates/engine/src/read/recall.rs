//! Asking what was said: in one session, in several, and by its exact words.

pub(crate) mod answer;
mod ask;
pub(crate) mod corpus;
mod search;
mod sight;
