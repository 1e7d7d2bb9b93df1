//! Turns outside of runs: whoever drives a model itself says what it is asked with, and what it answered.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    calibration::Report,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::{self, MessageReceipt, NewMessage, Role, ToolCall, call_secrets::TakenSecrets, facts::audience_of},
    count::Usage,
    directive::{self, Direct, Directed, FormRequest, Reading, Received, Recipient},
    entry::{Actor, Entry},
    error::{ConflictKind, Error, Fault},
    fact::{self, Fact},
    id::{AgentName, Seq, ThreadId},
    input::InputVisitor,
    json,
    rights::Right,
    run::{
        PromptRecord,
        outcome::settle_calls,
        turn_facts::{TurnAnswered, TurnFailed, TurnRequested, turn_key},
    },
    text::Text,
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
    /// The server that asks the model, where it is one: see [`TurnRequested::asker`].
    pub asker: Option<Arc<str>>,
}

/// The number of a turn: that of the entry that requested it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnNumber(pub Seq);

impl KeptAnswer for TurnNumber {
    const NAME: &'static str = "turn";
}

/// The command to bring the answer to a turn outside of any run. It becomes a message of the agent, or is a directive.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The manager's directive, in the place of all these. It is applied behind its message, which goes to whom it is for.
    pub directive: Option<Direct>,
    /// What it used, as its provider counted.
    pub usage: Option<Usage>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// What was taken out of its `tool_calls`.
    pub secrets: Vec<TakenSecrets>,
}

/// What came of the answer to a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnOutcome {
    /// The messages that it became.
    pub messages: Vec<MessageReceipt>,
    /// What came of the directive that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<Directed>,
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
        let Self { agent, thread, model, tools, prompt, asker } = self.clone();
        let agent = decision.state.team.agent(&agent)?.name.clone();
        if decision.agent().is_some_and(|by| *by != agent) {
            return Err(forbidden(decision, "note a turn of another agent").into());
        }
        check_speaks(decision, &agent, &thread)?;
        let turn = decision.next_seq();
        let prompt = prompt.recorded_after(decision.state.erased);
        let (run, thread, due) = (None, Some(thread), None);
        decision.record(TurnRequested { run, turn: turn.0, agent, thread, due, model, tools, prompt, asker });
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
            return self.again(decision, &requested, &entry)?.ok_or_else(|| {
                let what = format!("turn {} of {} has another answer already", self.turn, requested.agent);
                let hint = "a turn is answered once: record another turn";
                Error::conflict(ConflictKind::TurnAnswered, what, hint).into()
            });
        }
        let TurnRequested { turn, agent, .. } = requested.clone();
        if let Some(error) = self.error.clone() {
            decision.record(TurnFailed { run: None, turn, agent, error, usage: self.usage });
            return Ok(TurnOutcome { messages: Vec::new(), directed: None, head: decision.state.head.seq });
        }
        let thread = requested.speaks_in().unwrap_or_else(ThreadId::main);
        check_speaks(decision, &agent, &thread)?;
        let by = std::mem::replace(&mut decision.by, Actor::Agent(agent.clone()));
        let (messages, directed) = match &self.directive {
            Some(directive) => direct(decision, &thread, directive)?,
            None => (conversation::decide::say(decision, &thread, &self.said(&requested))?, None),
        };
        decision.by = by;
        let said = self.kept_directive(decision)?;
        let answered = TurnAnswered {
            run: None,
            turn,
            agent,
            said,
            usage: self.usage,
            report: self.report(&requested),
            cut_off: false,
            due: None,
            idle: false,
            message: messages.first().cloned(),
        };
        let copied_from = if answered.said.is_some() { decision.recorded_so_far() } else { Vec::new() };
        decision.copying(copied_from, |decision| decision.record(answered));
        Ok(TurnOutcome { messages, directed, head: decision.state.head.seq })
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        let Self { turn: _, text, reasoning, tool_calls, messages, directive, usage: _, error, secrets } = self;
        messages.iter_mut().enumerate().for_each(|(at, message)| message.input(at, visitor));
        if let Some(text) = text {
            visitor.answer(text);
        }
        conversation::reasoning::input(reasoning, visitor);
        if let Some(directive) = directive {
            directive.input(visitor);
        }
        visitor.text_if_any(error);
        for (number, call) in tool_calls.iter_mut().enumerate() {
            secrets.extend(call.take_secrets(number, visitor));
            // A model's answer is not refused for what it calls things: it would be paid for once more.
            visitor.given_name(&mut call.id);
            visitor.given_name(&mut call.name);
            call.input(visitor);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        let directed = self.directive.iter().flat_map(|directive| {
            let message = directive.0.get("message").and_then(Value::as_str).map(Arc::<str>::from);
            message.into_iter().chain(directive.texts())
        });
        self.text.iter().cloned().chain(self.messages.iter().flat_map(NewMessage::counted)).chain(directed).collect()
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.turn]
    }
}

