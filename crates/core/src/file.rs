//! Context files as observed. Their folder is the truth, since shells write it without a server; the journal records what
//! was seen there.

pub(crate) mod decide;
pub(crate) mod facts;
mod name;

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use self::name::bare;
pub use self::name::{Category, Keyword, Match, Recipient, TaskName};
use crate::id::{AgentName, Seq, SessionId};

/// The recipient `all`.
const EVERYBODY: &str = "all";

/// A context file, as the manifest of its folder lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    /// Its path, below the folder of the project.
    pub path: Arc<str>,
    /// Its recipient: the name of an agent, which may begin with `@`, or `all`. Every agent of the session may read it.
    #[serde(rename = "for")]
    pub recipient: Arc<str>,
    /// Under which words it is found.
    pub keywords: Vec<Arc<str>>,
    /// When it was added, according to the manifest.
    pub created: Arc<str>,
}

impl ContextFile {
    /// Whether it is meant for this agent.
    pub fn is_for(&self, agent: &AgentName) -> bool {
        let recipient = bare(&self.recipient);
        recipient == EVERYBODY || recipient == bare(agent.as_str())
    }
}

/// A context file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextFile))]
pub struct FoundFile {
    /// Its path, relative to the project folder.
    pub path: String,
    /// Its recipient: an agent, or `all`.
    #[serde(rename = "for")]
    pub recipient: String,
    /// The words under which it is found.
    pub keywords: Vec<String>,
    /// When it was added.
    #[cfg_attr(feature = "schema", schema(format = DateTime))]
    pub created: String,
    /// The session that it belongs to.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub session_id: SessionId,
    /// Its text. Lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A file, and the entry that noted it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldFile {
    /// The file.
    pub file: Arc<ContextFile>,
    /// The entry.
    pub seq: Seq,
}

/// The files of a session by path, as last seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Files(RedBlackTreeMapSync<Arc<str>, HeldFile>);

impl Files {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &HeldFile> {
        self.0.values()
    }

    /// The one with this path.
    pub fn get(&self, path: &str) -> Option<&HeldFile> {
        self.0.get(path)
    }
}

/// All context files that were seen in the session's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ObserveFiles(pub Vec<ContextFile>);

#[cfg(test)]
mod tests;
