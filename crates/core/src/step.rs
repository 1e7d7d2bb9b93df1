//! Steps: how a team goes about its work. A step says which tools may be used and in which order. The tools that were used
//! decide which step is active.

mod condition;
pub(crate) mod decide;
pub mod facts;
pub mod offer;
mod progress;

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

pub use self::{
    condition::Condition,
    decide::{Place, StepsChange},
    progress::Progress,
};
use crate::{
    agent::{TOOL_NAME, is_tool_name},
    error::{Error, Fault},
    id::StepName,
    input::InputVisitor,
    text::INLINE_BYTES,
};

/// How many of the newest tool uses are remembered one by one. A sequence is at most as long.
pub const LOG: usize = 256;

/// One step of a team's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, unique in its session.
    pub name: StepName,
    /// What the step is about, for the agents.
    #[serde(default)]
    pub description: Arc<str>,
    /// Whether it is active when no other step is. At most one step is the default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// It is entered when all of these hold. A step without conditions is entered only as the default, or by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Which tools may be used in it. If absent: all.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub available_tools: AvailableTools,
    /// Tools that are used in this order before any other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<crate::schema::ToolName>, max_items = 256))]
    pub sequence: Vec<Arc<str>>,
}

/// Which tools may be used. In names, `*` stands for any characters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AvailableTools {
    /// Only these. If absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<crate::schema::ToolName>>))]
    pub allowed: Option<Vec<Arc<str>>>,
    /// Not these, even if they are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<crate::schema::ToolName>))]
    pub denied: Vec<Arc<str>>,
}

/// The steps of a session, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steps(Vec<Step>);

impl Steps {
    /// See [`Command::input`](crate::command::Command::input).
    pub(crate) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        for (at, step) in self.0.iter_mut().enumerate() {
            visitor.name(format_args!("/steps/{at}/name"), step.name.as_str());
            let tools = step.available_tools.allowed.iter().flatten().chain(&step.available_tools.denied);
            for tool in tools.chain(&step.sequence).chain(step.conditions.iter().flat_map(Condition::tools)) {
                visitor.name(format_args!("/steps/{at}"), tool);
            }
            visitor.text(&mut step.description);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }

    /// The one with this name.
    pub fn get(&self, name: &StepName) -> Option<&Step> {
        self.iter().find(|step| step.name == *name)
    }

    /// The default step.
    pub fn default_step(&self) -> Option<&Step> {
        self.iter().find(|step| step.is_default)
    }

    /// Refuses invalid steps, with every fault.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (mut invalid, mut contradictions) = (Vec::new(), Vec::new());
        let (mut names, mut default) = (BTreeSet::new(), None);
        for (at, step) in self.iter().enumerate() {
            let fault = |field: &str, problem: String| Fault { pointer: format!("/steps/{at}{field}"), problem };
            if !names.insert(&step.name) {
                contradictions.push(fault("/name", format!("the name {} is taken by another step", step.name)));
            }
            if step.is_default {
                match default {
                    Some(first) => {
                        let problem = format!("at most one step is the default, and {first} is it");
                        contradictions.push(fault("/is_default", problem));
                    }
                    None => default = Some(&step.name),
                }
            }
            for at in step.unmatchable() {
                let problem = "sequence_match needs a sequence: give the step one, or use tool_used".to_owned();
                contradictions.push(fault(&format!("/conditions/{at}"), problem));
            }
            step.check(&mut |field, problem| invalid.push(fault(field, problem)));
        }
        Error::of(invalid, contradictions)
    }
}

impl Step {
    /// The places of conditions on the step's sequence, if it has none.
    fn unmatchable(&self) -> impl Iterator<Item = usize> {
        let wanting = |condition: &Condition| self.sequence.is_empty() && condition.needs_sequence();
        self.conditions.iter().enumerate().filter(move |(_, one)| wanting(one)).map(|(at, _)| at)
    }

    fn check(&self, fault: &mut impl FnMut(&str, String)) {
        if self.description.len() > INLINE_BYTES {
            fault("/description", format!("use at most {INLINE_BYTES} bytes"));
        }
        for (at, condition) in self.conditions.iter().enumerate() {
            if let Err(problem) = condition.check() {
                fault(&format!("/conditions/{at}"), problem);
            }
        }
        if self.sequence.len() > LOG {
            fault("/sequence", format!("it has {} tools, and {LOG} is the most", self.sequence.len()));
        }
        let AvailableTools { allowed, denied } = &self.available_tools;
        let lists = [("/sequence", &self.sequence), ("/available_tools/denied", denied)];
        for (list, names) in lists.into_iter().chain(allowed.as_ref().map(|names| ("/available_tools/allowed", names)))
        {
            for (at, name) in names.iter().enumerate().filter(|(_, name)| !is_tool_name(name)) {
                fault(&format!("{list}/{at}"), format!("{name:?} is no name of a tool: {TOOL_NAME}"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
