//! Filters: which of the entries that a viewer may see it wants.

use std::sync::Arc;

use callboard_core::{
    conversation::{Role, facts::MessageAdded},
    entry::{Actor, Entry},
    error::Error,
    event,
    fact::{self, Fact},
    view::{Projected, View},
};

/// Which entries are wanted. What is empty or absent filters nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only entries of these types, as the viewer sees them: what it loses sight of is a deletion to it.
    pub types: Vec<Arc<str>>,
    /// Only messages in these roles.
    pub roles: Vec<Role>,
    /// Only entries about this, such as `thread:main`.
    pub subject: Option<Arc<str>>,
    /// Only entries of this author.
    pub by: Option<Actor>,
}

impl Filter {
    /// What the viewer gets of an entry: nothing, where it may not see it or does not want it.
    pub(crate) fn project(&self, view: &View<'_>, entry: &Entry) -> Result<Option<Projected>, Error> {
        if self.by.as_ref().is_some_and(|by| entry.header.by != *by) {
            return Ok(None);
        }
        if self.subject.as_ref().is_some_and(|subject| entry.header.subject != *subject) {
            return Ok(None);
        }
        let Some(seen) = view.project(entry)? else { return Ok(None) };
        let is_wanted = self.types.is_empty() || self.types.contains(&seen.kind);
        Ok(Some(seen).filter(|_| is_wanted && self.wants_role(entry)))
    }

    /// The subjects of the entries that are wanted; none where that does not matter.
    pub(crate) fn subjects(&self) -> Vec<Arc<str>> {
        self.subject.iter().cloned().collect()
    }

    /// Whether it leaves out entries of the types and subjects that are wanted.
    pub(crate) fn chooses(&self) -> bool {
        self.by.is_some() || !self.roles.is_empty()
    }

    fn wants_role(&self, entry: &Entry) -> bool {
        let is_message = || *entry.header.kind == *MessageAdded::TYPE;
        let is_in = |MessageAdded(message)| self.roles.contains(&message.role);
        self.roles.is_empty() || (is_message() && fact::read(entry).is_ok_and(is_in))
    }

    /// The types of the entries that can be seen as one of those that are wanted; none where all are.
    pub(crate) fn stored_types(&self) -> Vec<Arc<str>> {
        let is_wanted = |shown: &str| self.types.iter().any(|kind| **kind == *shown);
        let behind = event::ALL.iter().filter(|one| one.description.gone_as.is_some_and(is_wanted));
        self.types.iter().cloned().chain(behind.map(|one| one.kind.into())).collect()
    }
}
