//! Turns outside of runs: whoever drives a model itself says what it is asked with, and what it answered.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    calibration::Report,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::{self, MessageReceipt, NewMessage, Role, ToolCall, facts::audience_of},
    count::Usage,
    entry::{Actor, Entry},
    error::{ConflictKind, Error, Fault},
    fact::{self, Fact},
    id::{AgentName, Seq, ThreadId},
    input::InputVisitor,
    json,
    rights::Right,
    run::{
        PromptRecord,
        tools::settle_calls,
        turn_facts::{TurnAnswered, TurnFailed, TurnRequested, turn_key},
    },
    view::View,
};

/// The command to note that a model is about to be asked outside of any run. The answer is the number of the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct BeginTurn {
    /// Whose model it is.
    pub agent: AgentName,
    /// The thread in which the agent speaks.
    pub thread: ThreadId,
    /// The model, where it is known.
    pub model: Option<String>,
    /// Callboard's own tools that are offered besides those of the agent.
    pub tools: BTreeSet<Arc<str>>,
    /// The prompt that it gets.
    pub prompt: PromptRecord,
}

/// The number of a turn: that of the entry that requested it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnNumber(pub Seq);

impl KeptAnswer for TurnNumber {
    const NAME: &'static str = "turn";
}

/// The command to bring the answer to a turn outside of any run. It becomes a message of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerTurn {
    /// The turn.
    pub turn: Seq,
    /// What the model said.
    pub text: Option<Arc<str>>,
    /// What it thought before, in blocks as its provider gave them.
    pub reasoning: Vec<Map<String, Value>>,
    /// What it calls.
    pub tool_calls: Vec<ToolCall>,
    /// What it said, thought and called as messages, in the place of the three: what is in the object that its provider gave.
    pub messages: Vec<NewMessage>,
    /// What it used, as its provider counted.
    pub usage: Option<Usage>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// What came of the answer to a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnOutcome {
    /// The messages that it became.
    pub messages: Vec<MessageReceipt>,
    /// The number of the newest entry of the journal once it was noted.
    pub head: Seq,
}

impl KeptAnswer for TurnOutcome {
    const NAME: &'static str = "turn_outcome";
}

impl Command for BeginTurn {
    type Answer = TurnNumber;

    const RIGHT: Right = Right::everyone("record turns");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<TurnNumber, Undecided> {
        let Self { agent, thread, model, tools, prompt } = self.clone();
        let agent = decision.state.team.agent(&agent)?.name.clone();
        if decision.agent().is_some_and(|by| *by != agent) {
            return Err(forbidden(decision, "note a turn of another agent").into());
        }
        check_speaks(decision, &agent, &thread)?;
        let turn = decision.next_seq();
        let thread = Some(thread);
        decision.record(TurnRequested { run: None, turn: turn.0, agent, thread, due: None, model, tools, prompt });
        Ok(TurnNumber(turn))
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        if let Some(model) = &self.model {
            visitor.name(format_args!("/model"), model);
        }
    }
}

impl Command for AnswerTurn {
    type Answer = TurnOutcome;

