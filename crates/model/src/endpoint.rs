//! The trait of endpoints.

use async_trait::async_trait;

use crate::http::Http;
use crate::{ChatModel, ModelError};

/// An endpoint. It sends each request once; [`Endpoints`](crate::Endpoints) retries.
#[async_trait]
pub(crate) trait Endpoint: ChatModel {
    /// Its HTTP client.
    fn http(&self) -> &Http;

    /// The names of its models.
    async fn models(&self) -> Result<Vec<String>, ModelError>;
}