impl AnswerTurn {
    /// That the model said `text`.
    pub fn text(turn: Seq, text: impl Into<Arc<str>>) -> Self {
        Self { turn, text: Some(text.into()), ..Self::default() }
    }

    /// That there will be no answer, and why.
    pub fn failed(turn: Seq, error: String) -> Self {
        Self { turn, error: Some(error), ..Self::default() }
    }

    /// What is wrong with it, whatever the turn.
    fn check(&self) -> Result<(), Error> {
        let is_blank = self.text.as_ref().is_none_or(|text| text.trim().is_empty());
        let is_said = !self.tool_calls.is_empty() || !self.messages.is_empty() || !self.reasoning.is_empty();
        if self.directive.is_some() && (is_said || self.text.is_some()) {
            let problem =
                "the directive is what the model said: leave `text`, `message`, `tool_calls` and `reasoning` out";
            return Err(Error::contradiction("/directive", problem));
        }
        let says = !is_blank || !self.tool_calls.is_empty() || !self.messages.is_empty() || self.directive.is_some();
        if self.error.is_some() && says {
            let problem = "the turn either has an answer or failed: leave `error` out, or `text` and `tool_calls`";
            return Err(Error::contradiction("/error", problem));
        }
        if self.error.is_none() && !says && self.text.is_none() {
            let problem = "bring what the model said, its `tool_calls`, its `message`, its `directive`, or the `error`";
            return Err(Error::invalid("/text", problem));
        }
        if !self.messages.is_empty()
            && (self.text.is_some() || !self.tool_calls.is_empty() || !self.reasoning.is_empty())
        {
            let problem = "the message has what the model said: leave `text`, `tool_calls` and `reasoning` out";
            return Err(Error::contradiction("/message", problem));
        }
        let deep = self.tool_calls.iter().enumerate().filter(|(_, call)| !json::is_shallow(&call.arguments));
        let fault = |(at, _)| Fault {
            pointer: format!("/tool_calls/{at}/arguments"),
            problem: format!("nest at most {} levels, or give the arguments as a text", json::MAX_DEPTH),
        };
        Error::of(deep.map(fault).collect(), Vec::new())
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
            let secrets = self.secrets.clone();
            messages.push(NewMessage { tool_calls, reasoning, secrets, ..NewMessage::text(Role::Ai, said) });
        }
        messages.iter_mut().for_each(NewMessage::set_thoughts_apart);
        let calls = messages.iter_mut().flat_map(|message| &mut message.tool_calls);
        settle_calls(calls, &requested.prompt.renamed_tools);
        messages
    }

    /// Its directive, as it is kept with the turn.
    fn kept_directive(&self, decision: &mut DecisionBuilder<'_>) -> Result<Option<Text>, Error> {
        let Some(Direct(given)) = &self.directive else { return Ok(None) };
        Text::keep(&given.to_string().into(), "the directive", &mut decision.values).map(Some)
    }

    /// The same outcome again for the same answer; none for another one.
    fn again(
        &self,
        decision: &mut DecisionBuilder<'_>,
        requested: &TurnRequested,
        entry: &Entry,
    ) -> Result<Option<TurnOutcome>, Undecided> {
        let head = entry.header.seq;
        if *entry.header.kind == *TurnFailed::TYPE {
            let failed: TurnFailed = fact::read(entry)?;
            let is_same = Some(&failed.error) == self.error.as_ref() && failed.usage == self.usage;
            return Ok(is_same.then(|| TurnOutcome { messages: Vec::new(), directed: None, head }));
        }
        let answered: TurnAnswered = fact::read(entry)?;
        if answered.said != self.kept_directive(decision)? || answered.usage != self.usage {
            return Ok(None);
        }
        if self.directive.is_some() {
            let messages = answered.message.into_iter().collect();
            return Ok(Some(TurnOutcome { messages, directed: directed_before(decision, head)?, head }));
        }
        let Some(receipt) = answered.message.filter(|_| self.error.is_none()) else { return Ok(None) };
        let thread = requested.speaks_in().unwrap_or_else(ThreadId::main);
        let by = std::mem::replace(&mut decision.by, Actor::Agent(requested.agent.clone()));
        let receipts = self.receipts(decision, &thread, &receipt, requested);
        decision.by = by;
        Ok(receipts?.map(|messages| TurnOutcome { messages, directed: None, head }))
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
}

