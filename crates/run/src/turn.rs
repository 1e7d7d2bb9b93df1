//! One turn: the request is recorded, the model is asked, and its answer is recorded.

use std::time::Duration;

use callboard_core::{
    command::Command,
    conversation::{
        AsGiven, MessageShape, NewContent, NewMessage, Role, ToolCall,
        thoughts::{SpokenPieces, block_of, split_thoughts},
    },
    count::Usage,
    directive::schema_for::SchemaFor,
    entry::{Actor, Entry},
    error::{ConflictKind, Error as Refusal},
    exact::quote_inexact,
    fact,
    id::{AgentName, ThreadId},
    prompt::{Format, Layout},
    run::{
        Due, Output, Pending, Run, Status, TurnFailure, TurnReply, TurnRequest, next::Ask, turn_facts::TurnRequested,
        view::Delta,
    },
    state::State,
    tool::bundled,
};
use callboard_engine::{Ephemeral, MaskedStream, Measure, PromptSpec, Session};
use callboard_model::{ChatAnswer, ChatRequest, Finish, ModelName, Piece, Provider, ResponseSchema};
use callboard_prompt::{Body, Prompt};
use serde_json::{Map, Value, json};

use crate::{Driver, Error};

/// A turn that is in progress.
struct Turn<'a> {
    run: &'a Run,
    number: u64,
    ask: Ask,
    model: ModelName,
    prompt: Prompt,
}

impl Driver {
    /// Takes a turn. Returns the status of the run. If there is no answer, the run is paused with the reason.
    pub(crate) async fn turn(&self, state: &State, run: &Run, ask: Ask) -> Result<Status, Error> {
        let turn = match self.prepare(state, run, ask).await {
            Ok(turn) => turn,
            Err(Error::Engine(callboard_engine::Error::Refused(refusal))) => {
                return match conflict(&refusal) {
                    // Somebody else drives, ended or paused it. The next look at the journal shows which.
                    Some(ConflictKind::RunTakenOver) => Err(Error::TakenOver),
                    Some(ConflictKind::RunEnded | ConflictKind::TurnNotDue) => Ok(Status::Running),
                    _ => self.pause(&run.id, format!("the next turn cannot begin: {refusal}")).await,
                };
            }
            Err(error) => return Err(error),
        };
        let mut request = request(state, &turn.model, &turn.prompt, turn.ask.turn.uses_tools);
        let output = turn.ask.turn.output;
        request.response_schema =
            output.map(|Output { name, schema }| structured(&turn.model, name, schema(&state.team)));
        let recorded = match self.ask(&turn, &request).await? {
            Ok(answer) => self.record(turn.reply(&answer)).await,
            Err(error) => self.record(turn.failure(error)).await,
        };
        match recorded {
            // For instance, the answer is longer than a journal accepts.
            Err(Error::Engine(callboard_engine::Error::Refused(refusal))) => {
                let error = format!("its answer cannot be stored: {refusal}");
                self.record(turn.failure(error)).await
            }
            recorded => recorded,
        }
    }

    /// The model that `agent` uses in `thread`.
    pub(crate) fn model_of(&self, state: &State, agent: &AgentName, thread: &ThreadId) -> Result<ModelName, Error> {
        let agent = state.team.agent(agent).map_err(callboard_engine::Error::from)?;
        let named = state.threads.model_of(agent, thread).map(str::to_owned);
        let model = named.or_else(|| self.settings.model.clone()).ok_or_else(no_model)?;
        model.parse().map_err(|error: callboard_model::ModelError| invalid(error.to_string()))
    }

