//! What endpoints of all protocols have in common.

use async_trait::async_trait;
use serde_json::Value;

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

/// The names in a list of models, which has the same form everywhere.
pub(crate) fn names(text: &str) -> Option<Vec<String>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let names = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    Some(names.map(str::to_owned).collect())
}
