//! Collections: documents that sessions share. A collection is a journal like that of a session, which has documents and
//! nothing else, and never expires. Its documents are for the agents of each session that names it.

use serde::{Deserialize, Serialize};

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    count::Tokens,
    error::{ConflictKind, Error},
    id::{CollectionName, Seq},
    input::InputVisitor,
    rights::Right,
    session::{SessionKind, Settings, Ttl, facts::Created},
    state::State,
    time::Timestamp,
};

/// A collection: documents that sessions share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Collection))]
pub struct CollectionInfo {
    /// Its name.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub name: CollectionName,
    /// How many documents it has.
    pub documents: u64,
    /// The size of their texts in bytes.
    pub size_bytes: u64,
    /// The same in tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens: Tokens,
    /// The number of the newest entry of its journal.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub head: Seq,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl CollectionInfo {
    /// What the state of its journal says of it.
    pub fn of(name: CollectionName, state: &State) -> Self {
        let sizes = state.documents.iter().map(|held| (held.size_bytes, held.tokens));
        let (size_bytes, tokens) = sizes.fold((0, Tokens(0)), |sum, size| (sum.0 + size.0, Tokens(sum.1.0 + size.1.0)));
        let (head, documents) = (state.head.seq, state.documents.count() as u64);
        let (created_at, updated_at) = (state.session.created_at, state.last_at);
        Self { name, head, documents, size_bytes, tokens, created_at, updated_at }
    }
}

/// Makes a collection where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCollection {
    /// Its name.
    pub name: CollectionName,
    /// Something random, so that no other collection has the same tags.
    pub salt: u64,
}

impl Command for NewCollection {
    type Answer = ();

    const RIGHT: Right = Right::user("make collections");

    const CREATES_SESSION: bool = true;

    const IN_COLLECTIONS: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        if decision.state.session.id.is_some() {
            let what = format!("there is a collection {}", self.name);
            return Err(Error::conflict(ConflictKind::SessionExists, what, "take another name").into());
        }
        let settings = Settings { ttl_seconds: Ttl::Never, ..Settings::default() };
        decision.record(Created { id: self.name.journal(), kind: SessionKind::Collection, salt: self.salt, settings });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/collection"), self.name.as_str());
    }
}

#[cfg(test)]
mod tests;
