//! Turns of runs and of loops of one's own.

use callboard_api as api;
use callboard_core::{
    conversation::{answer, given},
    id::Seq,
    run::own::AnswerTurn,
};
use callboard_engine::TurnView;

use super::{
    Answer, Authorized, CallError, WriteOptions, cursor,
    prompt::prompt_body,
    rights::{AnswerTurns, Rank, ReadTurns},
};

/// How many turns are listed where the caller does not say.
const LISTED: usize = 100;

impl Authorized<ReadTurns> {
    pub(crate) async fn list_turns(&self, query: api::TurnsQuery) -> Result<Answer<api::TurnList>, CallError> {
        let before = query.cursor.as_deref().map(cursor::number).transpose()?.map(Seq);
        let limit = query.limit.unwrap_or(LISTED);
        let turns = self.session.turns(&self.viewer(), query.agent.as_ref(), before, limit.saturating_add(1)).await?;
        let mut turns: Vec<_> = turns.into_iter().map(|turn| (turn.seq.to_string(), self.seen(turn))).collect();
        let next_cursor = cursor::cut(&mut turns, limit, |(seq, _)| seq);
        Ok(Answer::ok(api::TurnList { turns: turns.into_iter().map(|(_, turn)| turn).collect(), next_cursor }))
    }

    pub(crate) async fn read_turn(&self, turn: Seq) -> Result<Answer<api::Turn>, CallError> {
        Ok(Answer::ok(self.seen(self.session.turn(&self.viewer(), turn).await?)))
    }

    /// What a model was shown then may be hidden from its agent by now.
    pub(crate) async fn read_sent_prompt(&self, turn: Seq) -> Result<Answer<api::SentPrompt>, CallError> {
        if self.rank != Rank::User {
            return Err(self.forbidden("read prompts as they were sent"));
        }
        let sent = self.session.sent_prompt(turn).await?;
        let TurnView { agent, thread, model, .. } = sent.turn;
        let prompt = prompt_body(sent.prompt, Some(turn));
        Ok(Answer::ok(api::SentPrompt { agent, thread, model, as_sent: sent.is_as_sent, prompt }))
    }

    fn seen(&self, turn: TurnView) -> api::Turn {
        let TurnView { seq, at, agent, thread, run, model, tokens, usage, answered, failed } = turn;
        let (run, turn_of_run) = run.unzip();
        let cost = usage.and_then(|usage| self.app.cost([(model.as_deref(), usage)]));
        let usage = usage.map(Into::into);
        api::Turn { turn: seq, agent, thread, seq, at, run, turn_of_run, model, tokens, usage, cost, answered, failed }
    }
}

impl Authorized<AnswerTurns> {
    pub(crate) async fn answer_turn(
        &self,
        turn: Seq,
        body: api::TurnAnswer,
        repaired: Vec<usize>,
        options: WriteOptions,
    ) -> Result<Answer<api::TurnAnswered>, CallError> {
        let api::TurnAnswer { text, reasoning, tool_calls, message, usage, error } = body;
        let calls = given::read_calls(tool_calls)?;
        let (messages, own_usage) = message.map(answer::read).transpose()?.unwrap_or_default();
        let (tool_calls, reasoning) = (calls.calls, reasoning.into_iter().chain(calls.reasoning).collect());
        let usage = usage.map(Into::into).or(own_usage);
        let answer = AnswerTurn { turn, text, reasoning, tool_calls, messages, usage, error };
        let receipt = self.execute(options, answer).await?;
        let outcome = receipt.answer;
        Ok(Answer::ok(api::TurnAnswered { messages: outcome.messages, head: outcome.head, repaired }).at(receipt.head))
    }
}
