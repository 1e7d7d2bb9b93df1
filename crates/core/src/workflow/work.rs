//! The work of nodes: what executing a node does. There is one for each type of node that can be executed; a node of any other type is a
//! document.

mod ask;
mod browser;
mod flow;
mod read;

pub use self::{
    ask::AskModel,
    browser::{BrowserAction, BrowserQuery},
    flow::{Goal, Iterate, Route, Routes},
};

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value};

use super::{Node, Values, expression, template};
use crate::{
    error::{Error, Fault},
    id::{NodeId, VariableName},
    json::pointer_token,
    variable::{Variables, is_placeholder},
};

/// What executing a node does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// It does something in the browser.
    BrowserAction(BrowserAction),
    /// It reads something from a page.
    BrowserQuery(BrowserQuery),
    /// It computes values from variables: an expression for each.
    Transform(Vec<(Arc<str>, Arc<str>)>),
    /// It asks a model.
    Model(AskModel),
    /// It says where to go on.
    Route(Route),
    /// It repeats the nodes behind it, once for each element of a list.
    Iterate(Iterate),
}

/// The types of nodes that can be executed.
pub const KINDS: [&str; 6] = ["browser_action", "browser_query", "transform", "model", "route", "iterate"];

/// The [words of the API](crate::api_words) in nodes and their configurations: keys, and what may stand under them.
pub(crate) const CONFIG_WORDS: &[(&str, &[&str])] = &[
    ("type", &KINDS),
    ("status", &["not_run", "running", "success", "failed", "skipped"]),
    ("action", &["navigate", "select", "scroll"]),
    ("actions", &[]),
    ("attribute", &[]),
    ("collect", &[]),
    ("config", &[]),
    ("created_at", &[]),
    ("description", &[]),
    ("expect", &[]),
    ("fields", &[]),
    ("instructions", &[]),
    ("node_id", &[]),
    ("optional", &[]),
    ("plan_id", &[]),
    ("position", &[]),
    ("prompt", &[]),
    ("properties", &[]),
    ("required", &[]),
    ("routes", &[]),
    ("schema", &[]),
    ("selector", &[]),
    ("tabName", &[]),
    ("tab_name", &[]),
    ("temperature", &[]),
    ("updated_at", &[]),
    ("version", &[]),
    ("workflow", &[]),
    ("workflow_id", &[]),
    ("workflow_version", &[]),
];

/// Whether an expression stands at this place of the configuration of a node of this type.
fn is_expression(kind: &str, pointer: &str) -> bool {
    let place: Vec<_> = pointer.split('/').skip(1).collect();
    match kind {
        "browser_query" => matches!(*place, ["expect"]),
        "transform" => matches!(*place, ["set", _]),
        "route" => matches!(*place, ["routes", _, "when"]),
        "iterate" => matches!(*place, ["collect"]),
        _ => false,
    }
}

/// A text of a configuration, with its place as a JSON pointer within it, and whether it is an expression.
pub(super) struct Said<'a> {
    pub(super) pointer: String,
    pub(super) text: &'a str,
    pub(super) is_expression: bool,
}

