//! Adding, replacing and removing documents.

use std::sync::Arc;

use super::{
    DocumentOutcome, MediaType, PutDocument, RemoveDocument,
    facts::{Added, Removed},
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::Error,
    input::InputVisitor,
    rights::{Grant, Right},
    session::SessionKind,
    state::State,
    text::Text,
};

/// Adds or replaces a document. A worker with the grant replaces only documents that it sees, and stays away from who
/// sees them.
impl Command for PutDocument {
    type Answer = DocumentOutcome;

    const RIGHT: Right = Right::granted(Grant::Documents, "write documents");

    const IN_COLLECTIONS: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<DocumentOutcome, Undecided> {
        if decision.is_worker() {
            if self.visible_to.is_some() {
                decision.allow(Right::manager("change who sees a document"))?;
            }
            decision.view()?.document(&self.name)?;
        }
        if self.text.trim().is_empty() {
            return Err(Error::invalid("/text", "the text is blank: a document says something").into());
        }
        let State { team, documents, session, .. } = &decision.state;
        let known = documents.get(&self.name);
        let visible_to = match (&self.visible_to, known) {
            (Some(audience), _) => audience.clone(),
            (None, Some(held)) => held.sight.audience.clone(),
            (None, None) => session.settings.default_visibility.clone(),
        };
        // In a collection, names are those of agents of any session that names it.
        if self.visible_to.is_some() && session.kind == SessionKind::Session {
            team.check_audience(&visible_to, "/visible_to")?;
        }
        let media_type = self.media_type.clone().or_else(|| known.map(|held| held.media_type.clone()));
        let added = Added {
            name: self.name.clone(),
            text: Text::keep(&self.text, "the document", &mut decision.values)?,
            visible_to,
            media_type: media_type.unwrap_or_else(MediaType::plain),
            tokens: decision.context.count.count(&self.text),
        };
        let outcome = match known {
            Some(held) if added.is(held) => return Ok(DocumentOutcome::Unchanged),
            Some(_) => DocumentOutcome::Updated,
            None => DocumentOutcome::Created,
        };
        decision.record(added);
        Ok(outcome)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/name"), self.name.as_str());
        visitor.text(&mut self.text);
        if let Some(media_type) = &self.media_type {
            visitor.name(format_args!("/media_type"), media_type.as_str());
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        vec![self.text.clone()]
    }
}

/// Removes a document.
impl Command for RemoveDocument {
    type Answer = ();

    const RIGHT: Right = Right::granted(Grant::Documents, "write documents");

    const IN_COLLECTIONS: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        decision.view()?.document(&self.0)?;
        decision.record(Removed { name: self.0.clone() });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/name"), self.0.as_str());
    }
}

impl KeptAnswer for DocumentOutcome {
    const NAME: &'static str = "document";
}
