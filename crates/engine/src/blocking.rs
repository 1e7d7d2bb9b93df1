//! Work that blocks: it is done off the runtime.

use futures::TryFutureExt as _;
use tokio::task::spawn_blocking;

use crate::error::Error;

/// Does work where nothing waits for it. It begins at once.
pub(crate) fn off_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Error>> + Send {
    spawn_blocking(work).map_err(|_| Error::Closed)
}
