//! `POST /v1/sessions/{session}/runs`

use std::sync::Arc;

use callboard_core::{
    command::{Answer as Executed, Command},
    run::{Kind, Limits, NewRun},
    view::View,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::RunBody;
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::StartRun, shape};

/// What is to be done.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewRun)]
pub(crate) struct NewRunBody {
    #[schema(value_type = KindShape)]
    kind: Kind,
    /// It becomes a message of the user's in `main`.
    #[schema(value_type = shape::text::Saying)]
    input: Arc<str>,
    /// As the session says, where they are left out.
    #[schema(value_type = Option<shape::session::LimitsShape>)]
    limits: Option<Limits>,
}

#[derive(ToSchema)]
#[schema(as = RunKind, rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum KindShape {
    Team,
}

/// Start a run
#[utoipa::path(post, path = "/v1/sessions/{session}/runs", tag = "runs", operation_id = "start_run",
    params(("session" = String, Path, description = "The session")),
    request_body = NewRunBody,
    responses((status = CREATED, description = "The run", body = RunBody)))]
pub(crate) async fn start(on: On<StartRun>, asked: Asked<NewRunBody>) -> Result<Answer<RunBody>, Problem> {
    let NewRunBody { kind, input, limits } = asked.body;
    let receipt = on.execute(asked.terms, Command::StartRun(NewRun { kind, input, limits })).await?;
    let Executed::Run(run) = receipt.answer else { return Err(Problem::closing()) };
    let look = |view: View<'_>| Ok(RunBody::seen(&view, view.state.runs.get(&run)?));
    let body = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    on.app.drivers.drive(on.session.clone(), run);
    Ok(Answer::created(body).at(receipt.head))
}
