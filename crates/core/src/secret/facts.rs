//! What can happen to secrets.

use serde::{Deserialize, Serialize};

use super::WrappedKey;
use crate::{
    audience::Audience,
    entry::Header,
    fact::{Description, Earlier, Fact, Repeats, Seen, sealed},
    id::VariableName,
    state::State,
    view::View,
};

/// The data key of the session was made, or wrapped under another master key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyWrapped {
    /// The key from now on.
    pub key: WrappedKey,
}

impl Fact for KeyWrapped {
    const TYPE: &'static str = "secret.key_wrapped";

    const DESCRIPTION: Description<Self> = Description {
        texts: &[sealed("key.sha256")],
        gone_as: None,
        earlier: Earlier::Replaced,
        repeats: Repeats::Nothing,
        said: None,
    };

    fn subject(&self) -> String {
        "secrets".to_owned()
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::None
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.secrets.key = Some(self.key);
        state.secrets.changed = header.seq;
    }

    fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
        None
    }
}

/// The value of a secret was shown to the author of the entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revealed {
    /// The variable.
    pub name: VariableName,
}

impl Fact for Revealed {
    const TYPE: &'static str = "secret.revealed";

    const DESCRIPTION: Description<Self> =
        Description { texts: &[], gone_as: None, earlier: Earlier::Stands, repeats: Repeats::Nothing, said: None };

    fn subject(&self) -> String {
        format!("variable:{}", self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        view.is_in_charge().then(|| Seen::fact(&self)).flatten()
    }
}
