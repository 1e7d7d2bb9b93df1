//! Documents: named texts that a team can look things up in, each with its own audience.

pub(crate) mod decide;
pub mod facts;
mod media_type;
pub(crate) mod memory;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

pub use self::media_type::MediaType;
use crate::{
    audience::{Audience, ThingView, VisibilitySpan},
    count::Tokens,
    entry::Hash,
    error::Error,
    id::{DocumentName, Seq},
    time::Timestamp,
    viewer::Viewer,
};

/// A document as the state holds it: all but its text, which stands in its entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldDocument {
    /// Its name, unique in its session or collection.
    pub name: DocumentName,
    /// Who may see it, and since when.
    pub sight: VisibilitySpan,
    /// What its text is.
    pub media_type: MediaType,
    /// The size of its text.
    pub size_bytes: u64,
    /// The same in tokens.
    pub tokens: Tokens,
    /// The hash of its text.
    pub(crate) sha256: Hash,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The entry that last changed it, and has its text.
    pub seq: Seq,
}

impl HeldDocument {
    /// Whether a viewer may see it who is not of the team, but of one that shares the collection.
    fn is_for(&self, viewer: &Viewer) -> bool {
        viewer.agent().is_none_or(|agent| self.sight.audience.contains(agent))
    }
}

/// All documents, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Documents(RedBlackTreeMapSync<DocumentName, Arc<HeldDocument>>);

impl Documents {
    /// The document with this name, visible or not.
    pub fn get(&self, name: &DocumentName) -> Option<&HeldDocument> {
        self.0.get(name).map(|held| &**held)
    }

    /// All documents by name, visible or not.
    pub fn iter(&self) -> impl Iterator<Item = &HeldDocument> {
        self.0.values().map(|held| &**held)
    }

    /// The documents of a collection that `viewer` sees, by name: the user, or an agent of a session that names it.
    pub fn of_collection(&self, viewer: &Viewer) -> impl Iterator<Item = &HeldDocument> {
        self.iter().filter(move |held| held.is_for(viewer))
    }

    /// The one of these with this name. A hidden one answers like one that is not there.
    pub fn in_collection(&self, viewer: &Viewer, name: &DocumentName) -> Result<&HeldDocument, Error> {
        let held = self.get(name).filter(|held| held.is_for(viewer));
        held.ok_or_else(|| Error::not_found("document", name))
    }

    /// From which entry on `viewer` may find what the document of a collection with this subject says.
    pub fn recalls_from(&self, viewer: &Viewer, subject: &str) -> Option<Seq> {
        let name = subject.strip_prefix(facts::DOCUMENT)?.parse().ok()?;
        self.in_collection(viewer, &name).ok().map(|held| held.seq)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.size()
    }
}

/// What a viewer sees of a document. The outline is all but its text.
pub type DocumentView<'a> = ThingView<'a, HeldDocument>;

/// A document to add. It replaces the one of its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewDocument, example = json!({
    "name": "guides/style.md", "text": "# Style\n\nShort sentences.", "media_type": "text/markdown",
})))]
pub struct PutDocument {
    /// Its name. It may be a path; no part of it is `.` or `..`.
    pub name: DocumentName,
    /// What it says: at most 16 MiB, and not blank.
    #[cfg_attr(feature = "schema", schema(value_type = String, pattern = "\\S"))]
    pub text: Arc<str>,
    /// Which agents may see it. If absent: as before, or the session's `default_visibility` for a new document; in a
    /// collection `all`. In a collection, names are those of agents of the sessions that name the collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// What the text is. If absent: as before, or `text/plain` for a new document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<MediaType>,
}

/// A document to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveDocument(pub DocumentName);

/// The outcome of adding a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DocumentOutcome))]
#[serde(rename_all = "snake_case")]
pub enum DocumentOutcome {
    /// There was none of this name, and now there is.
    Created,
    /// It replaced one.
    Updated,
    /// It was there as it is.
    Unchanged,
}

#[cfg(test)]
mod tests;
