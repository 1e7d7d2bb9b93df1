//! Collections.

use callboard_core::collection::CollectionInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of collections, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CollectionList {
    /// The collections.
    pub collections: Vec<CollectionInfo>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
