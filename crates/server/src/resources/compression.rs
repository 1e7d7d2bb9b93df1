//! Compressing threads, undoing that, pins, and how large prompts are.

use axum::response::{IntoResponse, Response};
use callboard_core::{
    agent::Agent,
    compression::{
        Compression, CompressionSettings,
        decide::{Compress, UndoCompression},
        pin::{Pin, PinMessage, UnpinMessage},
    },
    conversation::shape::in_shape,
    error::Error as Refusal,
    id::{AgentName, MessageId, Seq, ThreadId},
    prompt::Format,
    tool::bundled,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, PromptSpec, window_of};
use callboard_model::ModelName;
use callboard_prompt::{PartReport, compression::plan::Aim};
use callboard_run::{Compressing, Compressor, Extent};

use crate::{call::*, params::EntryNumber, resources::prompt::sees_all_of, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(compress_thread))
        .routes(routes!(undo_compression))
        .routes(routes!(read_thread_context))
        .routes(routes!(read_message))
        .routes(routes!(pin_message, unpin_message))
}

/// Replace the older messages of a thread with a summary in prompts
///
/// The messages stay in the journal and can be read; prompts show the summary instead. The newest messages, pinned
/// messages, and calls of tools that wait for results are kept. If no model writes a good summary, it is made of
/// excerpts.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/compress", tag = "threads",
    params(InPath<ThreadId>),
    request_body = Option<api::Compress>,
    responses((status = OK, description = "The result", body = api::CompressAnswer)))]
async fn compress_thread(
    caller: Authorized<Compress>,
    InPath(thread): InPath<ThreadId>,
    RequestBody { body, options }: RequestBody<api::Compress>,
) -> Result<Answer<api::CompressAnswer>, CallError> {
    if let Some(model) = &body.model {
        model.parse::<ModelName>().map_err(|error| Refusal::invalid("/model", error.to_string()))?;
        // The model's endpoint would be told a secret in it.
        caller.session.check_name("/model", model).await?;
    }
    let preview = body.preview;
    let extent = if preview { Extent::Preview } else { Extent::Record };
    let wanted = caller.compressing(&thread, body, extent).await?;
    let compressor = caller.compressor();
    let compress = async || Ok(compressor.compress(wanted.clone()).await?);
    let answer = match preview {
        true => compress().await?,
        false => caller.idempotent(&options, async |_| compress().await).await?,
    };
    Ok(Answer::ok(answer))
}

/// Undo the newest compression of a thread
///
/// Prompts show the messages again. Callboard does not compress them by itself until a prompt would not fit.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/compressions/{seq}/undo", tag = "threads",
    params(InPath<ThreadId>, InPath<EntryNumber>),
    responses((status = OK, description = "The compression is undone", body = api::UndoneCompression)))]
async fn undo_compression(
    caller: Authorized<UndoCompression>,
    InPath(thread): InPath<ThreadId>,
    InPath(EntryNumber(seq)): InPath<EntryNumber>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::UndoneCompression>, CallError> {
    let head = caller.execute(options, UndoCompression { thread, seq }).await?.head;
    Ok(Answer::ok(api::UndoneCompression { seq, head }).at(head))
}

/// Show how large the prompts of a thread are
///
/// The user and the manager are also told what compressing the thread would save.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/context", tag = "threads",
    params(InPath<ThreadId>),
    responses((status = OK, description = "Their sizes, and those of their parts", body = api::ContextSize)))]
