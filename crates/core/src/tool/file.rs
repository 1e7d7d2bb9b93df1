//! The tools of models for context files. The folder of the files is outside of the journal, so a tool only says what is to
//! be done there.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::file::{Category, Keyword, Match, Recipient, TaskName};
use crate::{
    error::Error,
    rights::Grant,
    tool::{OwnTool, Read, ToolExecution, forbidden, parse, text},
    view::View,
};

/// What an agent does with the context files of its session.
#[derive(Clone, Debug, PartialEq)]
pub enum FileCall {
    /// It looks for some.
    Find(FindFiles),
    /// It reads one.
    Read(ReadFile),
    /// It adds one.
    Add(AddFile),
    /// It writes the message that hands a task over.
    Delegate(Delegate),
}

/// Which files are looked for: those to which all applies that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FindFiles {
    /// Words under which they are found.
    pub keywords: Vec<Keyword>,
    /// Whether they need all of these words.
    #[serde(rename = "match")]
    pub matching: Match,
    /// Text that they contain.
    pub text: Option<String>,
    /// Their category.
    pub category: Option<Category>,
    /// Whom they are for.
    #[serde(rename = "for")]
    pub recipient: Option<Recipient>,
}

/// Which file is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// Its path, as it is listed.
    pub path: String,
}

/// A new context file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewContextFile))]
#[serde(deny_unknown_fields)]
pub struct AddFile {
    /// Its category. If absent: `general`.
    #[serde(default)]
    pub category: Category,
    /// Its name. The file name is made from it.
    pub name: TaskName,
    /// Its recipient: an agent, or `all`.
    #[serde(rename = "for")]
    pub recipient: Recipient,
    /// The words under which it is found. If empty: its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
    /// The task: what the recipient has to do.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub request: String,
    /// What the recipient has to know for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// The expected result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The constraints that the recipient must respect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
}

/// A task that is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegate {
    /// Who is to do it.
    pub to: Recipient,
    /// What is to be done.
    pub task: String,
    /// Keywords of the files that belong to it.
    #[serde(default)]
    pub keywords: Vec<Keyword>,
}

/// Finds context files.
pub static FIND_FILES: OwnTool = OwnTool {
    name: "find_files",
    description: "Finds context files of this session, whoever they are for. Without arguments it lists all.",
    idempotent: true,
    execution: ToolExecution::Read(|_, arguments| Ok(Read::Files(FileCall::Find(parse(arguments)?)))),
    is_for: |_| true,
    arguments: || {
        let properties = json!({
            "keywords": keywords("Words of which it has one."),
            "text": text("Text that it contains."),
            "category": category(),
            "for": text("Whom it is for."),
        });
        (properties, json!([]))
    },
};

/// Reads a context file.
pub static READ_FILE: OwnTool = OwnTool {
    name: "read_file",
    description: "Reads a context file of this session, whole.",
    idempotent: true,
    execution: ToolExecution::Read(|_, arguments| Ok(Read::Files(FileCall::Read(parse(arguments)?)))),
    is_for: |_| true,
    arguments: || (json!({"path": text("Its path, as `find_files` gives it.")}), json!(["path"])),
};

/// Adds a context file.
pub(crate) static ADD_FILE: OwnTool = OwnTool {
    name: "add_file",
    description: "Writes a context file for another agent: when a task is handed over that takes more than two sentences, or could be misread.",
    idempotent: false,
    execution: ToolExecution::Read(|view, arguments| {
        check(view, "add context files")?;
        let add: AddFile = parse(arguments)?;
        if add.request.trim().is_empty() {
            return Err(Error::invalid("/arguments/request", "say what is to be done"));
        }
        Ok(Read::Files(FileCall::Add(add)))
    }),
    is_for: may_write,
    arguments: || {
        let properties = json!({
            "category": category(),
            "name": text("What it is about, such as `user-auth`. The file is named after it."),
            "for": text("Whom it is for: an agent, or `all`."),
            "keywords": keywords("Words under which it is found."),
            "request": text("What is to be done."),
            "background": text("What one has to know for it."),
            "expected": text("What is to come of it."),
            "constraints": text("What has to be kept to."),
        });
        (properties, json!(["name", "for", "request"]))
    },
};

/// Writes the message that hands a task over.
pub(crate) static DELEGATE: OwnTool = OwnTool {
    name: "delegate",
    description: "Writes the message that hands a task over to another agent, with the paths of the context files that belong to the task. It sends nothing.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        check(view, "delegate with context files")?;
        let delegate: Delegate = parse(arguments)?;
        if delegate.task.trim().is_empty() {
            return Err(Error::invalid("/arguments/task", "say what the agent has to do"));
        }
        Ok(Read::Files(FileCall::Delegate(delegate)))
    }),
    is_for: may_write,
    arguments: || {
        let properties = json!({
            "to": text("The agent that is to do it."),
            "task": text("What is to be done."),
            "keywords": keywords("Keywords of the files that belong to it; those that occur in the task where they are left out."),
        });
        (properties, json!(["to", "task"]))
    },
};

/// The names of all of them.
pub(crate) const ALL: [&str; 4] = [FIND_FILES.name, READ_FILE.name, ADD_FILE.name, DELEGATE.name];

fn may_write(view: &View<'_>) -> bool {
    view.is_in_charge() || view.state.session.settings.grant.contains(&Grant::Files)
}

fn check(view: &View<'_>, what: &'static str) -> Result<(), Error> {
    if may_write(view) { Ok(()) } else { Err(forbidden(view, what)) }
}

fn keywords(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn category() -> Value {
    json!({"type": "string", "enum": Category::ALL.map(Category::as_str), "description": "What kind of task it is about."})
}
