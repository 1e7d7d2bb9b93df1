//! `POST /v1/sessions/{session}/runs/{run}/tool-results`

use callboard_core::{command::Command, id::RunId, view::View};
use serde::Deserialize;
use utoipa::ToSchema;

use super::RunBody;
use crate::{answer::Answer, body::Asked, caller::On, params::Name, problem::Problem, rights::BringResults};

/// What tools gave.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolResults {
    results: Vec<ToolResult>,
}

/// What one call of a tool gave.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ToolResult {
    /// The `id` of the call.
    tool_call_id: String,
    /// What it gave, as the model is to read it.
    content: String,
}

/// Bring the results of tool calls that a run waits for
#[utoipa::path(post, path = "/v1/sessions/{session}/runs/{run}/tool-results", tag = "runs",
    operation_id = "bring_tool_results",
    params(("session" = String, Path, description = "The session"), ("run" = String, Path, description = "The run")),
    request_body = ToolResults,
    responses((status = OK, description = "The run after it", body = RunBody)))]
pub(crate) async fn bring(
    on: On<BringResults>,
    Name(run): Name<RunId>,
    asked: Asked<ToolResults>,
) -> Result<Answer<RunBody>, Problem> {
    let results = asked.body.results.into_iter().map(|result| (result.tool_call_id, result.content)).collect();
    let receipt = on.execute(asked.terms, Command::ToolResults(run.clone(), results)).await?;
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
