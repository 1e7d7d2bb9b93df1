//! From which entry on a viewer finds what.

use super::Source;
use crate::{audience::Audience, id::Seq, view::View};

impl View<'_> {
    /// From which entry on the viewer may find what entries with this subject and audience say; `None` where it may find
    /// none of them. What was said before was hidden from the viewer since, is replaced, or is gone.
    pub fn recalls_from(&self, source: Source, subject: &str, audience: &Audience) -> Option<Seq> {
        match source {
            Source::Message => self.recalls_messages(subject, audience),
            Source::ContextSet => self.recalls_set(subject),
            Source::Plan => self.recalls_plan(),
            Source::Variable => self.recalls_variable(subject),
            Source::File => self.recalls_file(subject, audience),
            Source::Document => self.recalls_document(subject),
        }
    }

    /// Whether the viewer is in `audience`; the user is in all.
    pub(crate) fn is_in(&self, audience: &Audience) -> bool {
        self.agent().is_none_or(|agent| audience.contains(agent))
    }
}
