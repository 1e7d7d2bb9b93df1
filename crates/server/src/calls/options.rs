//! The conditions of a write.

use callboard_core::{id::Seq, idempotency::Request};

/// The conditions of a write.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    /// The head that the session must have.
    pub(crate) expected: Option<Seq>,
    /// The idempotency key with the fingerprint of the request, if the caller sent a key.
    pub(crate) request: Option<Request>,
}
