//! Setting and clearing variables.

use std::sync::Arc;

use super::{
    ClearVariables, FoundSecrets, PutVariable, SetVariable, display,
    facts::{Cleared, Set},
    find_secrets,
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    entry::{Actor, Hash},
    erasure::check_reason,
    error::{Error, Fault},
    id::{VariableName, is_of_call},
    input::InputVisitor,
    json,
    rights::Right,
    state::State,
    text::{self, Text},
};

/// How many origins a variable has at most.
const ORIGINS: usize = 20;

/// A value counts as one item for each of so many bytes.
const ITEM_BYTES: usize = 1024;

/// Sets a variable.
impl Command for SetVariable {
    type Answer = ();

    const RIGHT: Right = Right::manager("set variables");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { name, put } = self;
        let PutVariable { value, reason, secret, origins } = put;
        if *secret == Some(false) {
            decision.allow(Right::user("mark a variable as not secret"))?;
        }
        if origins.is_some() {
            decision.allow(Right::user("say into which pages secrets are typed"))?;
        }
        if let Some(number) = name.node().filter(|number| decision.state.workflow.is_gone(*number)) {
            let problem = format!("there is no node_{number} any more, and its variables went with it");
            return Err(Error::invalid("/name", problem).into());
        }
        if is_of_call(name.as_str()) && decision.state.variables.get(name).is_none() {
            let problem = "names of secrets in calls begin with `call:`: use another name";
            return Err(Error::invalid("/name", problem).into());
        }
        check_reason(reason)?;
        let marked = decision.state.variables.mark(name, *secret);
        let sealed = decision.sealed(name.as_str());
        let origins = match (origins, decision.state.variables.get(name)) {
            (Some(origins), _) if origins.len() > ORIGINS => {
                return Err(Error::invalid("/origins", format!("name at most {ORIGINS}")).into());
            }
            (Some(origins), _) => origins.clone(),
            (None, before) => before.map(|before| before.origins.clone()).unwrap_or_default(),
        };
        let found = find_secrets(name.as_str(), value, marked).map_err(|error| error.within("/value"))?;
        check_sealed(name, &found, sealed)?;
        let text: Arc<str> = json::text_of(value).into();
        let kept = Text::keep(&text, "the value", &mut decision.values)?;
        let is_long = kept.stored().is_some();
        let display = display(value).into();
        decision.record(Set {
            name: name.clone(),
            value: (!is_long).then(|| value.clone()),
            long_value: is_long.then_some(kept),
            display,
            secret: sealed.is_some(),
            marked,
            origins,
            sealed,
            reason: reason.clone(),
        });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/name"), self.name.as_str());
        let PutVariable { value, reason, secret, origins } = &mut self.put;
        visitor.keys(format_args!("/value"), value);
        visitor.variable(self.name.as_str(), *secret, value);
        for (at, origin) in origins.iter().flatten().enumerate() {
            visitor.name(format_args!("/origins/{at}"), origin.as_str());
        }
        visitor.text(reason);
    }

    fn items(&self) -> usize {
        1 + json::least_bytes(&self.put.value, text::INLINE_BYTES * 16) / ITEM_BYTES
    }
}

/// Clears a variable, or all of them. Where all are to be cleared and there are none, nothing is recorded.
impl Command for ClearVariables {
    type Answer = ();

    const RIGHT: Right = Right::manager("clear variables");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        check_reason(&self.reason)?;
        let State { variables, secrets, .. } = &decision.state;
        let is_user = decision.by == Actor::User;
        let is_there = match &self.name {
            Some(name) => variables.get(name).is_some() || (is_user && secrets.newest(name.as_str()).is_some()),
            None => variables.iter().next().is_some() || (is_user && !secrets.is_empty()),
        };
        match &self.name {
            Some(name) if !is_there => return Err(Error::not_found("variable", name).into()),
            None if !is_there => {}
            name => decision.record(Cleared { name: name.clone(), reason: self.reason.clone() }),
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.reason);
    }
}

/// Refuses a value with secrets that were not sealed, or with placeholders for secrets that nobody has.
fn check_sealed(name: &VariableName, found: &FoundSecrets, sealed: Option<Hash>) -> Result<(), Error> {
    if !found.secrets.is_empty() {
        return Err(Error::Sealed {
            what: format!("the variable {name} holds secrets, and they could not be sealed"),
            hint: "leave the secrets out, or mark the variable as not secret",
        });
    }
    let fault = |pointer: &String| Fault {
        pointer: format!("/value{pointer}"),
        problem: "this stands for a secret: give the secret itself".to_owned(),
    };
    let faults: Vec<_> = found.placeholders.iter().filter(|_| sealed.is_none()).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}
