//! Recording what was sealed, and who looked at it.

use super::{
    RevealSecret, RewrapKey,
    facts::{KeyWrapped, Revealed},
};
use crate::sealed::WrappedKey;
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    entry::Hash,
    error::{ConflictKind, Error},
    id::Seq,
    input::InputVisitor,
    rights::Right,
};

impl DecisionBuilder<'_> {
    /// The hash under which what the command brings under this name is sealed. It does not store it.
    pub(crate) fn sealed_as(&self, name: &str) -> Option<Hash> {
        let sealed = self.context.sealed;
        sealed.values.get(name).map(|(hash, _)| *hash).or_else(|| sealed.known.get(name).copied())
    }

    /// Where the value that the command brings for the variable `name` holds secrets: the hash under which they are
    /// sealed. They are stored with the decision, and so is the key if this is the first secret of the session.
    pub fn sealed(&mut self, name: &str) -> Option<Hash> {
        let sealed = self.context.sealed;
        let Some((hash, text)) = sealed.values.get(name) else { return sealed.known.get(name).copied() };
        if let Some((key, wrapped)) = &sealed.new_key
            && self.state.secrets.key.as_ref() != Some(key)
        {
            self.values.insert(key.sha256, wrapped.clone());
            self.record(KeyWrapped { key: key.clone() });
        }
        self.values.insert(*hash, text.clone());
        Some(*hash)
    }
}

/// Replaces the wrapped key of the session by the same key under another master key.
impl Command for RewrapKey {
    type Answer = ();

    const RIGHT: Right = Right::system("wrap the key of a session");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let key = decision.state.secrets.key.clone().filter(|key| key.sha256 == self.before);
        let Some(key) = key else {
            let what = "the key of the session was replaced meanwhile";
            return Err(Error::conflict(ConflictKind::KeyReplaced, what, "try again").into());
        };
        let (sha256, wrapped) = self.wrapped.clone();
        decision.values.insert(sha256, wrapped);
        decision.record(KeyWrapped { key: WrappedKey { sha256, ..key } });
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Notes who looks at a secret, and says which entry set it.
impl Command for RevealSecret {
    type Answer = Seq;

    const RIGHT: Right = Right::user("see the value of a secret");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Seq, Undecided> {
        let variable = decision.state.variables.get(&self.name).filter(|variable| variable.secret);
        let seq = variable.ok_or_else(|| Error::not_found("secret variable", &self.name))?.seq;
        decision.record(Revealed { name: self.name.clone() });
        Ok(seq)
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}
