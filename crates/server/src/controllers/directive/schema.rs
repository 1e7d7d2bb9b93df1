//! `GET /v1/sessions/{session}/directives/schema`

use callboard_core::directive::schema as directive;
use serde_json::Value;

use crate::{answer::Answer, caller::On, problem::Problem, rights::ReadSchema};

/// Read the JSON Schema of directives, for the team as it is now
#[utoipa::path(get, path = "/v1/sessions/{session}/directives/schema", tag = "directives",
    operation_id = "read_directive_schema",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The JSON Schema", body = Object)))]
pub(crate) async fn schema(on: On<ReadSchema>) -> Result<Answer<Value>, Problem> {
    let state = on.session.state().await?;
    Ok(Answer::ok(directive::schema(&state.team)))
}
