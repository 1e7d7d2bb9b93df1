//! Turns of runs and of loops of one's own.

use callboard_core::{
    conversation::{
        answer,
        given::{self, ReadCalls},
    },
    directive::Direct,
    id::Seq,
    run::own::{AnswerTurn, TurnOutcome},
};

use crate::{
    body::RepairedBody, call::*, cursor, params::TurnNumber, resources::prompt::prompt_body, rights::ReadSession,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_turns))
        .routes(routes!(read_turn, answer_turn))
        .routes(routes!(read_sent_prompt))
}

/// List turns
///
/// A turn is one request to a model. Listed are the turns of runs, and those recorded by programs that ask models themselves.
/// The user and the manager see all turns; a worker sees those of its own that its program recorded.
#[utoipa::path(get, path = "/v1/sessions/{session}/turns", tag = "turns",
    params(api::TurnsQuery),
    responses((status = OK, description = "The turns, the newest first", body = api::TurnList)))]
async fn list_turns(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::TurnsQuery>,
) -> Result<Answer<api::TurnList>, CallError> {
    let before = query.cursor.as_deref().map(cursor::number).transpose()?.map(Seq);
    let limit = query.limit.unwrap_or(LISTED);
    let turns = caller.session.turns(&caller.viewer(), query.agent.as_ref(), before, limit.saturating_add(1)).await?;
    let mut turns: Vec<_> = turns.into_iter().map(|turn| caller.seen(turn)).collect();
    let next_cursor = cursor::cut(&mut turns, limit, |turn| turn.seq.to_string());
    Ok(Answer::ok(api::TurnList { turns, next_cursor }))
}

/// Read a turn
#[utoipa::path(get, path = "/v1/sessions/{session}/turns/{turn}", tag = "turns",
    params(InPath<TurnNumber>),
    responses((status = OK, description = "The turn", body = api::Turn)))]
async fn read_turn(
    caller: Authorized<ReadSession>,
    InPath(TurnNumber(turn)): InPath<TurnNumber>,
) -> Result<Answer<api::Turn>, CallError> {
    Ok(Answer::ok(caller.seen(caller.session.turn(&caller.viewer(), turn).await?)))
}

/// Send the answer to a recorded prompt
///
/// It becomes a message of the turn's agent in the turn's thread. A manager's answer may be a directive, which is applied
/// behind its message. Only that agent and the user may send it. A turn is answered once: sending the same answer again
/// changes nothing and gives the same result, and another answer is a conflict.
#[utoipa::path(post, path = "/v1/sessions/{session}/turns/{turn}", tag = "turns",
    params(InPath<TurnNumber>),
    request_body = api::TurnAnswer,
    responses((status = OK, description = "What was added", body = api::TurnAnswered)))]
pub(crate) async fn answer_turn(
    caller: Authorized<AnswerTurn>,
    InPath(TurnNumber(turn)): InPath<TurnNumber>,
    RepairedBody { body, options, repaired }: RepairedBody<api::TurnAnswer>,
) -> Result<Answer<api::TurnAnswered>, CallError> {
    let api::TurnAnswer { text, reasoning, tool_calls, message, directive, usage, error } = body;
    let ReadCalls { calls: tool_calls, reasoning: beside } = given::read_calls(tool_calls)?;
    let (messages, own_usage) = message.map(answer::read).transpose()?.unwrap_or_default();
    let reasoning = reasoning.into_iter().chain(beside).collect();
    let usage = usage.map(Into::into).or(own_usage);
    let directive = directive.map(Direct);
    let secrets = Vec::new();
    let answer = AnswerTurn { turn, text, reasoning, tool_calls, messages, directive, usage, error, secrets };
    let receipt = caller.execute(options, answer).await?;
    let TurnOutcome { messages, directed, head } = receipt.answer;
    Ok(Answer::ok(api::TurnAnswered { messages, directed, head, repaired }).at(receipt.head))
}

/// Read the prompt of a turn as it was sent
///
/// It is rendered again from the journal. `as_sent` says whether it is the same byte for byte, and `erased` names the entries
/// whose words were erased since. Only the user may read it.
#[utoipa::path(get, path = "/v1/sessions/{session}/turns/{turn}/prompt", tag = "turns",
    params(InPath<TurnNumber>),
    responses((status = OK, description = "The prompt", body = api::SentPrompt)))]
async fn read_sent_prompt(
    caller: Authorized<ReadSession>,
    InPath(TurnNumber(turn)): InPath<TurnNumber>,
) -> Result<Answer<api::SentPrompt>, CallError> {
    if !caller.is_user() {
        return Err(caller.forbidden("read prompts as they were sent"));
    }
    let sent = caller.session.sent_prompt(turn).await?;
    let api::Turn { agent, thread, model, .. } = sent.turn;
    let prompt = prompt_body(sent.prompt, Some(turn));
    Ok(Answer::ok(api::SentPrompt { agent, thread, model, as_sent: sent.is_as_sent, prompt }))
}

/// How many turns are listed where the caller does not say.
const LISTED: usize = 100;

impl Authorized<ReadSession> {
    /// A turn with what it cost.
    fn seen(&self, turn: api::Turn) -> api::Turn {
        let cost = turn.usage.and_then(|usage| self.app.cost([(turn.model.as_deref(), usage)]));
        api::Turn { cost, ..turn }
    }
}
