//! What answers calls of the API.

use std::io;

use bytes::Bytes;
use futures::{future::BoxFuture, stream::BoxStream};
use http::{Request, Response};

/// The pieces of a body, as they arrive.
pub type Pieces = BoxStream<'static, io::Result<Bytes>>;

/// Answers calls of the API: a server, or a store in this process.
pub trait Api: Send + Sync + 'static {
    /// Makes a call. Fails, with what to tell people, if there is no answer.
    fn call(&self, request: Request<Pieces>) -> BoxFuture<'_, Result<Response<Pieces>, String>>;
}
