//! What calls give: an answer, or a long list in pages.

use callboard_core::id::Seq;
use futures::stream::BoxStream;

use super::CallError;

/// What a call gives.
pub(crate) struct Answer<T> {
    /// The head of the session as of which this holds. A later write can expect it.
    pub(crate) head: Option<Seq>,
    /// The answer itself.
    pub(crate) body: T,
}

/// A list that may be too long for memory, in pages that are read one after the other.
pub(crate) type Pages<T> = BoxStream<'static, Result<Vec<T>, CallError>>;

impl<T> Answer<T> {
    /// An answer that names no head.
    pub(crate) fn ok(body: T) -> Self {
        Self { head: None, body }
    }

    /// The same as of this head.
    #[must_use]
    pub(crate) fn at(self, head: Seq) -> Self {
        Self { head: Some(head), ..self }
    }
}
