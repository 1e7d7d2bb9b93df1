//! Requests that carry a key: done once, and answered the same way each time.

pub(crate) mod record;
pub(crate) mod request;