    const RIGHT: Right = Right::everyone("answer turns");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<TurnOutcome, Undecided> {
        let requested = requested(decision, self.turn)?;
        self.check()?;
        let key = turn_key(self.turn);
        if let Some(seq) = decision.context.lookups.keys.get(key.as_str()).copied() {
            let entry = decision.entry(seq)?.ok_or_else(|| Error::not_found("entry", seq))?;
            return self.again(decision, &requested, &entry);
        }
        let TurnRequested { turn, agent, .. } = requested.clone();
        if let Some(error) = self.error.clone() {
            decision.record(TurnFailed { run: None, turn, agent, error, usage: self.usage });
            return Ok(TurnOutcome { messages: Vec::new(), head: decision.state.head.seq });
        }
        let thread = requested.speaks_in().unwrap_or_else(ThreadId::main);
        check_speaks(decision, &agent, &thread)?;
        let by = std::mem::replace(&mut decision.by, Actor::Agent(agent.clone()));
        let messages = conversation::decide::say(decision, &thread, &self.said(&requested))?;
        decision.by = by;
        decision.record(TurnAnswered {
            run: None,
            turn,
            agent,
            said: None,
            usage: self.usage,
            report: self.report(&requested),
            cut_off: false,
            due: None,
            idle: false,
            message: messages.first().cloned(),
        });
        Ok(TurnOutcome { messages, head: decision.state.head.seq })
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        let Self { turn: _, text, reasoning, tool_calls, messages, usage: _, error } = self;
        messages.iter_mut().enumerate().for_each(|(at, message)| message.input(at, visitor));
        if let Some(text) = text {
            visitor.answer(text);
        }
        conversation::reasoning::input(reasoning, visitor);
        visitor.text_if_any(error);
        for call in tool_calls {
            // A model's answer is not refused for what it calls things: it would be paid for once more.
            visitor.text(&mut call.id);
            visitor.text(&mut call.name);
            call.input(visitor);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        self.text.iter().cloned().chain(self.messages.iter().flat_map(NewMessage::counted)).collect()
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.turn]
    }
}

impl AnswerTurn {
    /// What is wrong with it, whatever the turn.
    fn check(&self) -> Result<(), Error> {
        let is_blank = self.text.as_ref().is_none_or(|text| text.trim().is_empty());
        let says = !is_blank || !self.tool_calls.is_empty() || !self.messages.is_empty();
        if self.error.is_some() && says {
            let problem = "the turn either has an answer or failed: leave `error` out, or `text` and `tool_calls`";
            return Err(Error::contradicting(ConflictKind::Contradiction, "/error", problem));
        }
        if self.error.is_none() && !says && self.text.is_none() {
            let problem = "bring what the model said, its `tool_calls`, its `message`, or the `error`";
            return Err(Error::invalid("/text", problem));
        }
        if !self.messages.is_empty()
            && (self.text.is_some() || !self.tool_calls.is_empty() || !self.reasoning.is_empty())
        {
            let problem = "the message has what the model said: leave `text`, `tool_calls` and `reasoning` out";
            return Err(Error::contradicting(ConflictKind::Contradiction, "/message", problem));
        }
        let mut faults = Vec::new();
        for (at, call) in self.tool_calls.iter().enumerate() {
            let mut fault = |field: &str, problem: String| {
                faults.push(Fault { pointer: format!("/tool_calls/{at}/{field}"), problem });
            };
            if !json::is_shallow(&call.arguments) {
                let most = json::MAX_DEPTH;
                fault("arguments", format!("nest at most {most} levels, or give the arguments as a text"));
            }
        }
        Error::of(faults, Vec::new())
    }

    /// What its usage teaches about the tokens of the model.
    fn report(&self, requested: &TurnRequested) -> Option<Report> {
        requested.prompt.report(requested.model.as_deref()?, self.usage?.prompt_tokens)
    }

    /// The messages that it becomes. Each call has an id of its own, and tools have their own names again.
    fn said(&self, requested: &TurnRequested) -> Vec<NewMessage> {
        let mut messages = self.messages.clone();
        if messages.is_empty() {
            let said = self.text.clone().unwrap_or_else(|| "".into());
            let (tool_calls, reasoning) = (self.tool_calls.clone(), self.reasoning.clone());
            messages.push(NewMessage { tool_calls, reasoning, ..NewMessage::text(Role::Ai, said) });
        }
        messages.iter_mut().for_each(NewMessage::set_thoughts_apart);
        let calls = messages.iter_mut().flat_map(|message| &mut message.tool_calls);
        settle_calls(calls, &requested.prompt.renamed_tools);
        messages
    }

