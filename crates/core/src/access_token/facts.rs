//! What happens to tokens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AccessToken, Holder};
use crate::{
    entry::{Hash, Header},
    fact::{Description, Fact, Sentence},
    state::State,
};

/// A token was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Created {
    pub(super) id: Arc<str>,
    #[serde(flatten)]
    pub(super) holder: Holder,
    pub(super) sha256: Hash,
    pub(super) nonce: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_in: Option<u64>,
}

/// A token was revoked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Revoked {
    pub(super) id: Arc<str>,
}

impl Fact for Created {
    const TYPE: &'static str = "token.created";

    const SENTENCE: Sentence = |it| format!("{} made the access token {}", it.by, it.thing());

    const DESCRIPTION: Description = Description::of(&[]);

    fn subject(&self) -> String {
        format!("token:{}", self.id)
    }

    fn apply(self, state: &mut State, header: &Header) {
        let Self { id, holder, sha256, nonce, expires_in } = self;
        let expires = |seconds: u64| header.at.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        let expires_at = expires_in.map(expires);
        let token = AccessToken { id, holder, sha256, nonce, created_at: header.at, expires_at };
        Arc::make_mut(&mut state.tokens.0).push(token);
    }
}

impl Fact for Revoked {
    const TYPE: &'static str = "token.revoked";

    const SENTENCE: Sentence = |it| format!("{} revoked the access token {}", it.by, it.thing());

    const DESCRIPTION: Description = Description::of(&[]);

    fn subject(&self) -> String {
        format!("token:{}", self.id)
    }

    fn apply(self, state: &mut State, _: &Header) {
        Arc::make_mut(&mut state.tokens.0).retain(|token| token.id != self.id);
    }
}
