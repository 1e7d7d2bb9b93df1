//! Turns of runs and of loops of one's own.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RepairedBody,
    calls::{
        Answer, Authorized, CallError,
        rights::{AnswerTurns, ReadTurns},
    },
    params::{Query, TurnNumber},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(read, answer)).routes(routes!(prompt))
}

/// List turns
///
/// A turn is one request to a model. Listed are the turns of runs, and those recorded by programs that ask models themselves.
/// The user and the manager see all turns; a worker sees those of its own that its program recorded.
#[utoipa::path(get, path = "/v1/sessions/{session}/turns", tag = "turns", operation_id = "list_turns",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::TurnsQuery),
    responses((status = OK, description = "The turns, the newest first", body = api::TurnList)))]
async fn list(
    caller: Authorized<ReadTurns>,
    Query(query): Query<api::TurnsQuery>,
) -> Result<Answer<api::TurnList>, CallError> {
    caller.list_turns(query).await
}

/// Read a turn
#[utoipa::path(get, path = "/v1/sessions/{session}/turns/{turn}", tag = "turns", operation_id = "read_turn",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("turn" = u64, Path, description = "The number of the turn", minimum = 1)),
    responses((status = OK, description = "The turn", body = api::Turn)))]
async fn read(caller: Authorized<ReadTurns>, TurnNumber(turn): TurnNumber) -> Result<Answer<api::Turn>, CallError> {
    caller.read_turn(turn).await
}

/// Send the answer to a recorded prompt
///
/// It becomes a message of the turn's agent in the turn's thread. Only that agent and the user may send it. A turn is answered
/// once: sending the same answer again changes nothing and gives the same result, and another answer is a conflict.
#[utoipa::path(post, path = "/v1/sessions/{session}/turns/{turn}", tag = "turns", operation_id = "answer_turn",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("turn" = u64, Path, description = "The number of the turn, as `turn` of the recorded prompt", minimum = 1)),
    request_body = api::TurnAnswer,
    responses((status = OK, description = "What was added", body = api::TurnAnswered)))]
async fn answer(
    caller: Authorized<AnswerTurns>,
    TurnNumber(turn): TurnNumber,
    request: RepairedBody<api::TurnAnswer>,
) -> Result<Answer<api::TurnAnswered>, CallError> {
    caller.answer_turn(turn, request.body, request.repaired, request.options).await
}

/// Read the prompt of a turn as it was sent
///
/// It is rendered again from the journal. `as_sent` says whether it is the same byte for byte, and `erased` names the entries
/// whose words were erased since. Only the user may read it.
#[utoipa::path(get, path = "/v1/sessions/{session}/turns/{turn}/prompt", tag = "turns", operation_id = "read_sent_prompt",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("turn" = u64, Path, description = "The number of the turn", minimum = 1)),
    responses((status = OK, description = "The prompt", body = api::SentPrompt)))]
async fn prompt(
    caller: Authorized<ReadTurns>,
    TurnNumber(turn): TurnNumber,
) -> Result<Answer<api::SentPrompt>, CallError> {
    caller.read_sent_prompt(turn).await
}