    /// Renders the prompt and records that the model is about to be asked. A turn that was recorded before gets the same
    /// prompt.
    async fn prepare<'a>(&self, state: &State, run: &'a Run, ask: Ask) -> Result<Turn<'a>, Error> {
        // Without the secrets, no answer could be taken.
        self.session.mask().await?;
        if let Some(pending) = ask.requested.clone() {
            return self.prepare_again(run, ask, &pending).await;
        }
        let model = self.model_of(state, &ask.agent, &ask.turn.thread)?;
        let spec = self.spec(state, &ask, &model);
        let tools = spec.tools.clone();
        let prompt = self.new_prompt(spec).await?;
        let (id, name, record) = (run.id.clone(), model.to_string(), prompt.record());
        let request = TurnRequest { run: id, epoch: run.epoch, model: name, tools, prompt: record };
        self.session.execute(Actor::System, request).await?;
        Ok(Turn { run, number: run.turns.saturating_add(1), ask, model, prompt })
    }

    /// The prompt that the model needs.
    fn spec(&self, state: &State, ask: &Ask, model: &ModelName) -> PromptSpec {
        PromptSpec {
            at: Some(state.head.seq),
            format: format_for(model),
            agent: Some(ask.agent.clone()),
            thread: Some(ask.turn.thread.clone()),
            layout: ask.turn.layout,
            model: Some(model.to_string()),
            task: ask.turn.task.clone(),
            tools: self.outside.served(bundled(ask.turn.bundle)),
            ..PromptSpec::default()
        }
    }

    async fn prepare_again<'a>(&self, run: &'a Run, ask: Ask, pending: &Pending) -> Result<Turn<'a>, Error> {
        let entry = self.session.entry(pending.requested).await?;
        let requested = entry.as_ref().map(read).transpose()?;
        let requested = requested.ok_or_else(|| invalid(format!("entry {} is missing", pending.requested)))?;
        let model = requested.model.clone().ok_or_else(no_model)?;
        let model: ModelName =
            model.parse().map_err(|error: callboard_model::ModelError| invalid(error.to_string()))?;
        let mut asked = requested.due.as_ref().and_then(Due::turn).unwrap_or_else(|| ask.turn.clone());
        asked.uses_tools &= ask.turn.uses_tools;
        let ask = Ask { turn: asked, ..ask };
        let record = &requested.prompt;
        let spec = requested.prompt_spec().ok_or_else(|| {
            let (requested, format) = (pending.requested, &record.format);
            invalid(format!("entry {requested} has a prompt in the format {format}, which this program does not know"))
        })?;
        let prompt = self.session.prompt(&spec).await?;
        if prompt.sha256() != record.sha256 && prompt.erased.is_empty() {
            let (noted, now) = (record.layout_version, Layout::VERSION);
            let layout = &record.layout;
            tracing::warn!(run = %run.id, turn = pending.turn, layout, noted, now,
                "the prompt differs from the recorded one: this program has version {now} of the layout {layout}, and version {noted} \
                 was recorded");
        }
        Ok(Turn { run, number: pending.turn, ask, model, prompt })
    }

    /// Asks the model. The inner error says why there is no answer. If the run ends meanwhile, this does not wait for the
    /// answer.
    async fn ask(&self, turn: &Turn<'_>, request: &ChatRequest) -> Result<Result<ChatAnswer, String>, Error> {
        let mut masked = MaskedStream::new(self.session.known_mask());
        let mut spoken = SpokenPieces::default();
        let mut tell = |piece: &str| {
            masked.renew(self.session.known_mask());
            self.tell(turn, masked.push(&spoken.push(piece)));
        };
        let timeout = turn.time_left(self.settings.turn_timeout);
        let over = self.session.when(|state| is_over(state, turn.run));
        let answer = tokio::time::timeout(timeout, self.models.chat(request, &mut tell));
        let asked = tokio::select! {
            answer = answer => Ok(match answer {
                Ok(answer) => answer.map_err(|error| error.to_string()),
                Err(_) => Err(format!("it took more than {} seconds", timeout.as_secs())),
            }),
            over = over => Err(self.why_over(over).await),
        };
        let rest = masked.push(&spoken.finish());
        self.tell(turn, rest + &masked.finish());
        asked
    }

    /// Why something under way ended before it was done.
    pub(crate) async fn why_over(&self, over: Option<Error>) -> Error {
        match over {
            Some(error) => error,
            // The session is gone, or the board is closed.
            None => self.session.state().await.err().unwrap_or(callboard_engine::Error::Closed).into(),
        }
    }

    /// Lets listeners hear a piece of what a model says.
    fn tell(&self, turn: &Turn<'_>, text: String) {
        if !text.is_empty() {
            let (run, agent) = (turn.run.id.clone(), turn.ask.agent.clone());
            self.session.tell(Ephemeral::Delta(Delta { run, turn: turn.number, agent, text: text.into() }));
        }
    }

    /// Records the result of a turn. Returns the status of the run.
    pub(crate) async fn record(&self, command: impl Command<Answer = Status>) -> Result<Status, Error> {
        let error = match insist(&self.session, command).await {
            Ok(status) => return Ok(status),
            Err(error) => error,
        };
        let kind = match &error {
            callboard_engine::Error::Refused(refusal) => conflict(refusal),
            _ => None,
        };
        match kind {
            Some(ConflictKind::RunTakenOver) => Err(Error::TakenOver),
            // It is recorded already, or not needed any more. The next look at the journal shows which.
            Some(ConflictKind::RunEnded | ConflictKind::TurnNotPending | ConflictKind::NoToolAwaited) => {
                Ok(Status::Running)
            }
            _ => Err(error.into()),
        }
    }
}

