//! The list of Callboard's own tools, and calls of them.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    OwnTool, PREFIX, ToolExecution, browser, context_set, conversation, document, file, memory, plan, recall, variable,
    workflow,
};
use crate::{
    agent::{DIRECTOR, Tool},
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::ToolCall,
    conversation::call_secrets::{ARGUMENTS, CallJson, Part, TakenSecrets},
    error::Error,
    exact::quote_inexact,
    input::InputVisitor,
    rights::Right,
};

/// All of Callboard's own tools.
pub static OWN_TOOLS: &[&OwnTool] = &[
    &context_set::READ_CONTEXT_SET,
    &context_set::WRITE_CONTEXT_SET,
    &document::READ_DOCUMENT,
    &memory::MEMORY,
    &conversation::READ_MESSAGES,
    &conversation::READ_MESSAGE,
    &recall::RECALL,
    &recall::SEARCH,
    &file::FIND_FILES,
    &file::READ_FILE,
    &file::ADD_FILE,
    &file::DELEGATE,
    &variable::GET_WORKFLOW_VARIABLE,
    &variable::SET_VARIABLE,
    &variable::CLEAR_VARIABLE,
    &variable::CLEAR_ALL_VARIABLES,
    &plan::UPDATE_PLAN,
    &plan::GET_CURRENT_PLAN,
    &workflow::CREATE_NODE,
    &workflow::UPDATE_NODE,
    &workflow::DELETE_NODE,
    &workflow::GET_NODE,
    &workflow::GET_NODE_RESULT,
    &workflow::TEST_SINGLE_NODE,
    &browser::INSPECT_TAB,
    &browser::DEBUG_NAVIGATE,
    &browser::DEBUG_ACTION,
    &browser::DEBUG_OPEN_TAB,
    &browser::DEBUG_CLOSE_TAB,
    &browser::DEPLOY_SCOUT,
];

/// The bundle of the tools that read what was said and shared.
pub const READ: &str = "read";

/// The bundle of all of them.
pub const ALL: &str = "all";

/// The names of all of them.
static ALL_TOOLS: LazyLock<Vec<&'static str>> = LazyLock::new(|| OWN_TOOLS.iter().map(|tool| tool.name).collect());

/// The tools that read what was said and shared.
const READ_TOOLS: &[&str] = &[
    context_set::READ_CONTEXT_SET.name,
    document::READ_DOCUMENT.name,
    conversation::READ_MESSAGES.name,
    conversation::READ_MESSAGE.name,
    recall::RECALL.name,
    recall::SEARCH.name,
    file::FIND_FILES.name,
    file::READ_FILE.name,
];

/// The tools that a director works with.
static DIRECTOR_TOOLS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let own = [
        plan::UPDATE_PLAN.name,
        plan::GET_CURRENT_PLAN.name,
        workflow::CREATE_NODE.name,
        workflow::UPDATE_NODE.name,
        workflow::DELETE_NODE.name,
        workflow::GET_NODE.name,
        workflow::GET_NODE_RESULT.name,
        workflow::TEST_SINGLE_NODE.name,
        variable::GET_WORKFLOW_VARIABLE.name,
        variable::SET_VARIABLE.name,
        variable::CLEAR_VARIABLE.name,
        variable::CLEAR_ALL_VARIABLES.name,
    ];
    own.iter().chain(browser::ALL).chain(READ_TOOLS).copied().collect()
});

/// Shows what becomes the value of a variable in the arguments of a tool.
type Show = fn(&mut Value, &mut dyn InputVisitor);

/// The tools whose arguments have what becomes the value of a variable, each with what shows it.
const SETTING: &[(&str, Show)] = &[
    (variable::SET_VARIABLE.name, variable::show),
    (workflow::CREATE_NODE.name, workflow::show),
    (workflow::UPDATE_NODE.name, workflow::show),
];

/// Whether a tool's arguments have what becomes the value of a variable.
pub(crate) fn sets_variable(tool: &str) -> bool {
    SETTING.iter().any(|(name, _)| *name == tool)
}

/// The tools of the bundle with this name.
fn bundle(name: &str) -> Option<&'static [&'static str]> {
    match name {
        READ => Some(READ_TOOLS),
        ALL => Some(ALL_TOOLS.as_slice()),
        DIRECTOR => Some(DIRECTOR_TOOLS.as_slice()),
        _ => None,
    }
}

/// The names of the tools of this bundle; none where none is named.
pub fn bundled(name: Option<&str>) -> &'static [&'static str] {
    name.and_then(bundle).unwrap_or_default()
}

/// The names, as models know them, of Callboard's own tools that are named here, with `callboard:` before them or without;
/// a bundle stands for those in it.
pub fn own_names(named: &[String]) -> Result<BTreeSet<Arc<str>>, Error> {
    let mut names = BTreeSet::new();
    for (at, name) in named.iter().enumerate() {
        let bare = name.strip_prefix(PREFIX).unwrap_or(name);
        match bundle(bare) {
            Some(bundle) => names.extend(bundle.iter().copied().map(Arc::from)),
            None => {
                let unknown =
                    |_| Error::invalid(format!("/tools/{at}"), format!("Callboard has no tool {name:?} of its own"));
                names.insert(own_tool(bare).map_err(unknown)?.name.into());
            }
        }
    }
    Ok(names)
}

/// The tool that models call `name`.
pub fn own_tool(name: &str) -> Result<&'static OwnTool, Error> {
    OWN_TOOLS.iter().copied().find(|tool| tool.name == name).ok_or_else(|| Error::not_found("tool", name))
}

