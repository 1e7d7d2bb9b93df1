//! `POST /v1/sessions/{session}/files`

use callboard_core::id::SessionId;
use callboard_files::{Category, Keyword, NewFile, Parts, Project, Recipient, TaskName, Template};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::files;
use crate::{
    answer::Answer,
    body::Asked,
    caller::On,
    files::now,
    problem::Problem,
    rights::WriteFiles,
    shape::{file::CategoryShape, text},
};

/// What a file is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewContextFile)]
pub(crate) struct NewFileBody {
    /// What it is for; `general` where it is left out.
    #[serde(default)]
    #[schema(value_type = CategoryShape, required = false)]
    category: Category,
    /// What it is called.
    #[schema(value_type = text::ContextFileName)]
    name: TaskName,
    /// For whom it is: an agent, or `all`.
    #[serde(rename = "for")]
    #[schema(value_type = text::ContextFileRecipient)]
    recipient: Recipient,
    /// Under which words it is found; its name, where there are none.
    #[serde(default)]
    #[schema(value_type = Vec<text::ContextFileKeyword>, required = false)]
    keywords: Vec<Keyword>,
    /// What is to be done.
    #[schema(value_type = text::Saying)]
    request: String,
    /// What one has to know for it.
    background: Option<String>,
    /// What is to come of it.
    expected: Option<String>,
    /// What limits it.
    constraints: Option<String>,
}

/// Where a file is.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextFileAdded)]
pub(crate) struct AddedFile {
    /// Its path below the folder of the project.
    path: String,
    #[schema(value_type = String)]
    session_id: SessionId,
}

/// Write a context file
#[utoipa::path(post, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "add_file",
    params(("session" = String, Path, description = "The session")),
    request_body = NewFileBody,
    responses((status = CREATED, description = "Where it is", body = AddedFile)))]
pub(crate) async fn add(on: On<WriteFiles>, asked: Asked<NewFileBody>) -> Result<Answer<Value>, Problem> {
    let NewFileBody { category, name, recipient, keywords, request, background, expected, constraints } = asked.body;
    let parts = Parts { request, background, expected, constraints };
    let file = NewFile { category, name, recipient, keywords, parts, template: Template::default() };
    let added = on.once(&asked.terms, async |again| write(&on, file, again).await).await?;
    Ok(Answer::created(added))
}

/// Writes a file. One that is there already may be what the same request wrote before.
async fn write(on: &On<WriteFiles>, file: NewFile, again: bool) -> Result<Value, Problem> {
    let (files, id) = (files(&on.app)?, on.session.id().clone());
    let now = now(&on.app.board).await?;
    let add = move |project: &Project| {
        let mut session = project.session_or_new(&id, now)?;
        let written = if again { session.has(&file)? } else { None };
        let path = written.map_or_else(|| session.add(&file, now), Ok)?;
        Ok(AddedFile { path: session.shown(path.as_str()), session_id: id })
    };
    let added = files.with(add).await?;
    files.observe(&on.session).await?;
    Ok(json!(added))
}
