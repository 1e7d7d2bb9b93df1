//! `POST /v1/sessions/{session}/files/delegation`

use callboard_files::{Category, Keyword, Query, Recipient, message};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    answer::Answer,
    body::Asked,
    caller::On,
    problem::Problem,
    rights::WriteFiles,
    shape::{file::CategoryShape, text},
};

/// A task that is handed over.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Delegation)]
pub(crate) struct DelegationBody {
    /// The agent that gets it.
    #[schema(value_type = text::ContextFileRecipient)]
    to: Recipient,
    /// What it is to do.
    #[schema(value_type = text::Saying)]
    task: String,
    /// Words under which the files that belong to it are listed. Without any, those that occur in the task count.
    #[serde(default)]
    #[schema(value_type = Vec<text::ContextFileKeyword>, required = false)]
    keywords: Vec<Keyword>,
    /// What the files are for.
    #[schema(value_type = Option<CategoryShape>)]
    category: Option<Category>,
}

/// What to say, and the files that it names.
#[derive(Serialize, ToSchema)]
#[schema(as = DelegationMessage)]
pub(crate) struct DelegationAnswer {
    /// What to say. Where no file fits, it says so.
    message: String,
    /// The paths of the files below the folder of the project.
    files: Vec<String>,
}

/// Say how to hand a task over
#[utoipa::path(post, path = "/v1/sessions/{session}/files/delegation", tag = "context files",
    operation_id = "delegate_with_files",
    params(("session" = String, Path, description = "The session")),
    request_body = DelegationBody,
    responses((status = OK, description = "What to say", body = DelegationAnswer)))]
pub(crate) async fn delegate(
    on: On<WriteFiles>,
    asked: Asked<DelegationBody>,
) -> Result<Answer<DelegationAnswer>, Problem> {
    let DelegationBody { to, task, keywords, category } = asked.body;
    if task.trim().is_empty() {
        return Err(Problem::invalid("/task", "say what is to be done"));
    }
    let query = Query { keywords, category, ..Query::default() };
    let (reader, words) = (to.clone(), task.clone());
    let related = move |session: &mut callboard_files::Session, _| Ok(session.related(&reader, &words, &query));
    let found = on.in_folder(|_| Ok(Vec::new()), related).await?;
    let files: Vec<String> = found.into_iter().map(|file| file.path).collect();
    Ok(Answer::ok(DelegationAnswer { message: message(to.as_str(), &task, &files), files }))
}