impl Tool {
    /// What models call it.
    pub fn bare_name(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    /// The tool of Callboard's own that it names, if any.
    pub fn own(&self) -> Option<&'static OwnTool> {
        own_tool(self.name.strip_prefix(PREFIX)?).ok()
    }

    /// The bundle of Callboard's own tools that it names, if any.
    fn bundle(&self) -> Option<&'static [&'static str]> {
        bundle(self.name.strip_prefix(PREFIX)?)
    }

    /// Callboard's own tools that it names: one, those of a bundle, or none.
    fn owns(&self) -> impl Iterator<Item = &'static OwnTool> {
        let of_bundle = self.bundle().into_iter().flatten().filter_map(|name| own_tool(name).ok());
        self.own().into_iter().chain(of_bundle)
    }

    /// The tool as models are told of it.
    pub(crate) fn described(&self) -> Self {
        self.own().map_or_else(|| self.clone(), OwnTool::described)
    }

    /// Why it cannot be had, if so: where in it, and what is wrong.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
        let name = self.name.strip_prefix(PREFIX)?;
        if own_tool(name).is_err() && bundle(name).is_none() {
            let all = OWN_TOOLS.iter().map(|tool| format!("{PREFIX}{}", tool.name)).collect::<Vec<_>>().join(", ");
            return Some((
                "/name",
                format!(
                    "Callboard has no tool {name:?} of its own; those it has are: {all}; and {PREFIX}{READ} for all that read what was said and shared, {PREFIX}{DIRECTOR} for all that a director works with, {PREFIX}{ALL} for all of them"
                ),
            ));
        }
        let is_described = !self.description.is_empty() || !self.parameters.is_empty();
        is_described
            .then(|| ("/description", "leave out what Callboard knows of its own tool: name it only".to_owned()))
    }
}

/// Callboard's own tool that a model with these tools calls `name`, if it has it.
pub(crate) fn own_among(tools: &[Tool], name: &str) -> Option<&'static OwnTool> {
    tools.iter().flat_map(Tool::owns).find(|tool| tool.name == name)
}

/// The tools that a model with these may call, each once: where they name a bundle, those in it; and `more` of Callboard's
/// own, by the names that models know.
pub fn offered(tools: &[Tool], more: &BTreeSet<Arc<str>>) -> Vec<Tool> {
    let named = |name: &str| Tool { name: format!("{PREFIX}{name}"), ..Tool::default() };
    let mut offered: Vec<Tool> = Vec::new();
    let each = tools.iter().flat_map(|tool| match tool.bundle() {
        Some(bundle) => bundle.iter().map(|name| named(name)).collect(),
        None => vec![tool.clone()],
    });
    for tool in each.chain(more.iter().map(|name| named(name))) {
        if !offered.iter().any(|other| other.bare_name() == tool.bare_name()) {
            offered.push(tool);
        }
    }
    offered
}

/// A call of one of Callboard's own tools that is a command. It is done with the rights of whoever calls.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTool {
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Value,
}

/// What is wrong with a call is wrong with its arguments.
pub(crate) fn in_arguments(undecided: Undecided) -> Undecided {
    match undecided {
        Undecided::Refused(refusal) => Undecided::Refused(refusal.within("/arguments")),
        missing @ Undecided::MissingEntry(_) => missing,
    }
}

/// What a model is told of its call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolAnswer(pub String);

impl KeptAnswer for ToolAnswer {
    const NAME: &'static str = "tool";
}

impl Command for CallTool {
    type Answer = ToolAnswer;

    const RIGHT: Right = Right::everyone("call tools");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<ToolAnswer, Undecided> {
        match own_tool(&self.name)?.execution {
            ToolExecution::Command(decide) => decide(decision, &self.arguments).map(ToolAnswer).map_err(in_arguments),
            ToolExecution::Read(_) => Err(Error::invalid("/name", format!("{} is not a command", self.name)).into()),
        }
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        input(&self.name, &mut self.arguments, visitor);
    }
}

impl ToolCall {
    /// See [`Command::input`].
    pub(crate) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        input(&self.name, &mut self.arguments, visitor);
    }

    /// Shows the arguments where the tool is the caller's own, and says what was taken out of them. It is call `number` of its
    /// message.
    pub(crate) fn take_secrets(&mut self, number: usize, visitor: &mut dyn InputVisitor) -> Option<TakenSecrets> {
        if own_tool(&self.name).is_ok() {
            return None;
        }
        let json = match &mut self.arguments {
            Value::String(text) => CallJson::Text(text),
            arguments => CallJson::Value(arguments),
        };
        Part::new(&self.id, ARGUMENTS, json).take(&format!("/tool_calls/{number}/arguments"), visitor)
    }
}

/// Shows the arguments of a call of the tool `name`. Models give them as an object, or as the text of one.
fn input(name: &str, arguments: &mut Value, visitor: &mut dyn InputVisitor) {
    let Some((_, show)) = SETTING.iter().find(|(tool, _)| *tool == name) else {
        return match arguments {
            Value::String(text) => visitor.answer(text),
            arguments => visitor.json(arguments),
        };
    };
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str(&quote_inexact(text)).ok());
    let is_text = parsed.is_some();
    let mut object = parsed.unwrap_or_else(|| std::mem::take(arguments));
    show(&mut object, visitor);
    visitor.json(&mut object);
    *arguments = if is_text { Value::String(object.to_string()) } else { object };
}
