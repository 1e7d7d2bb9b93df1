//! `GET /v1/sessions/{session}/context-sets/{name}`

use callboard_core::id::SetName;

use super::{Seen, SetBody};
use crate::{answer::Answer, caller::On, params::Name, problem::Problem, rights::ReadSets};

/// Read a context set
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "read_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    responses((status = OK, description = "The set", body = SetBody)))]
pub(crate) async fn read(on: On<ReadSets>, Name(name): Name<SetName>) -> Result<Answer<SetBody>, Problem> {
    let seen = on.session.view(&on.viewer(), |view| Ok(Seen::of(view.set(&name)?, &view))).await?;
    Ok(Answer::ok(seen.whole(&on.session).await?))
}
