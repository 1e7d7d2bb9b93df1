//! Context files: an engine knows no folders. Whoever calls tools for agents gives what does with files what they ask for.

use callboard_core::{error::Error as Refusal, file::FileCall};
use futures::future::BoxFuture;

use crate::{error::Error, session::Session};

/// Does what agents ask for with context files.
pub trait ContextFiles: Send + Sync {
    /// Does it with the files of `session`, and gives what the agent's model is told. What became of the files is recorded
    /// before it is answered.
    fn call<'a>(&'a self, session: &'a Session, call: FileCall) -> BoxFuture<'a, Result<String, Error>>;
}

/// For sessions without a folder of context files.
#[derive(Clone, Copy, Debug)]
pub struct NoContextFiles;

impl ContextFiles for NoContextFiles {
    fn call<'a>(&'a self, _: &'a Session, _: FileCall) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async { Err(Refusal::not_found("folder with context files", "").into()) })
    }
}
