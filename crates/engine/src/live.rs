//! What lives: the sessions in memory, who writes in each, and what the writer publishes.

pub(crate) mod append;
pub(crate) mod changes;
pub(crate) mod job;
pub(crate) mod master_key;
pub(crate) mod message_cache;
pub(crate) mod open;
pub(crate) mod overviews;
pub(crate) mod past;
pub(crate) mod publication;
pub(crate) mod queue;
pub(crate) mod recent;
pub(crate) mod scan;
mod secrets;
pub(crate) mod session;
pub(crate) mod writer;