/// All texts in the configuration of a node of this type.
pub(super) fn texts<'a>(kind: &str, config: &'a Map<String, Value>) -> Vec<Said<'a>> {
    let mut found = Vec::new();
    let mut rest: Vec<(String, &Value)> =
        config.iter().rev().map(|(name, value)| (format!("/{}", pointer_token(name)), value)).collect();
    while let Some((pointer, value)) = rest.pop() {
        match value {
            Value::String(text) => {
                found.push(Said { is_expression: is_expression(kind, &pointer), pointer, text });
            }
            Value::Array(all) => {
                rest.extend(all.iter().enumerate().rev().map(|(at, value)| (format!("{pointer}/{at}"), value)));
            }
            Value::Object(fields) => {
                let inner = fields.iter().rev();
                rest.extend(inner.map(|(name, value)| (format!("{pointer}/{}", pointer_token(name)), value)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

impl Node {
    /// Whether it is of a type that can be executed.
    pub fn is_executable(&self) -> bool {
        KINDS.contains(&&*self.kind)
    }

    /// What is wrong with the configuration at `at` of a node that can be executed. One without any is not configured yet.
    pub(super) fn check_config(&self, at: &str, faults: &mut Vec<Fault>) {
        if !self.config.is_empty() && self.is_executable() {
            faults.extend(self.config_faults(at));
        }
    }

    /// What stands in the way of executing it, where it stands at `at`.
    pub(super) fn check_execution(&self, at: &str, faults: &mut Vec<Fault>) {
        if !self.is_executable() {
            let problem = format!(
                "{} is of the type {:?}, which Callboard does not execute; it executes {}",
                self.id,
                self.kind,
                KINDS.join(", ")
            );
            faults.push(Fault { pointer: at.to_owned(), problem });
        } else {
            let fault = |fault: Fault| Fault { pointer: at.to_owned(), problem: format!("{}: {fault}", self.id) };
            faults.extend(self.config_faults("/config").into_iter().map(fault));
        }
    }

    /// The last node that it repeats, if it repeats any.
    pub(super) fn repeats_through(&self) -> Option<NodeId> {
        let last = self.config.get("last").filter(|_| &*self.kind == "iterate")?;
        last.as_str()?.parse().ok()
    }

    fn config_faults(&self, at: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        for Said { pointer, text, is_expression } in texts(&self.kind, &self.config) {
            let takes_secrets = self.takes_secrets(&pointer);
            let problem = match is_expression {
                _ if is_placeholder(text) => Some(
                    "a secret stood here, by its name: keep secrets in variables, and give what is none another name"
                        .to_owned(),
                ),
                true => expression::fault(text),
                false => template::fault(text, takes_secrets),
            };
            faults.extend(problem.map(|problem| Fault { pointer: format!("{at}{pointer}"), problem }));
        }
        if faults.is_empty()
            && let Err(Error::Invalid(wrong)) = read::work(&self.kind, &self.config, at, true)
        {
            return wrong;
        }
        faults
    }

    /// Whether a text at this place of its configuration may name secrets.
    fn takes_secrets(&self, pointer: &str) -> bool {
        &*self.kind == "browser_action" && (pointer.ends_with("/value") || pointer.ends_with("/text"))
    }

    /// Whether a model reads the text at this place of its configuration.
    fn asks_model(&self, pointer: &str) -> bool {
        &*self.kind == "model" && matches!(pointer, "/prompt" | "/instructions")
    }

    /// The variables that executing it reads.
    ///
    /// # Errors
    /// A template that names no variable is refused, with its place.
    pub fn reads(&self, there: &Variables) -> Result<BTreeSet<VariableName>, Error> {
        let (mut reads, mut faults) = (BTreeSet::new(), Vec::new());
        for Said { pointer, text, is_expression } in texts(&self.kind, &self.config) {
            if is_expression {
                reads.extend(read_by(text, there));
                continue;
            }
            for named in template::names(text) {
                match template::variable(named, |name| there.get(name).is_some()) {
                    Ok((name, _)) => drop(reads.insert(name)),
                    Err(problem) => faults.push(Fault { pointer: format!("/config{pointer}"), problem }),
                }
            }
        }
        if faults.is_empty() { Ok(reads) } else { Err(Error::Invalid(faults)) }
    }

    /// What executing it does, where `values` has the variables that it reads.
    ///
    /// # Errors
    /// What is wrong with its configuration, each fault with its place.
    pub fn work(&self, values: &Values) -> Result<Work, Error> {
        let mut config = Value::Object(self.config.clone());
        let mut faults = Vec::new();
        for Said { pointer, text, is_expression } in texts(&self.kind, &self.config) {
            if is_expression || !template::is_in(text) {
                continue;
            }
            let resolved = match self.asks_model(&pointer) {
                true => template::told(text, values),
                false => template::resolved(text, values, self.takes_secrets(&pointer)),
            };
            match (resolved, config.pointer_mut(&pointer)) {
                (Ok(value), Some(place)) => *place = value,
                (Err(problem), _) => faults.push(Fault { pointer: format!("/config{pointer}"), problem }),
                (Ok(_), None) => {}
            }
        }
        let config = config.as_object().filter(|_| faults.is_empty());
        let Some(config) = config else { return Err(Error::Invalid(faults)) };
        read::work(&self.kind, config, "/config", false)
    }
}

/// The variables that an expression may read: those whose name begins with a word of it, and all where it names all.
pub fn read_by<'a>(expression: &str, there: &'a Variables) -> impl Iterator<Item = VariableName> + use<'a> {
    let names = expression::names(expression);
    let is_read = move |name: &VariableName| {
        let first = name.as_str().split('.').next().unwrap_or_default();
        names.contains(first) || names.contains(expression::ALL)
    };
    there.iter().map(|variable| variable.name.clone()).filter(is_read)
}

#[cfg(test)]
mod tests;
