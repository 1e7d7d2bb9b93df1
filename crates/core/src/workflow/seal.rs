//! Secrets in what nodes are made of, and in what they gave. They are sealed like those of variables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    command::DecisionBuilder,
    entry::{Actor, Hash, Header},
    error::{Error, Fault},
    id::NodeId,
    state::State,
    variable::find_secrets,
};

/// Secrets that stand beside the journal, sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealedPart {
    /// What they are called, in the place of the name of a variable.
    pub(super) name: Arc<str>,
    /// The hash under which they are stored.
    pub(super) sha256: Hash,
}

/// What the secrets in the configuration of a node are called. A node that is made has no id yet.
pub(crate) fn in_config(id: Option<NodeId>) -> String {
    id.map_or_else(|| "node.config".to_owned(), |id| format!("{id}.config"))
}

/// What the secrets in the result of a node are called.
pub(super) fn in_result(id: NodeId) -> String {
    format!("{id}.result")
}

/// What was sealed of `value`. A placeholder is taken where one was sealed now, or where the same stood `before`.
/// `pointer` is the place of the value in what was brought.
pub(super) fn sealed(
    decision: &mut DecisionBuilder<'_>,
    name: String,
    value: &Value,
    before: Option<&Value>,
    pointer: &str,
) -> Result<Option<SealedPart>, Error> {
    let found = find_secrets(&name, value, None).map_err(|error| error.within(pointer))?;
    if !found.secrets.is_empty() {
        return Err(Error::Sealed {
            what: format!("{pointer} holds secrets, and they could not be sealed"),
            hint: "leave the secrets out, and name a variable that holds them",
        });
    }
    if found.placeholders.is_empty() {
        return Ok(None);
    }
    let sealed = decision.sealed(&name);
    let stood = |at: &String| before.is_some_and(|before| before.pointer(at) == value.pointer(at));
    let fault = |at: &String| Fault {
        pointer: format!("{pointer}{at}"),
        problem: "this stands for a secret: give the secret itself".to_owned(),
    };
    let faults: Vec<_> = found.placeholders.iter().filter(|at| sealed.is_none() && !stood(at)).map(fault).collect();
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    Ok(sealed.map(|sha256| SealedPart { name: name.into(), sha256 }))
}

impl State {
    /// Notes what was sealed of a node.
    pub(super) fn learn_of_node(&mut self, sealed: Option<&SealedPart>, header: &Header) {
        if let Some(SealedPart { name, sha256 }) = sealed {
            self.secrets.learn(name, *sha256, header.seq);
        }
    }

    /// Forgets the secrets of a node that the user deleted. What an agent deletes stays masked.
    pub(super) fn forget_node(&mut self, id: NodeId, header: &Header) {
        if header.by == Actor::User {
            self.secrets.forget(&in_config(Some(id)), header.seq);
            self.secrets.forget(&in_result(id), header.seq);
        }
    }
}
