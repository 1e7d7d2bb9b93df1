//! What one viewer may find in a journal, be it that of a session or of a collection.

use callboard_core::{
    audience::Audience, error::Error as Refusal, id::Seq, recall::Source, session::SessionKind, state::State,
    view::View, viewer::Viewer,
};

use crate::sizes::sizes;

/// What one viewer may find in a journal as of a state.
pub(super) enum Sight<'a> {
    Session(View<'a>),
    Collection(&'a State, &'a Viewer),
}

impl<'a> Sight<'a> {
    pub(super) fn of(state: &'a State, viewer: &'a Viewer) -> Result<Self, Refusal> {
        Ok(match state.session.kind {
            SessionKind::Session => Self::Session(View::new(state, viewer, sizes())?),
            SessionKind::Collection => Self::Collection(state, viewer),
        })
    }

    /// From which entry on the viewer finds what entries with this subject and audience say; `None` where it finds nothing.
    pub(super) fn begins(&self, source: Source, subject: &str, audience: &Audience) -> Option<Seq> {
        match self {
            Self::Session(view) => view.recalls_from(source, subject, audience),
            Self::Collection(state, viewer) => state.documents.recalls_from(viewer, subject),
        }
    }
}
