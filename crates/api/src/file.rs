//! Context files.

use callboard_core::{
    file::{Category, FoundFile, Keyword, Match, Recipient},
    id::SessionId,
    plain_character,
    schema::Saying,
    text_schema,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A list of context files.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextFileList {
    /// The files.
    pub files: Vec<FoundFile>,
}

/// Selects the files that match all of the given parameters.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// Keywords of the file, separated by commas.
    #[param(value_type = Option<ContextFileKeywords>)]
    pub keywords: Option<String>,
    /// `any`: the file has at least one of the keywords; `all`: it has all of them.
    #[serde(default, rename = "match")]
    #[param(value_type = Option<Match>)]
    pub matching: Match,
    /// The category of the file.
    pub category: Option<Category>,
    /// The recipient of the file.
    #[serde(rename = "for")]
    pub recipient: Option<Recipient>,
    /// Text that the file contains, in any case.
    pub text: Option<String>,
}

/// A context file that was added.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextFileAdded {
    /// Its path, relative to the project folder.
    pub path: String,
    /// The session that it belongs to.
    #[schema(value_type = String)]
    pub session_id: SessionId,
}

/// A task to hand over.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// The agent that gets the task.
    pub to: Recipient,
    /// What the agent has to do.
    #[schema(value_type = Saying)]
    pub task: String,
    /// Keywords of the files that belong to the task. If empty: the keywords that occur in the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
    /// Only files of this category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
}

/// The message that hands a task over.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DelegationMessage {
    /// The message. It says so if no file belongs to the task.
    pub message: String,
    /// The paths of the files that the message names, relative to the project folder.
    pub files: Vec<String>,
}

/// The schema of lists of keywords.
#[derive(Debug)]
pub struct ContextFileKeywords;

/// Some keywords, or nothing between the commas.
const KEYWORDS: &str = concat!("^", plain_character!(","), "{0,100}(,", plain_character!(","), "{0,100})*$");

text_schema! {
    /// Keywords, separated by commas.
    ContextFileKeywords as "ContextFileKeywords", |text| text.pattern(Some(KEYWORDS));
}
