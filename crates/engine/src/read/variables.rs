//! Values of variables. The state only says which entries have them.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::{
    entry::Entry,
    fact::read,
    id::{Seq, VariableName},
    variable::{Variable, facts::Set},
    viewer::Viewer,
};
use serde_json::{Map, Value};

use crate::{error::Error, session::Session};

/// How many bytes the values have together at most where many variables are read at once.
const TOGETHER_BYTES: usize = 256 * 1024;

impl Session {
    /// A variable that `viewer` sees, and its value as JSON, with `[hidden]` in the place of each secret.
    pub async fn variable(&self, viewer: &Viewer, name: &VariableName) -> Result<(Variable, Arc<str>), Error> {
        let state = self.state().await?;
        let variable = self.view(viewer, |view| view.variable(name).cloned()).await?;
        let value = self.value_of(&variable).await?;
        self.live.confirm(&state).await?;
        Ok((variable, value))
    }

    /// The value of a variable as JSON, with `[hidden]` in the place of each secret.
    pub async fn value_of(&self, variable: &Variable) -> Result<Arc<str>, Error> {
        let entry = self.entry(variable.seq).await?.ok_or_else(|| self.live.gone())?;
        let Set { value, long_value, .. } = read(&entry)?;
        match (value, long_value) {
            (_, Some(long)) => self.text(&long).await,
            (value, None) => Ok(value.unwrap_or_default().to_string().into()),
        }
    }

    /// The values of variables by their names, as JSON. A large value, and what would make the whole too large, is left
    /// out, and says so in its place.
    pub(crate) async fn values_of(&self, variables: &[Variable]) -> Result<String, Error> {
        let seqs: Vec<_> = variables.iter().map(|variable| variable.seq).collect();
        let entries = self.live.store.read_each(self.id(), &seqs).await?;
        let entries: BTreeMap<Seq, Entry> = entries.into_iter().map(|entry| (entry.header.seq, entry)).collect();
        let (mut values, mut size_bytes) = (Map::new(), 0);
        for variable in variables {
            let entry = entries.get(&variable.seq).ok_or_else(|| self.live.gone())?;
            let value = read::<Set>(entry)?.value.filter(|_| {
                size_bytes += entry.data.len();
                size_bytes <= TOGETHER_BYTES
            });
            values.insert(variable.name.to_string(), value.unwrap_or_else(|| left_out(variable)));
        }
        Ok(Value::Object(values).to_string())
    }
}

/// What stands in the place of a value that is too large to be read together with others.
fn left_out(Variable { name, display, .. }: &Variable) -> Value {
    format!("[too large to be listed: {display} Read it by its name, {name}.]").into()
}
