//! How sessions come and go: created, forked, imported, exported, and copied to another store.

pub(crate) mod create;
pub(crate) mod fork;
pub(crate) mod import;
pub(crate) mod session_copy;
mod sets;
pub(crate) mod store_copy;
