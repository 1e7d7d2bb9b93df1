//! `PUT /v1/sessions/{session}/threads/{thread}`

use callboard_core::{audience::Audience, command::Command, error::Error as Refusal, id::ThreadId, view::View};
use serde::Deserialize;
use utoipa::ToSchema;

use super::ThreadBody;
use crate::{answer::Answer, body::Asked, caller::On, params::Name, problem::Problem, rights::ChangeThread, shape};

/// Who is to see a thread.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PutThread)]
pub(crate) struct PutBody {
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
}

/// Say who sees a thread; it is made where there is none
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads", operation_id = "put_thread",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    request_body = PutBody,
    responses((status = OK, description = "Who sees it from now on", body = ThreadBody)))]
pub(crate) async fn put(
    on: On<ChangeThread>,
    Name(name): Name<ThreadId>,
    asked: Asked<PutBody>,
) -> Result<Answer<ThreadBody>, Problem> {
    let receipt = on.execute(asked.terms, Command::PutThread(name.clone(), asked.body.visible_to)).await?;
    let viewer = on.viewer();
    // Whoever hides a thread from himself sees once more what he made of it.
    let look = |view: View<'_>| {
        let thread = view.state.threads.get(&name).ok_or_else(|| Refusal::not_found("thread", &name))?;
        Ok(ThreadBody::seen(&view, &name, thread))
    };
    let body = on.session.view_at(&viewer, receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}
