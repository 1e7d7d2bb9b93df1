//! Noting what was seen of a folder.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ContextFile, ObserveFiles,
    facts::{Added, Removed},
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    input::InputVisitor,
    rights::Right,
};

/// Notes what is there now and was not, and what is gone. Where nothing has changed nothing is noted.
impl Command for ObserveFiles {
    type Answer = ();

    const RIGHT: Right = Right::system("note which files there are");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let seen: BTreeMap<&Arc<str>, &ContextFile> = self.0.iter().map(|file| (&file.path, file)).collect();
        let known: Vec<Arc<ContextFile>> = decision.state.files.iter().map(|held| held.file.clone()).collect();
        for file in known {
            if seen.get(&file.path).is_none_or(|now| **now != *file) {
                decision.record(Removed { path: file.path.clone(), recipient: file.recipient.clone() });
            }
        }
        for file in seen.into_values() {
            if decision.state.files.get(&file.path).is_none() {
                decision.record(Added(file.clone()));
            }
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        for file in &mut self.0 {
            let ContextFile { path, recipient, keywords, created } = file;
            visitor.text(path);
            visitor.text(recipient);
            visitor.text(created);
            keywords.iter_mut().for_each(|keyword| visitor.text(keyword));
        }
    }
}
