//! Work that blocks: it is done off the runtime.

use tokio::task::spawn_blocking;

use crate::error::Error;

/// Does work where nothing waits for it.
pub(super) async fn off_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(|_| Error::Closed)
}
