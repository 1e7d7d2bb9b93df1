//! Prompts.

use std::sync::Arc;

use callboard_core::{
    context_set::SetView,
    entry::Hash,
    error::{ConflictKind, Error as Refusal},
    id::{AgentName, Seq},
    run::own::BeginTurn,
    tool::own_names,
    view::View,
};
use callboard_engine::PromptSpec;
use callboard_prompt::{Body, PlacedPiece, Prompt};
use callboard_run::Driver;

use crate::{
    call::*,
    rights::{Permission, ReadSession},
    write_options::WriteOptions,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(build_prompt))
}

/// Build an agent's prompt
///
/// With `record` it is recorded as a turn: do that when a model is about to be asked with it, and send the answer to
/// `POST …/turns/{turn}`.
///
/// It has at most `budget` tokens. If not even the required parts fit, the answer is 422 and names each part with its size.
#[utoipa::path(post, path = "/v1/sessions/{session}/prompt", tag = "prompts",
    request_body = Option<api::PromptBody>,
    responses((status = OK, description = "The prompt", body = api::Prompt)))]
async fn build_prompt(
    caller: Authorized<ReadSession>,
    RequestBody { body, options }: RequestBody<api::PromptBody>,
) -> Result<Answer<api::Prompt>, CallError> {
    let api::PromptBody { agent, thread, layout, model, budget, at, recall, query, format, record, tools, pieces } =
        body;
    let tools = caller.app.outside.served(own_names(&tools)?);
    let spec =
        PromptSpec { agent, thread, layout, model, budget, at, format, recall, query, tools, ..PromptSpec::default() };
    match record {
        true => caller.record_turn(spec, None, pieces, options).await,
        false => caller.prompt(spec, pieces).await.map(Answer::ok),
    }
}

/// Notes a turn whose model is asked with a prompt as of an earlier entry; or with what a program wrote itself, which has the hash
/// `sent`. Nothing is compressed for it. The server with the name `asker` asks the model.
pub(crate) async fn note(
    caller: &Authorized<ReadSession>,
    spec: &PromptSpec,
    sent: Option<Hash>,
    asker: Arc<str>,
) -> Result<api::Prompt, CallError> {
    let prompt = caller.session.prompt(spec).await?;
    let mut begin = BeginTurn { asker: Some(asker), ..prompt.begin_turn(spec.tools.clone()) };
    if let Some(sent) = sent {
        // What a provider counts of another text teaches nothing about this one.
        (begin.prompt.sha256, begin.prompt.factor) = (sent, None);
    }
    let receipt = caller.execute(WriteOptions::default(), begin).await?;
    Ok(prompt_body(prompt, Some(receipt.answer.0)))
}

impl Authorized<ReadSession> {
    /// Builds a prompt.
    pub(crate) async fn prompt(&self, mut spec: PromptSpec, pieces: bool) -> Result<api::Prompt, CallError> {
        self.check_at(&spec)?;
        spec.agent = whose(self, spec.agent, "build the prompts of others").await?;
        self.prepare(&mut spec).await?;
        if spec.at.is_none() {
            self.session.observe(&mut spec, &self.app.outside).await?;
        }
        Ok(with_pieces(self.session.prompt(&spec).await?, None, pieces))
    }

    fn check_at(&self, spec: &PromptSpec) -> Result<(), CallError> {
        let is_refused = spec.at.is_some() && !self.is_user();
        if is_refused { Err(self.forbidden("build prompts as of an earlier entry")) } else { Ok(()) }
    }

    async fn prepare(&self, spec: &mut PromptSpec) -> Result<(), CallError> {
        if let (Some(files), None) = (&self.app.files, spec.at) {
            files.observe(&self.session).await?;
        }
        spec.default_model.clone_from(&self.app.settings.runs.model);
        Ok(())
    }

    /// Whose turn is recorded: an agent's own, or the one that the user names.
    fn whose_turn(&self, named: Option<AgentName>) -> Result<Option<AgentName>, CallError> {
        let Some(own) = self.agent() else { return Ok(named) };
        let is_own = named.is_none_or(|named| named == *own);
        if is_own { Ok(Some(own.clone())) } else { Err(self.forbidden("record the turns of others")) }
    }

