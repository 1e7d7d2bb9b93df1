//! Collections.

use callboard_core::{
    count::Tokens,
    id::{CollectionName, Seq},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A collection: documents that sessions share.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Collection {
    /// Its name.
    #[schema(value_type = String)]
    pub name: CollectionName,
    /// How many documents it has.
    pub documents: u64,
    /// The size of their texts in bytes.
    pub size_bytes: u64,
    /// The same in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// The number of the newest entry of its journal.
    #[schema(value_type = u64)]
    pub head: Seq,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// A page of collections, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CollectionList {
    /// The collections.
    pub collections: Vec<Collection>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