async fn read_thread_context(
    caller: Authorized<ReadSession>,
    InPath(thread): InPath<ThreadId>,
) -> Result<Answer<api::ContextSize>, CallError> {
    let (readers, settings, usual, newest) = caller
        .session
        .view(&caller.viewer(), |view| {
            let held = view.thread(&thread)?;
            let settings = view.state.session.settings.compression.clone();
            let usual = view.state.session.settings.prompt.budget_in(DEFAULT_WINDOW);
            let newest = held.compression.newest().map(|head| head.seq);
            Ok((readers(&view, &thread), settings, usual, newest))
        })
        .await?;
    let mut agents = Vec::new();
    for agent in readers {
        agents.push(caller.context_of(agent, &thread, &settings).await?);
    }
    let mut size = match agents.first() {
        Some(first) => {
            let thresholds = settings.thresholds(first.window);
            api::ContextSize::new(first.tokens, first.parts.clone(), thresholds)
        }
        None => {
            // No agent sees it: there is no prompt, only messages.
            let tokens = caller.session.view(&Viewer::User, |view| Ok(view.size(view.thread(&thread)?).tokens)).await?;
            let part = PartReport { name: "history".to_owned(), tokens, shortened: false, omitted: Vec::new() };
            api::ContextSize::new(tokens, vec![part], settings.thresholds(usual))
        }
    };
    if caller.in_charge {
        let wanted = caller.compressing(&thread, api::Compress::default(), Extent::Plan).await?;
        match caller.compressor().compress(wanted).await {
            Ok(Compression { messages, tokens_before, tokens_after, .. }) => {
                size.compression = Some(api::PossibleCompression { messages, tokens_before, tokens_after, newest });
            }
            // More is pinned than there is room for, for instance.
            Err(callboard_run::Error::Engine(callboard_engine::Error::Refused(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer::ok(api::ContextSize { agents, ..size }))
}

/// Read a message
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}", tag = "messages",
    params(InPath<ThreadId>, InPath<MessageId>, api::ShapeQuery),
    responses((status = OK, description = "The message", body = api::AnyMessage)))]
async fn read_message(
    caller: Authorized<ReadSession>,
    InPath(thread): InPath<ThreadId>,
    InPath(message): InPath<MessageId>,
    Query(query): Query<api::ShapeQuery>,
) -> Result<Response, CallError> {
    let message = caller.session.message(&caller.viewer(), &thread, &message).await?;
    Ok(match query.shape.map(|shape| in_shape(shape, std::slice::from_ref(&message))) {
        Some(objects) => Answer::ok(objects.into_iter().next()).into_response(),
        None => Answer::ok(message).into_response(),
    })
}

/// Pin a message: compression keeps it word for word
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}/pin", tag = "messages",
    params(InPath<ThreadId>, InPath<MessageId>),
    responses((status = OK, description = "It is pinned", body = api::Pinned)))]
async fn pin_message(
    caller: Authorized<PinMessage>,
    InPath(thread): InPath<ThreadId>,
    InPath(message): InPath<MessageId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Pinned>, CallError> {
    let pin: PinMessage = caller.pin(thread, message).await?;
    let head = caller.execute(options, pin.clone()).await?.head;
    Ok(Answer::ok(api::Pinned { message_id: pin.message, seq: pin.seq, pinned: true }).at(head))
}

/// Unpin a message
#[utoipa::path(delete, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}/pin", tag = "messages",
    params(InPath<ThreadId>, InPath<MessageId>),
    responses((status = OK, description = "It is not pinned", body = api::Pinned)))]
