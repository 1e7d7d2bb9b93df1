//! `PUT /v1/sessions/{session}/threads/{thread}`

use callboard_core::{audience::Audience, command::Command, id::ThreadId};
use serde::Deserialize;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{answer::Answer, body::Asked, caller::On, params::Name, problem::Problem, rights::ChangeThread, shape};

/// Who is to see a thread.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PutThread)]
pub(crate) struct PutBody {
    #[schema(value_type = shape::AudienceShape)]
    visible_to: Audience,
}

/// Who sees a thread.
#[derive(Serialize, ToSchema)]
#[schema(as = ThreadAudience)]
pub(crate) struct PutAnswer {
    #[schema(value_type = String)]
    name: ThreadId,
    #[schema(value_type = shape::AudienceShape)]
    visible_to: Audience,
}

/// Say who sees a thread; it is made where there is none
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads", operation_id = "put_thread",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    request_body = PutBody,
    responses((status = OK, description = "Who sees it from now on", body = PutAnswer)))]
pub(crate) async fn put(
    on: On<ChangeThread>,
    Name(name): Name<ThreadId>,
    asked: Asked<PutBody>,
) -> Result<Answer<PutAnswer>, Problem> {
    let visible_to = asked.body.visible_to;
    let receipt = on.execute(asked.terms, Command::PutThread(name.clone(), visible_to.clone())).await?;
    Ok(Answer::ok(PutAnswer { name, visible_to }).at(receipt.head))
}
