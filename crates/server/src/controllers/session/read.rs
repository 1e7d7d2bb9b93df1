//! `GET /v1/sessions/{session}`

use super::SessionBody;
use crate::{answer::Answer, caller::On, problem::Problem, rights::ReadSession};

/// Read a session
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "read_session",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The session, as far as the caller may know it", body = SessionBody)))]
pub(crate) async fn read(on: On<ReadSession>) -> Result<Answer<SessionBody>, Problem> {
    let info = on.session.info().await?;
    let head = info.head;
    let body = on.session.view(&on.viewer(), |view| Ok(SessionBody::seen(&view, info))).await?;
    Ok(Answer::ok(body).at(head))
}
