//! What can happen to a session itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    entry::Header,
    fact::{Description, Earlier, Fact, Seen, TextField, text},
    id::SessionId,
    session::{Session, Settings},
    state::State,
    view::View,
};

/// The session was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    pub(super) id: SessionId,
    pub(super) salt: u64,
    #[serde(flatten)]
    pub(super) settings: Settings,
}

/// The settings were changed. It carries all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    #[serde(flatten)]
    pub(super) settings: Settings,
}

/// The words in the settings.
const TEXTS: &[TextField] = &[text("title"), text("steps.*.description")];

impl Fact for Created {
    const TYPE: &'static str = "session.created";

    const DESCRIPTION: Description<Self> =
        Description { texts: TEXTS, gone_as: None, earlier: Earlier::Stands, said: None };

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::All
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.session = Arc::new(Session { id: Some(self.id), created_at: header.at, settings: self.settings });
    }

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        let data = if view.is_in_charge() {
            serde_json::to_value(&self).ok()?
        } else {
            serde_json::json!({"id": self.id, "title": self.settings.title})
        };
        Some(Seen { kind: Self::TYPE, data })
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "session.updated";

    const DESCRIPTION: Description<Self> =
        Description { texts: TEXTS, gone_as: None, earlier: Earlier::Stands, said: None };

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, state: &mut State, _: &Header) {
        if state.session.settings.steps != self.settings.steps {
            Arc::make_mut(&mut state.steps).adapt(&self.settings.steps);
        }
        Arc::make_mut(&mut state.session).settings = self.settings;
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.was_meant(header) && view.is_in_charge() { Seen::fact(&self) } else { None }
    }
}
