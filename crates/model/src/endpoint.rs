//! What endpoints of all protocols have in common.

use async_trait::async_trait;

use crate::http::Http;
use crate::{ChatModel, ModelError};

/// An endpoint, asked once: [`Endpoints`](crate::Endpoints) tries again.
#[async_trait]
pub(crate) trait Endpoint: ChatModel {
    /// The way to it.
    fn http(&self) -> &Http;

    /// The names of its models.
    async fn models(&self) -> Result<Vec<String>, ModelError>;
}