async fn unpin_message(
    caller: Authorized<UnpinMessage>,
    InPath(thread): InPath<ThreadId>,
    InPath(message): InPath<MessageId>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Pinned>, CallError> {
    let pin: UnpinMessage = caller.pin(thread, message).await?;
    let head = caller.execute(options, pin.clone()).await?.head;
    Ok(Answer::ok(api::Pinned { message_id: pin.message, seq: pin.seq, pinned: false }).at(head))
}

impl<R> Authorized<R> {
    /// How a thread is compressed as `body` says, and where that says nothing, as the session does: for whoever reads the thread
    /// first, within the window of its model.
    async fn compressing(
        &self,
        thread: &ThreadId,
        body: api::Compress,
        extent: Extent,
    ) -> Result<Compressing, CallError> {
        let api::Compress { target_tokens, keep_recent_tokens, model, method, preview: _ } = body;
        let default_model = self.app.settings.runs.model.clone();
        let (target, usual) = self
            .session
            .view(&self.viewer(), |view| {
                let held = view.thread(thread)?;
                let (state, team) = (view.state, &view.state.team);
                let model_of = |agent| state.threads.model_of(agent, thread);
                let settings = &state.session.settings;
                let first = readers(&view, thread).first().and_then(|name| team.agent(name).ok());
                let window = first.and_then(model_of).or(default_model.as_deref()).and_then(window_of);
                let budget = settings.prompt.budget_in(window.unwrap_or(DEFAULT_WINDOW));
                let target = settings.compression.target_for(budget, held.compression.pinned_tokens());
                let of_manager = || team.manager().and_then(model_of).map(str::to_owned);
                Ok((target, settings.compression.model.clone().or_else(of_manager)))
            })
            .await?;
        let model = model.or(usual).or_else(|| default_model.clone());
        Ok(Compressing {
            thread: thread.clone(),
            aim: Aim { target: target_tokens.unwrap_or(target), keep_recent: keep_recent_tokens },
            model: model.filter(|_| method != Some(api::WantedMethod::Extractive)),
            by: self.actor.clone(),
            extent,
            default_model,
            layout: None,
            behind: Seq::ZERO,
        })
    }

    fn compressor(&self) -> Compressor {
        Compressor { session: self.session.clone(), models: self.app.settings.models.clone() }
    }

    /// The message to be pinned or unpinned.
    async fn pin<const PINNED: bool>(&self, thread: ThreadId, message: MessageId) -> Result<Pin<PINNED>, CallError> {
        let seq = self.session.message(&self.viewer(), &thread, &message).await?.seq;
        Ok(Pin { thread, message, seq })
    }
}

impl Authorized<ReadSession> {
    async fn context_of(
        &self,
        agent: AgentName,
        thread: &ThreadId,
        settings: &CompressionSettings,
    ) -> Result<api::AgentContext, CallError> {
        let default_model = self.app.settings.runs.model.clone();
        let state = self.session.state().await?;
        // As the agent is asked in runs, where it speaks there in one of this kind.
        let turn = state.runs.newest().and_then(|run| run.kind.first_turn());
        let turn =
            turn.filter(|turn| turn.thread == *thread && turn.agent(&state.team).is_ok_and(|asked| asked == agent));
        let (layout, bundle) = turn.map_or((None, None), |turn| (turn.layout, turn.bundle));
        let mut query = PromptSpec {
            agent: Some(agent.clone()),
            thread: Some(thread.clone()),
            layout,
            // A text has no tools beside it.
            format: if bundle.is_none() { Format::Text } else { Format::OpenAi },
            tools: self.app.outside.served(bundled(bundle)),
            default_model,
            ..PromptSpec::default()
        };
        self.session.observe(&mut query, &self.app.outside).await?;
        let prompt = self.session.prompt(&query).await?;
        let thresholds = settings.thresholds(prompt.budget);
        let last_turn = match state.runs.last_requested(&agent).filter(|_| self.in_charge) {
            Some(requested) => Some(last_turn(self.session.turn(&Viewer::User, requested).await?)),
            None => None,
        };
        Ok(api::AgentContext {
            agent,
            tokens: prompt.tokens,
            parts: prompt.parts,
            window: prompt.budget,
            warn_at: thresholds.warn,
            compress_at: thresholds.compress,
            last_turn,
        })
    }
}

fn last_turn(turn: api::Turn) -> api::LastTurn {
    let api::Turn { seq, run, turn_of_run, tokens, usage, failed, .. } = turn;
    let usage = usage.filter(|_| !failed);
    api::LastTurn {
        run,
        turn: turn_of_run.unwrap_or(seq.0),
        tokens,
        prompt_tokens: usage.map(|usage| usage.prompt_tokens),
        completion_tokens: usage.map(|usage| usage.completion_tokens),
    }
}

/// Whose prompts are measured: those of all agents that see the thread, as far as whoever looks may know them. First
/// comes its own, or the manager's.
fn readers(view: &View<'_>, thread: &ThreadId) -> Vec<AgentName> {
    let Ok(held) = view.thread(thread) else { return Vec::new() };
    let team = &view.state.team;
    let manager = team.manager().map(|manager| &manager.name);
    let first = view.agent().or(manager);
    let names =
        first.into_iter().chain(team.agents().map(|agent: &Agent| &agent.name).filter(|name| Some(*name) != first));
    let is_known = |name: &&AgentName| match view.agent() {
        None => true,
        Some(own) => own == *name || (view.is_in_charge() && sees_all_of(view, name)),
    };
    names.filter(|name| held.sight.audience.contains(name)).filter(is_known).cloned().collect()
}