/// Records what a model or a node gave. If the store fails, it tries several times, since that is expensive.
pub(crate) async fn insist<C: Command>(session: &Session, command: C) -> Result<C::Answer, callboard_engine::Error> {
    use callboard_engine::Error::{Busy, Store, Unsettled};
    let mut wait = Duration::from_millis(50);
    loop {
        match session.execute(Actor::System, command.clone()).await {
            Err(error @ (Busy { .. } | Store { .. } | Unsettled { .. })) if wait < Duration::from_secs(5) => {
                tracing::warn!(%error, "what was given could not be stored; trying again");
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            executed => return Ok(executed?.answer),
        }
    }
}

impl Turn<'_> {
    /// The timeout of the answer: at most the time that the limits of the run leave.
    fn time_left(&self, most: Duration) -> Duration {
        let limit = self.run.limits.seconds.map(Duration::from_secs);
        let used = Duration::from_millis(self.run.used.milliseconds);
        limit.map_or(most, |limit| most.min(limit.saturating_sub(used)))
    }

    fn failure(&self, error: String) -> TurnFailure {
        TurnFailure { run: self.run.id.clone(), epoch: self.run.epoch, turn: self.number, error }
    }

    fn reply(&self, answer: &ChatAnswer) -> TurnReply {
        let model = self.model.to_string();
        let record = self.prompt.record();
        let report = answer.usage.and_then(|usage| record.report(&model, usage.prompt_tokens));
        let (thoughts, said) = split_thoughts(&answer.text);
        let reasoning = answer.reasoning.iter().cloned().chain(thoughts.map(block_of)).collect();
        let calls = answer.tool_calls.iter().cloned().map(|made| self.prompt.own_call(call(made)));
        let calls: Vec<_> = calls.collect();
        let messages = in_order(answer, &calls);
        let (text, reasoning, tool_calls) = match messages.is_empty() {
            true => (said.into(), reasoning, calls),
            false => ("".into(), Vec::new(), Vec::new()),
        };
        TurnReply {
            run: self.run.id.clone(),
            epoch: self.run.epoch,
            turn: self.number,
            usage: usage(answer, &model, &self.prompt),
            report,
            cut_off: answer.finish == Finish::Length,
            refused: answer.finish == Finish::ContentFilter,
            text,
            reasoning,
            tool_calls,
            messages,
        }
    }
}

/// The messages of an answer with calls in which the model thought again after it had begun to speak or to call, so that what it
/// thought keeps its place. There are none for any other answer.
pub(crate) fn in_order(answer: &ChatAnswer, calls: &[ToolCall]) -> Vec<NewMessage> {
    let is_thought = |piece: &&Piece| matches!(piece, Piece::Thought(_));
    let thinks_again = answer.pieces.iter().skip_while(is_thought).any(|piece| is_thought(&piece));
    let mut messages: Vec<NewMessage> = Vec::new();
    for piece in answer.pieces.iter().filter(|_| thinks_again && !calls.is_empty()) {
        let goes_on = messages.last().is_some_and(|last| match piece {
            Piece::Thought(_) | Piece::Text(_) => last.content.is_none() && last.tool_calls.is_empty(),
            Piece::Call(_) => true,
        });
        if !goes_on {
            let joined = !messages.is_empty();
            let as_given = Some(AsGiven { shape: MessageShape::Anthropic, joined, fields: Map::new() });
            messages.push(NewMessage { content: None, as_given, ..NewMessage::text(Role::Ai, "") });
        }
        let Some(last) = messages.last_mut() else { continue };
        match piece {
            Piece::Thought(at) => last.reasoning.extend(answer.reasoning.get(*at).cloned()),
            Piece::Text(at) => last.content = answer.text.get(at.clone()).map(|text| NewContent::Text(text.into())),
            Piece::Call(at) => last.tool_calls.extend(calls.get(*at).cloned()),
        }
    }
    messages
}