/// Sends the message of a manager's directive to whom it is for, and applies the directive behind it. What it says to the
/// user goes to `thread`.
fn direct(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    given: &Direct,
) -> Result<(Vec<MessageReceipt>, Option<Directed>), Undecided> {
    decision.allow(Direct::RIGHT)?;
    let Reading { directive, unparsed, .. } = directive::decide::accept(decision, &given.0, "/directive")?;
    let thread = match &directive.message_to {
        Some(Recipient::Agent(name)) => ThreadId::of_agent(name),
        Some(Recipient::User(_)) | None => thread.clone(),
    };
    let said = directive.message.clone().map(|message| NewMessage {
        expected_output: directive.expected_output.clone(),
        ..NewMessage::text(Role::Ai, message)
    });
    let messages: Vec<_> = said.into_iter().collect();
    let receipts = conversation::decide::say(decision, &thread, &messages)?;
    let directed = directive::decide::apply(decision, directive, None, unparsed)?;
    Ok((receipts, Some(directed)))
}

/// What came of the directive that was recorded right before the entry `answered`.
fn directed_before(decision: &DecisionBuilder<'_>, answered: Seq) -> Result<Option<Directed>, Undecided> {
    let entry = decision.entry(Seq(answered.0.saturating_sub(1)))?;
    let Some(entry) = entry.filter(|entry| *entry.header.kind == *Received::TYPE) else { return Ok(None) };
    let Received { outcomes, form, unparsed, .. } = fact::read(&entry)?;
    let form = form.and_then(|name| {
        let fields = decision.state.sets.get(&name)?.set.form.as_ref()?.fields.clone();
        Some(FormRequest { name: Some(name.to_string()), fields, answered: false })
    });
    Ok(Some(Directed { outcomes, form, unparsed }))
}

/// The turn with this number, if whoever asks may answer it.
fn requested(decision: &DecisionBuilder<'_>, turn: Seq) -> Result<TurnRequested, Undecided> {
    let unknown = || Error::not_found("turn", turn);
    if turn.is_zero() || turn >= decision.next_seq() {
        return Err(unknown().into());
    }
    let entry = decision.entry(turn)?.filter(|entry| *entry.header.kind == *TurnRequested::TYPE).ok_or_else(unknown)?;
    decision.view()?.project(&entry)?.ok_or_else(unknown)?;
    let requested: TurnRequested = fact::read(&entry)?;
    if decision.agent().is_some_and(|by| *by != requested.agent) {
        return Err(forbidden(decision, "answer a turn of another agent").into());
    }
    if let Some(run) = &requested.run {
        let what = format!("turn {turn} is one of the run {run}, whose models Callboard asks itself");
        let hint = "answer only turns that a prompt with `record` noted";
        return Err(Error::conflict(ConflictKind::TurnOfRun, what, hint).into());
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
