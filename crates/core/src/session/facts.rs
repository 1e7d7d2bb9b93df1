//! What can happen to a session itself.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    entry::{Hash, Header},
    fact::{Description, Fact, MeantFor, Repeats, Seen, Sentence, TextField, text},
    id::SessionId,
    json::value_of,
    session::{Session, SessionKind, Settings},
    state::State,
    view::View,
};

/// The session was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    pub(crate) id: SessionId,
    #[serde(default, skip_serializing_if = "SessionKind::is_session")]
    pub(crate) kind: SessionKind,
    /// As a text, since many programs read no number above 2^53 exactly.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub(crate) salt: u64,
    #[serde(flatten)]
    pub(crate) settings: Settings,
}

fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// The settings were changed. It carries all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    #[serde(flatten)]
    pub(super) settings: Settings,
}

/// The words in the settings.
const TEXTS: &[TextField] = &[text("title"), text("steps.*.description"), text("compression.instructions")];

impl Fact for Created {
    const TYPE: &'static str = "session.created";

    const SENTENCE: Sentence = |it| format!("{} created the session", it.by);

    const DESCRIPTION: Description = Description::of(TEXTS);

    const MEANT_FOR: MeantFor = MeantFor::All;

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn apply(self, state: &mut State, header: &Header) {
        let workflow_id = uuid(&format!("workflow of {} {}", self.id, self.salt)).into();
        let (id, kind, created_at, settings) = (Some(self.id), self.kind, header.at, self.settings);
        state.session = Arc::new(Session { id, kind, created_at, workflow_id, settings });
    }

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        let data = if view.is_in_charge() {
            value_of(&self)
        } else {
            serde_json::json!({"id": self.id, "title": self.settings.title})
        };
        Some(Seen { kind: Self::TYPE, data })
    }
}

/// The UUID that follows from `text`. It is of version 8: its other bits may be any.
fn uuid(text: &str) -> String {
    let Hash([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..]) = Hash::of(text.as_bytes());
    let bits = u128::from_be_bytes([a, b, c, d, e, f, (g & 0x0f) | 0x80, h, (i & 0x3f) | 0x80, j, k, l, m, n, o, p]);
    let piece = |at: u32, digits: u32| bits >> at & ((1 << (4 * digits)) - 1);
    let [one, two, three, four, five] = [piece(96, 8), piece(80, 4), piece(64, 4), piece(48, 4), piece(0, 12)];
    format!("{one:08x}-{two:04x}-{three:04x}-{four:04x}-{five:012x}")
}

impl Fact for Updated {
    const TYPE: &'static str = "session.updated";

    const SENTENCE: Sentence = |it| format!("{} changed the session", it.by);

    const DESCRIPTION: Description = Description { repeats: Repeats::Unchanged, ..Description::of(TEXTS) };

    const MEANT_FOR: MeantFor = MeantFor::Manager;

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn apply(self, state: &mut State, _: &Header) {
        if state.session.settings.steps != self.settings.steps {
            Arc::make_mut(&mut state.steps).adapt(&self.settings.steps);
        }
        Arc::make_mut(&mut state.session).settings = self.settings;
    }
}
