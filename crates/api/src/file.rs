//! Context files.

use callboard_core::{
    file::{Category, Keyword, Match, Recipient, TaskName},
    id::SessionId,
    plain_character,
    schema::Saying,
    text_schema,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A context file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextFile {
    /// Its path below the folder of the project.
    pub path: String,
    /// For whom it is: an agent, or `all`.
    #[serde(rename = "for")]
    pub recipient: String,
    /// Under which words it is found.
    pub keywords: Vec<String>,
    /// When it was added.
    #[schema(format = DateTime)]
    pub created: String,
    /// The session whose file it is.
    #[schema(value_type = String)]
    pub session_id: SessionId,
    /// What it says, where one file is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Context files.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextFileList {
    /// The files.
    pub files: Vec<ContextFile>,
}

/// Which files are wanted: those for which everything holds that is said.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// Words under which they are listed, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<ContextFileKeywords>)]
    pub keywords: Option<String>,
    /// `any`: one of the words has to fit; `all`: all of them.
    #[serde(default, rename = "match")]
    #[param(value_type = Option<Match>)]
    pub matching: Match,
    /// What they are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// For whom they are.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub recipient: Option<Recipient>,
    /// What stands in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What a file is to be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContextFile {
    /// What it is for; `general` where it is left out.
    #[serde(default)]
    pub category: Category,
    /// What it is called.
    pub name: TaskName,
    /// For whom it is: an agent, or `all`.
    #[serde(rename = "for")]
    pub recipient: Recipient,
    /// Under which words it is found; its name, where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
    /// What is to be done.
    #[schema(value_type = Saying)]
    pub request: String,
    /// What one has to know for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// What is to come of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
}

/// Where a file is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextFileAdded {
    /// Its path below the folder of the project.
    pub path: String,
    /// The session whose file it is.
    #[schema(value_type = String)]
    pub session_id: SessionId,
}

/// A task that is handed over.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// The agent that gets it.
    pub to: Recipient,
    /// What it is to do.
    #[schema(value_type = Saying)]
    pub task: String,
    /// Words under which the files that belong to it are listed. Without any, those that occur in the task count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
    /// What the files are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
}

/// What to say, and the files that it names.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DelegationMessage {
    /// What to say. Where no file fits, it says so.
    pub message: String,
    /// The paths of the files below the folder of the project.
    pub files: Vec<String>,
}

/// The schema of lists of keywords.
struct ContextFileKeywords;

/// Some keywords, or nothing between the commas.
const KEYWORDS: &str = concat!("^", plain_character!(","), "{0,100}(,", plain_character!(","), "{0,100})*$");

text_schema! {
    /// Words with commas between them.
    ContextFileKeywords as "ContextFileKeywords", |text| text.pattern(Some(KEYWORDS));
}
