//! `GET /v1/sessions/{session}/why`

use callboard_core::why::Finding;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{answer::Answer, caller::On, params::Query, problem::Problem, rights::AskWhy, shape};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyQuery {
    /// The text, as it stands somewhere.
    #[param(value_type = shape::text::Saying)]
    text: String,
}

/// Where a text stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct Findings {
    /// The entries in which it stands, the oldest first.
    #[schema(value_type = Vec<shape::entry::FindingShape>)]
    findings: Vec<Finding>,
}

/// Say where a text came from, who was shown it, and what became of it
///
/// It is looked for in what the caller may see: an agent learns nothing that it could not have read.
#[utoipa::path(get, path = "/v1/sessions/{session}/why", tag = "journal", operation_id = "ask_why",
    params(("session" = String, Path, description = "The session"), WhyQuery),
    responses((status = OK, description = "The entries in which the text stands", body = Findings)))]
pub(crate) async fn why(on: On<AskWhy>, Query(query): Query<WhyQuery>) -> Result<Answer<Findings>, Problem> {
    Ok(Answer::ok(Findings { findings: on.session.why(&on.viewer(), &query.text).await? }))
}
