//! `PATCH /v1/sessions/{session}`

use callboard_core::{command::Command, session::SessionPatch};

use super::{SessionBody, known};
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::ChangeSession, shape};

/// Change a session or its team
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "update_session",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<shape::session::SessionPatchShape>,
    responses((status = OK, description = "The session after it", body = SessionBody)))]
pub(crate) async fn update(on: On<ChangeSession>, asked: Asked<SessionPatch>) -> Result<Answer<SessionBody>, Problem> {
    let receipt = on.execute(asked.terms, Command::UpdateSession(asked.body)).await?;
    let look = |view: callboard_core::view::View<'_>| Ok(SessionBody::seen(&view, known(on.session.id(), view.state)));
    let body = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