    /// Builds a prompt and records it as a turn. The server with the name `asker` asks the model, or else whoever calls.
    pub(crate) async fn record_turn(
        &self,
        mut spec: PromptSpec,
        asker: Option<Arc<str>>,
        pieces: bool,
        options: WriteOptions,
    ) -> Result<Answer<api::Prompt>, CallError> {
        self.check_at(&spec)?;
        spec.agent = self.whose_turn(spec.agent)?;
        self.prepare(&mut spec).await?;
        if spec.at.is_some() {
            let problem = "a turn is recorded as of now: leave `at` or `record` out";
            return Err(Refusal::contradicting(ConflictKind::Contradiction, "/at", problem).into());
        }
        self.expect(&options).await?;
        let (models, settings) = (self.app.settings.models.clone(), self.app.settings.runs.clone());
        let driver = Driver::new(self.session.clone(), models, settings).with(self.app.outside.clone());
        let (prompt, begin) = driver.own_turn(spec).await?;
        // Room may have been made for it, which is no change of somebody else.
        let options = WriteOptions { expected: options.expected.map(|_| prompt.seq), ..options };
        let receipt = self.execute(options, BeginTurn { asker, ..begin }).await?;
        let turn = receipt.answer.0;
        // The request was made before: its turn is there, and so is what was sent then.
        let prompt = if turn <= prompt.seq { self.session.sent_prompt(turn).await?.prompt } else { prompt };
        Ok(Answer::ok(with_pieces(prompt, Some(turn), pieces)).at(receipt.head))
    }
}

/// A prompt as it is given out, and, if they are wanted, the pieces of its text.
fn with_pieces(prompt: Prompt, turn: Option<Seq>, wanted: bool) -> api::Prompt {
    let pieces = wanted.then(|| pieces(&prompt));
    api::Prompt { pieces, ..prompt_body(prompt, turn) }
}

/// Where the pieces of a prompt stand, in characters.
fn pieces(prompt: &Prompt) -> Vec<api::PromptPiece> {
    let mut pieces = Vec::with_capacity(prompt.pieces.len());
    for of_text in prompt.pieces.chunk_by(|one, next| one.message == next.message) {
        let Some(message) = of_text.first().map(|piece| piece.message) else { continue };
        let (text, mut chars) = (prompt.body.texts(message).concat(), 0);
        for piece in of_text {
            let start = chars;
            chars += text.get(piece.bytes.clone()).map_or(0, |piece| piece.chars().count() as u64);
            let PlacedPiece { part, seq, tokens, shortened, message, .. } = piece;
            pieces.push(api::PromptPiece {
                part: part.to_string(),
                seq: *seq,
                tokens: *tokens,
                message: *message,
                start,
                end: chars,
                shortened: *shortened,
            });
        }
    }
    pieces
}

/// A prompt as it is given out, with the number of its turn.
pub(super) fn prompt_body(prompt: Prompt, turn: Option<Seq>) -> api::Prompt {
    let tools = callboard_prompt::tools(prompt.format, &prompt.tools);
    let (mut text, mut messages, mut system, mut responses) = (None, None, None, None);
    match prompt.body {
        Body::Text(whole) => text = Some(whole),
        Body::Messages(all) => messages = Some(all),
        Body::Responses { instructions, input } => responses = Some((instructions, input)),
        Body::Anthropic { system: blocks, messages: all } => (messages, system) = (Some(all), Some(blocks)),
    }
    let (instructions, input) = responses.unzip();
    api::Prompt {
        seq: prompt.seq,
        turn,
        budget: prompt.budget,
        answer_tokens: prompt.answer_tokens,
        tokens: prompt.tokens,
        reusable_prefix_tokens: prompt.reusable_prefix_tokens,
        counting: prompt.counting,
        vocabulary: prompt.vocabulary,
        factor: prompt.factor,
        parts: prompt.parts,
        pieces: None,
        text,
        instructions,
        input,
        messages,
        system,
        tools,
        erased: prompt.erased,
        rewritten: prompt.rewritten,
    }
}

/// Through whose eyes to look. An agent looks through its own. The manager may also look through those that see nothing hidden
/// from it. `what` is what others may not.
pub(super) async fn whose<R: Permission>(
    caller: &Authorized<R>,
    named: Option<AgentName>,
    what: &'static str,
) -> Result<Option<AgentName>, CallError> {
    let Some(own) = caller.agent() else { return Ok(named) };
    let Some(named) = named.filter(|named| named != own) else { return Ok(Some(own.clone())) };
    let look = |view: View<'_>| Ok(sees_all_of(&view, &view.state.team.agent(&named)?.name));
    let may = caller.in_charge && caller.session.view(&caller.viewer(), look).await?;
    if may { Ok(Some(named)) } else { Err(caller.forbidden(what)) }
}

/// Whether the viewer sees, and has always seen, all sets and threads that `other` sees.
pub(super) fn sees_all_of(view: &View<'_>, other: &AgentName) -> bool {
    let mut sets = view.state.sets.iter().filter(|held| held.sight.audience.contains(other));
    let mut threads = view.state.threads.iter().filter(|(_, thread)| thread.sight.audience.contains(other));
    sets.all(|held| view.set(&held.set.name).is_ok_and(|seen| matches!(seen, SetView::Whole(_))))
        && threads.all(|(name, thread)| view.thread(name).is_ok() && view.size(thread) == thread.size())
}