/// Why what is under way in a run is not needed any more, if so.
pub(crate) fn is_over(state: &State, run: &Run) -> Option<Error> {
    match state.runs.get(&run.id) {
        Ok(now) if !now.has_ended() => (now.epoch != run.epoch).then_some(Error::TakenOver),
        // The run has ended, and perhaps another one was started since.
        Ok(_) | Err(_) => Some(Error::Ended),
    }
}

/// What an answer used, as the provider counted, else as it is counted here.
pub(crate) fn usage(answer: &ChatAnswer, model: &str, prompt: &Prompt) -> Usage {
    match answer.usage {
        Some(callboard_model::Usage { prompt_tokens, completion_tokens, .. }) => {
            Usage { prompt_tokens, completion_tokens }
        }
        None => {
            let completion_tokens = Measure::of(model, prompt.factor).count(&answer.text).0;
            Usage { prompt_tokens: prompt.tokens.0, completion_tokens }
        }
    }
}

/// The request to a model.
pub(crate) fn request(state: &State, model: &ModelName, prompt: &Prompt, uses_tools: bool) -> ChatRequest {
    let mut request = ChatRequest::new(model.clone());
    match &prompt.body {
        Body::Messages(messages) => request.messages.clone_from(messages),
        Body::Anthropic { system, messages } => {
            (request.system, request.messages) = (system.clone(), messages.clone());
        }
        Body::Responses { input, .. } => request.messages.clone_from(input),
        Body::Text(text) => request.messages = vec![json!({"role": "user", "content": text})],
    }
    if uses_tools {
        // The tools as of the prompt, which counts them.
        request.tools = callboard_prompt::tools(Format::OpenAi, &prompt.tools);
    }
    request.max_tokens = state.session.settings.prompt.answer_tokens.map(|tokens| tokens.0);
    if model.provider() == Provider::Anthropic && request.max_tokens.is_none() {
        // It has to be said there, and must fit in the window together with the prompt.
        let Prompt { budget, answer_tokens, tokens, .. } = prompt;
        request.max_tokens = Some(LONG_ANSWER.min((*budget + *answer_tokens).minus(*tokens).0));
    }
    request
}

/// The schema of a model's answer: in the form that its provider enforces, else as it is.
pub(crate) fn structured(model: &ModelName, name: &str, schema: Value) -> ResponseSchema {
    let form = match model.provider() {
        Provider::Anthropic => SchemaFor::Anthropic,
        Provider::OpenAi if callboard_prompt::Provider::of(Some(model.name())).enforces_schemas() => SchemaFor::OpenAi,
        Provider::OpenAi => SchemaFor::Plain,
    };
    let strict = form != SchemaFor::Plain;
    let plain = strict.then(|| schema.clone());
    ResponseSchema { name: name.to_owned(), schema: form.form(schema), strict, plain }
}

/// The most tokens of an answer for a provider that has to be told, where the session does not say and the window has room.
const LONG_ANSWER: u64 = 8192;

/// The format of a model's prompt.
pub(crate) fn format_for(model: &ModelName) -> Format {
    match model.provider() {
        Provider::OpenAi => Format::OpenAi,
        Provider::Anthropic => Format::Anthropic,
    }
}

/// The kind of conflict of a refusal, if it is one.
fn conflict(refusal: &Refusal) -> Option<ConflictKind> {
    if let Refusal::Conflict { kind, .. } = refusal { Some(*kind) } else { None }
}

fn read(entry: &Entry) -> Result<TurnRequested, Error> {
    fact::read(entry).map_err(|error: Refusal| callboard_engine::Error::from(error).into())
}

pub(crate) fn call(call: callboard_model::ToolCall) -> ToolCall {
    let arguments = serde_json::from_str(&quote_inexact(&call.arguments)).unwrap_or(Value::String(call.arguments));
    ToolCall { id: call.id, name: call.name, arguments }
}

fn no_model() -> Error {
    invalid("no model is named: give the agent a model, or set CALLBOARD_MODEL".to_owned())
}

fn invalid(problem: String) -> Error {
    callboard_engine::Error::from(Refusal::invalid("/agents", problem)).into()
}
