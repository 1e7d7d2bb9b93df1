//! Collections: documents that sessions share. A collection is a journal like that of a session, which has documents and
//! nothing else, and never expires. Its documents are for the agents of each session that names it.

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    error::{ConflictKind, Error},
    id::CollectionName,
    input::InputVisitor,
    rights::Right,
    session::{SessionKind, Settings, Ttl, facts::Created},
};

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
            let (kind, what) = (ConflictKind::SessionExists, format!("there is a collection {}", self.name));
            return Err(Error::Conflict { kind, what, hint: "take another name" }.into());
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
