//! `PATCH /v1/sessions/{session}/orchestration`

use callboard_core::{
    command::Command,
    id::StepName,
    number,
    session::{SessionPatch, Ttl},
    step::{Place, StepsChange},
};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::{OrchestrationBody, change};
use crate::{answer::Answer, body::Asked, caller::On, problem::Problem, rights::GoThroughSteps, shape};

/// Where the team is to be among its steps; what is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OrchestrationPatch)]
pub(crate) struct PatchBody {
    /// The step; entering it starts its sequence. `null` is the default one.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<shape::text::Label>)]
    active_step: Option<Option<StepName>>,
    /// How many tools of the step's sequence were used.
    #[serde(default, deserialize_with = "number::whole_or_none")]
    #[schema(value_type = Option<u64>)]
    sequence_index: Option<usize>,
    /// The inactivity after which the session expires: seconds above 0, or `never`.
    #[schema(value_type = Option<shape::session::TtlShape>)]
    ttl_seconds: Option<Ttl>,
}

/// Set where the team is among its steps
#[utoipa::path(patch, path = "/v1/sessions/{session}/orchestration", tag = "steps",
    operation_id = "update_orchestration",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<PatchBody>,
    responses((status = OK, description = "The state after it", body = OrchestrationBody)))]
pub(crate) async fn update(
    on: On<GoThroughSteps>,
    asked: Asked<PatchBody>,
) -> Result<Answer<OrchestrationBody>, Problem> {
    let PatchBody { active_step, sequence_index, ttl_seconds } = asked.body;
    let place = Command::Steps(StepsChange::Set(Place { active_step, sequence_index }));
    let lifetime = Command::UpdateSession(SessionPatch { ttl_seconds, ..SessionPatch::default() });
    change(&on, asked.terms, Command::All(vec![place, lifetime])).await
}

/// What is there, also where it is `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
