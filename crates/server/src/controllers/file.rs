//! Context files.

pub(super) mod add;
pub(super) mod delegate;
pub(super) mod list;
pub(super) mod read;
pub(super) mod remove;
pub(super) mod search;

use axum::http::StatusCode;
use callboard_core::{id::SessionId, time::Timestamp};
use callboard_files::{Category, Error, Found, Keyword, Match, Project, Query, Recipient, Session};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    caller::On,
    files::{self, Files},
    params,
    problem::Problem,
    shape::{
        file::{CategoryShape, MatchShape},
        text,
    },
};

/// A context file.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextFile)]
pub(crate) struct FileBody {
    /// Its path below the folder of the project.
    path: String,
    /// For whom it is: an agent, or `all`.
    #[serde(rename = "for")]
    recipient: String,
    /// Under which words it is found.
    keywords: Vec<String>,
    /// When it was added.
    #[schema(format = DateTime)]
    created: String,
    #[schema(value_type = String)]
    session_id: SessionId,
    /// What it says, where one file is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// Context files.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextFileList)]
pub(crate) struct FileList {
    files: Vec<FileBody>,
}

/// Which files are wanted: those for which everything holds that is said.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilesQuery {
    /// Words under which they are listed, with commas between them.
    #[param(value_type = Option<text::ContextFileKeywords>)]
    keywords: Option<String>,
    /// `any`: one of the words has to fit; `all`: all of them.
    #[serde(default, rename = "match")]
    #[param(value_type = Option<MatchShape>)]
    matching: Match,
    /// What they are for.
    #[param(value_type = Option<CategoryShape>)]
    category: Option<Category>,
    /// For whom they are.
    #[serde(rename = "for")]
    #[param(value_type = Option<text::ContextFileRecipient>)]
    recipient: Option<Recipient>,
    /// What stands in them.
    text: Option<String>,
}

impl From<Found> for FileBody {
    fn from(found: Found) -> Self {
        let Found { path, recipient, keywords, created, session_id } = found;
        Self { path, recipient, keywords, created, session_id, content: None }
    }
}

impl FilesQuery {
    fn parse(self) -> Result<Query, Problem> {
        let Self { keywords, matching, category, recipient, text } = self;
        let keywords = params::words(keywords.as_deref()).map(str::parse).collect::<Result<Vec<Keyword>, _>>()?;
        Ok(Query { keywords, matching, category, recipient, text })
    }
}

/// The folder of the project, where the server has one.
fn files(app: &App) -> Result<&Files, Problem> {
    app.files.as_ref().ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "no_project", "this server has no folder of a project")
            .hint("start it with --project DIR")
    })
}

/// Whether a path leads to no file: what cannot be the path of one is the path of nothing.
fn is_nothing(problem: &Problem) -> bool {
    ["not_found", "invalid", "outside"].contains(&problem.code)
}

fn absent(path: &str) -> Problem {
    Problem::not_found(format!("there is no context file {path}"))
}

impl<R> On<R> {
    /// Works with the folder of the session, which is a use of it, and notes what is there then. `otherwise` is what
    /// comes of it where there is no folder.
    async fn in_folder<T: Send + 'static>(
        &self,
        otherwise: impl FnOnce(Error) -> Result<T, Error> + Send + 'static,
        work: impl FnOnce(&mut Session, Timestamp) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let files = files(&self.app)?;
        let (id, now) = (self.session.id().clone(), files::now(&self.app.board).await?);
        let work = move |project: &Project| match project.session(&id) {
            Ok(mut session) => {
                session.touch(now)?;
                work(&mut session, now)
            }
            Err(error @ Error::NoSession { .. }) => otherwise(error),
            Err(error) => Err(error),
        };
        let done = files.with(work).await?;
        files.observe(&self.session).await?;
        Ok(done)
    }

    /// Those of some files that the caller may see.
    async fn seen(&self, found: Vec<Found>) -> Result<Vec<FileBody>, Problem> {
        let may = move |view: callboard_core::view::View<'_>| {
            Ok(found.into_iter().filter(|file| view.may_see_file_for(&file.recipient)).collect::<Vec<_>>())
        };
        let seen = self.session.view(&self.viewer(), may).await?;
        Ok(seen.into_iter().map(FileBody::from).collect())
    }
}
