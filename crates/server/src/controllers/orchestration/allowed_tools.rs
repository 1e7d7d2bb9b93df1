//! `POST /v1/sessions/{session}/orchestration/allowed-tools`

use callboard_core::{
    error::Error as Refusal,
    step::offer::{Offer, offer},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::ReadSteps};

/// Tools that somebody has.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Tools)]
pub(crate) struct ToolsBody {
    tools: Vec<String>,
}

/// Which of the tools may be used now.
#[derive(ToSchema)]
#[schema(as = Offer)]
#[allow(dead_code, reason = "it is read by the document alone")]
struct OfferShape {
    allowed: Vec<String>,
    denied: Vec<DeniedShape>,
}

/// A tool that may not be used now.
#[derive(Serialize, ToSchema)]
#[schema(as = DeniedTool)]
struct DeniedShape {
    tool: String,
    reason: String,
}

/// Say which of some tools may be used now
///
/// Where the tool that is due is not among them, the answer is 409, which names it.
#[utoipa::path(post, path = "/v1/sessions/{session}/orchestration/allowed-tools", tag = "steps",
    operation_id = "allowed_tools",
    params(("session" = String, Path, description = "The session")),
    request_body = ToolsBody,
    responses((status = OK, description = "Which may be used, and why others may not", body = OfferShape)))]
pub(crate) async fn allowed_tools(on: On<ReadSteps>, asked: Asked<ToolsBody>) -> Result<Answer<Offer>, Problem> {
    let tools = asked.body.tools;
    let viewer = on.viewer();
    let offered = on.session.view(&viewer, |view| {
        if view.state.session.settings.steps.is_empty() {
            return Err(Refusal::NoSteps);
        }
        offer(view.state, tools.iter().map(String::as_str))
    });
    Ok(Answer::ok(offered.await?))
}
