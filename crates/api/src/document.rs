//! Documents.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    count::Tokens,
    document::{DocumentOutcome, HeldDocument, MediaType, PutDocument as NewDocument},
    id::{AgentName, CollectionName, DocumentName, Seq},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::query::number;

/// A document, as its reader may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Document {
    /// Its name.
    #[schema(value_type = String)]
    pub name: DocumentName,
    /// What it says. Absent in lists, and if the reader may know that it exists, but not what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
    /// Which agents may see it. The user sees every document.
    pub visible_to: Audience,
    /// The agents of the team that may not see it.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub hidden_from_agents: Vec<AgentName>,
    /// What its text is.
    #[schema(value_type = String, example = "text/markdown")]
    pub media_type: MediaType,
    /// The size of its text in bytes.
    pub size_bytes: u64,
    /// The same in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The entry that last changed it.
    #[schema(value_type = u64)]
    pub seq: Seq,
}

impl Document {
    /// A document without its text.
    pub fn of(held: &HeldDocument, hidden_from_agents: Vec<AgentName>) -> Self {
        let HeldDocument { name, sight, media_type, size_bytes, tokens, updated_at, seq, .. } = held.clone();
        let visible_to = sight.audience;
        Self { name, text: None, visible_to, hidden_from_agents, media_type, size_bytes, tokens, updated_at, seq }
    }
}

/// A page of documents without their texts, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DocumentList {
    /// The documents.
    pub documents: Vec<Document>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Selects a page of documents.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DocumentsQuery {
    /// The most items to return. If absent: all.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page. If absent: the first page.
    #[param(pattern = "^([0-9a-f]{2})+$")]
    pub cursor: Option<String>,
    /// A collection that the session names. If absent: the documents of the session.
    pub collection: Option<CollectionName>,
}

/// Where a document is.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DocumentQuery {
    /// A collection that the session names. If absent: the documents of the session.
    pub collection: Option<CollectionName>,
}

/// The content of a document, and who may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "# Style\n\nShort sentences.", "media_type": "text/markdown"}))]
pub struct PutDocument {
    /// What it says: at most 16 MiB, and not blank.
    #[schema(value_type = String, pattern = "\\S")]
    pub text: Arc<str>,
    /// Which agents may see it. If absent: as before, or the session's `default_visibility` for a new document; in a
    /// collection `all`. In a collection, names are those of agents of the sessions that name the collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// What the text is. If absent: as before, or `text/plain` for a new document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<MediaType>,
}

impl PutDocument {
    /// The document with this name.
    pub fn named(self, name: DocumentName) -> NewDocument {
        let Self { text, visible_to, media_type } = self;
        NewDocument { name, text, visible_to, media_type }
    }
}

/// The document after the change, without its text.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DocumentChanged {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// What the request did.
    pub outcome: DocumentOutcome,
}