    /// The same outcome again for the same answer.
    fn again(
        &self,
        decision: &mut DecisionBuilder<'_>,
        requested: &TurnRequested,
        entry: &Entry,
    ) -> Result<TurnOutcome, Undecided> {
        let head = entry.header.seq;
        if *entry.header.kind == *TurnFailed::TYPE {
            let failed: TurnFailed = fact::read(entry)?;
            if Some(&failed.error) == self.error.as_ref() && failed.usage == self.usage {
                return Ok(TurnOutcome { messages: Vec::new(), head });
            }
            return Err(self.answered_otherwise(requested).into());
        }
        let answered: TurnAnswered = fact::read(entry)?;
        let Some(receipt) = answered.message.filter(|_| self.error.is_none() && answered.usage == self.usage) else {
            return Err(self.answered_otherwise(requested).into());
        };
        let thread = requested.speaks_in().unwrap_or_else(ThreadId::main);
        let by = std::mem::replace(&mut decision.by, Actor::Agent(requested.agent.clone()));
        let receipts = self.receipts(decision, &thread, &receipt, requested);
        decision.by = by;
        match receipts? {
            Some(messages) => Ok(TurnOutcome { messages, head }),
            None => Err(self.answered_otherwise(requested).into()),
        }
    }

    /// Where the messages of the answer are of which the first has a receipt; none where they say something else.
    fn receipts(
        &self,
        decision: &mut DecisionBuilder<'_>,
        thread: &ThreadId,
        first: &MessageReceipt,
        requested: &TurnRequested,
    ) -> Result<Option<Vec<MessageReceipt>>, Undecided> {
        let mut receipts = Vec::new();
        for (message, seq) in self.said(requested).iter().zip(first.seq.0..) {
            let seq = Seq(seq);
            let receipt = match seq == first.seq {
                true => Some(first.clone()),
                false => conversation::decide::receipt(decision, thread, seq)?,
            };
            let Some(receipt) = receipt else { return Ok(None) };
            if !conversation::decide::says(decision, thread, &receipt, message)? {
                return Ok(None);
            }
            receipts.push(receipt);
        }
        Ok(Some(receipts))
    }

    fn answered_otherwise(&self, requested: &TurnRequested) -> Error {
        Error::Conflict {
            kind: ConflictKind::TurnAnswered,
            what: format!("turn {} of {} has another answer already", self.turn, requested.agent),
            hint: "a turn is answered once: record another turn",
        }
    }
}

/// The turn with this number, if whoever asks may answer it.
fn requested(decision: &DecisionBuilder<'_>, turn: Seq) -> Result<TurnRequested, Undecided> {
    let unknown = || Error::not_found("turn", turn);
    if turn.is_zero() || turn >= decision.next_seq() {
        return Err(unknown().into());
    }
    let entry = decision.entry(turn)?.filter(|entry| *entry.header.kind == *TurnRequested::TYPE).ok_or_else(unknown)?;
    let viewer = decision.by.clone().into();
    View::new(&decision.state, &viewer, decision.context.count)?.project(&entry)?.ok_or_else(unknown)?;
    let requested: TurnRequested = fact::read(&entry)?;
    if decision.agent().is_some_and(|by| *by != requested.agent) {
        return Err(forbidden(decision, "answer a turn of another agent").into());
    }
    if let Some(run) = &requested.run {
        return Err(Error::Conflict {
            kind: ConflictKind::TurnOfRun,
            what: format!("turn {turn} is one of the run {run}, whose models Callboard asks itself"),
            hint: "answer only turns that a prompt with `record` noted",
        }
        .into());
    }
    Ok(requested)
}

/// Refuses to let an agent speak in a thread that it does not see.
fn check_speaks(decision: &DecisionBuilder<'_>, agent: &AgentName, thread: &ThreadId) -> Result<(), Error> {
    decision.state.team.agent(agent)?;
    match audience_of(&decision.state, thread).contains(agent) {
        true => Ok(()),
        false => Err(Error::not_found("thread", thread)),
    }
}

fn forbidden(decision: &DecisionBuilder<'_>, what: &'static str) -> Error {
    Error::Forbidden { who: decision.by.called().to_owned(), what, hint: "only that agent and the user may" }
}
