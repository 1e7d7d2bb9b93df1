//! Compressing a thread: a model writes the summary, and where none does, it is made without one. So it cannot fail.

use std::{sync::Arc, time::Instant};

use callboard_core::{
    audience::Audience,
    compression::{Compression, LEAST_TARGET, Method, Spent, decide::Compress},
    count::Tokens,
    entry::Actor,
    id::{AgentName, Seq, ThreadId},
    prompt::{LayoutName, PartName, PromptSpec},
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, Mask, Measure, Session, sizes, window_of};
use callboard_model::{ChatAnswer, ChatModel, ChatRequest, Finish, ModelName};
use callboard_prompt::{
    Body, Prompt,
    compression::{
        instructions::context,
        material::CompressionScope,
        plan::{Aim, CompressionPlan, Outlook, Shortcoming, Summary, Writing},
    },
};
use serde_json::{Value, json};

use crate::Error;

/// A budget in which all of a history fits.
pub(crate) const WHOLE: Tokens = Tokens(1 << 40);

/// How often a model is asked for one summary, at most.
const TRIES: u64 = 2;

/// How often a compression is planned, at most, until the reader's model counts no more than is aimed at.
const FITTED: u64 = 3;

/// So many identifiers are named to a model that left them out, at most.
const REMINDED: usize = 200;

/// What stands behind a context of which the rest does not fit.
const CUT: &str = "\n[left out: the rest of what is known, which does not fit here]\n";

/// Compresses threads of one session.
#[derive(Clone)]
pub struct Compressor {
    /// The session.
    pub session: Session,
    /// Whom to ask for summaries.
    pub models: Arc<dyn ChatModel>,
}

/// How a thread is to be compressed.
#[derive(Clone, Debug)]
pub struct Compressing {
    /// The thread.
    pub thread: ThreadId,
    /// How short it is to become.
    pub aim: Aim,
    /// The model that is to write the summary; without one it is made of excerpts.
    pub model: Option<String>,
    /// Who asks for it.
    pub by: Actor,
    /// How far it goes.
    pub extent: Extent,
    /// The model of agents that name none. The sizes are in the tokens of the model of whoever reads the thread.
    pub default_model: Option<String>,
    /// The layout of the prompts that it is for; without, the session's.
    pub layout: Option<LayoutName>,
    /// What was said up to this entry stays as it is.
    pub behind: Seq,
}

/// How far a compression goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It is planned. There is no summary yet, so that its size after is what is aimed at.
    Plan,
    /// A summary is made of excerpts, without a model. Nothing is recorded.
    Preview,
    /// The summary is made and recorded.
    Record,
}

/// Some for whom a thread is compressed, since all of them see the same of it.
struct Group {
    /// Which agents they are, and whose history is measured.
    scope: CompressionScope,
    /// Whether whoever asks for the compression is told what came of this one.
    is_told: bool,
}

/// A model that writes summaries.
struct Author<'a> {
    compressor: &'a Compressor,
    plan: &'a CompressionPlan,
    model: ModelName,
    measure: Measure,
    window: Tokens,
    /// How many tokens of a summary the model is asked for at most.
    allowed: Tokens,
    /// What the model is told besides, in this session.
    more: Option<Arc<str>>,
    /// Hides secrets in what the model answers.
    mask: Arc<Mask>,
    spent: &'a mut Spent,
}

impl Compressor {
    /// Compresses a thread, for all who see it: where some see more of it than others, each of them is shown a summary of
    /// what it sees. While it works, the session goes on: what is said meanwhile follows the summary.
    pub async fn compress(&self, wanted: Compressing) -> Result<Compression, Error> {
        let is_agent = matches!(wanted.by, Actor::Agent(_));
        let (mut answer, mut with) = (nothing_to_do(Tokens(0)), Vec::new());
        for group in self.groups(&wanted).await? {
            let done = match self.compress_for(&wanted, &group, &with).await {
                // An agent is not told of what it does not see.
                Err(Error::Engine(callboard_engine::Error::Refused(refusal))) if is_agent && !group.is_told => {
                    tracing::warn!(session = %self.session.id(), %refusal, "a summary for others could not be made");
                    continue;
                }
                done => done?,
            };
            with.extend(done.seq);
            let is_worth_telling = !is_agent && done.method != Method::None && answer.method == Method::None;
            if is_worth_telling || (group.is_told && (done.method != Method::None || answer.method == Method::None)) {
                answer = done;
            }
        }
        Ok(answer)
    }

    /// For whom a thread is compressed, those first who see the most of it.
    async fn groups(&self, wanted: &Compressing) -> Result<Vec<Group>, Error> {
        let groups = self.session.view(&Viewer::User, |view| {
            let (held, team) = (view.thread(&wanted.thread)?, &view.state.team);
            let sees = |name: &&AgentName| held.sight.audience.contains(name);
            let all = held.readers(team);
            let place = |agent: &AgentName| {
                let is_in = |readers: &Option<Audience>| readers.as_ref().is_none_or(|names| names.contains(agent));
                all.iter().position(is_in)
            };
            let names: Vec<_> =
                team.manager().into_iter().chain(team.workers()).map(|agent| &agent.name).filter(sees).collect();
            let asks = match &wanted.by {
                Actor::Agent(name) => Some(name),
                Actor::User | Actor::System => names.first().copied(),
            };
            let told = asks.and_then(place).unwrap_or(all.len().saturating_sub(1));
            let reader = |at: usize| {
                let mut first = asks.into_iter().chain(names.iter().copied());
                first.find(|name| place(name) == Some(at)).cloned()
            };
            let group = |(at, readers): (usize, &Option<Audience>)| {
                let (is_alone, behind, layout) = (names.len() == 1, wanted.behind, wanted.layout);
                let scope = CompressionScope { readers: readers.clone(), behind, reader: reader(at), is_alone, layout };
                Group { scope, is_told: at == told }
            };
            Ok(all.iter().enumerate().map(group).collect())
        });
        Ok(groups.await?)
    }

    async fn compress_for(&self, wanted: &Compressing, group: &Group, with: &[Seq]) -> Result<Compression, Error> {
        let aim = wanted.aim;
        let whole = whole_prompt(wanted, group);
        let (before, in_sizes) = match &whole {
            Some(whole) => self.shown(whole).await?,
            None => (None, None),
        };
        // What is planned with is counted in the vocabulary of sizes. The reader's model may count more tokens than that.
        let mut scaled = match (before, in_sizes) {
            (Some(before), Some(in_sizes)) if before > in_sizes => aim.scaled(in_sizes, before),
            _ => aim,
        };
        let mut planned = self.session.plan_compression(&wanted.thread, group.scope.clone(), scaled).await?;
        let mut spent = Spent::default();
        for attempt in 1..=FITTED {
            let Outlook::Compress(plan) = planned else {
                return Ok(Compression { spent, ..nothing_to_do(before.unwrap_or(planned.tokens_before())) });
            };
            if wanted.extent == Extent::Plan {
                return Ok(planned_only(wanted, &plan, before));
            }
            let plan = Arc::from(plan);
            let (mut done, mut command) = self.summary(wanted, &plan, with, &mut spent).await?;
            let after = match &whole {
                Some(whole) => history_in(&self.session.prompt_after(&command, whole).await?),
                None => None,
            };
            // What was put back is a part of what is shown, and left alone.
            let is_whole = wanted.behind == Seq::ZERO;
            let is_too_large =
                after.is_some_and(|after| after > aim.target) && scaled.target > LEAST_TARGET && is_whole;
            if let (Some(after), true) = (after, is_too_large && attempt < FITTED) {
                scaled = scaled.scaled(Tokens(aim.target.0 / 20 * 19), after);
                planned = self.session.plan_compression(&wanted.thread, group.scope.clone(), scaled).await?;
                continue;
            }
            done.tokens_before = before.unwrap_or(done.tokens_before);
            done.tokens_after = after.unwrap_or(done.tokens_after);
            if wanted.extent == Extent::Record {
                let compressed = &mut command.compressed;
                (compressed.tokens_before, compressed.tokens_after) = (done.tokens_before, done.tokens_after);
                compressed.target_tokens = aim.target;
                done.seq = Some(self.session.execute(wanted.by.clone(), command).await?.answer);
            }
            return Ok(done);
        }
        Ok(nothing_to_do(before.unwrap_or(planned.tokens_before())))
    }

    /// The summary for a plan, and the command that records it.
    async fn summary(
        &self,
        wanted: &Compressing,
        plan: &Arc<CompressionPlan>,
        with: &[Seq],
        spent: &mut Spent,
    ) -> Result<(Compression, Compress), Error> {
        let Compressing { thread, model, extent, layout, .. } = wanted;
        let began = Instant::now();
        let (mut reason, mut written) = (None, None);
        let is_recorded = *extent == Extent::Record;
        let asked = model.as_deref().filter(|_| is_recorded);
        if let Some(name) = asked {
            let timeout = self.session.state().await?.session.settings.compression.timeout();
            let asking = tokio::time::timeout(timeout, self.ask(name, plan, *layout, spent)).await;
            match asking.unwrap_or_else(|_| Err(format!("{name} took more than {} seconds", timeout.as_secs()))) {
                Ok(summary) => written = Some(summary),
                Err(why) => {
                    tracing::warn!(session = %self.session.id(), %thread, why, "the summary is made without a model");
                    reason = Some(why);
                }
            }
        }
        let by_model = written.is_some() || (!is_recorded && model.is_some());
        let summary = match written {
            Some(summary) => summary,
            None => extract(plan.clone()).await?,
        };
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        spent.milliseconds = spent.milliseconds.saturating_add(milliseconds);
        let model: Option<Arc<str>> = model.as_deref().filter(|_| by_model).map(Into::into);
        let reason: Option<Arc<str>> = reason.map(Into::into);
        let done = Compression {
            seq: None,
            through: plan.through,
            messages: plan.messages(),
            tokens_before: plan.tokens_before,
            tokens_after: summary.tokens_after,
            method: if model.is_some() { Method::Model } else { Method::Extractive },
            model: model.clone(),
            reason: reason.clone(),
            spent: *spent,
        };
        let command = plan.compress(&summary, Writing { model, reason, spent: *spent, with: with.to_vec() });
        Ok((done, command))
    }

    /// The size of the history that a prompt shows, and the same in the vocabulary of sizes, where the reader's model counts
    /// otherwise. What is planned with is at least as much, since it is counted message by message.
    async fn shown(&self, whole: &PromptSpec) -> Result<(Option<Tokens>, Option<Tokens>), Error> {
        let shown = self.session.prompt(whole).await?;
        let before = history_in(&shown);
        if shown.factor.is_none() && shown.vocabulary == sizes().vocabulary() {
            return Ok((before, None));
        }
        let in_sizes = tokio::task::spawn_blocking(move || history_in_sizes(&shown)).await;
        Ok((before, Some(in_sizes.map_err(|_| callboard_engine::Error::Closed)?)))
    }

    /// Asks a model for a summary; the error says why there is none that is good.
    async fn ask(
        &self,
        model: &str,
        plan: &CompressionPlan,
        layout: Option<LayoutName>,
        spent: &mut Spent,
    ) -> Result<Summary, String> {
        let model: ModelName = model.parse().map_err(|error: callboard_model::ModelError| error.to_string())?;
        let measure = self.session.measure(&model.to_string()).await.map_err(|error| error.to_string())?;
        let state = self.session.state().await.map_err(|error| error.to_string())?;
        let long: Vec<_> = state.sets.iter().filter_map(|held| Some((held.set.content.stored()?, held.seq))).collect();
        let values = self.session.values_or_notes(long, state.erased).await.map_err(|error| error.to_string())?;
        let context = context(&state, plan, layout, &values);
        let mask = self.session.mask_of_input().await.map_err(|error| error.to_string())?;
        let more = state.session.settings.compression.instructions.clone();
        let window = window_of(&model.to_string()).unwrap_or(DEFAULT_WINDOW);
        // A summary that takes much of a small window would leave little room for what is summarized.
        let allowed = plan.allowed_text().min(Tokens(window.0 / 8));
        Author { compressor: self, plan, model, measure, window, allowed, more, mask, spent }.write(&context).await
    }
}

impl Author<'_> {
    /// Writes the summary: of all messages at once, or where they do not fit in the window, piece by piece.
    async fn write(&mut self, context: &str) -> Result<Summary, String> {
        let instructions = self.plan.instructions(self.allowed, self.more.as_deref());
        let mut so_far = self.plan.earlier.as_ref().map(|earlier| {
            let identifiers: String = earlier.identifiers().map(|one| format!("- {one}\n")).collect();
            format!("{}\n{identifiers}", earlier.text)
        });
        // The summary so far is read, the next one is written, and once it may be asked for again.
        let earlier = so_far.as_deref().map_or(Tokens(0), |text| self.measure.count(text)).max(self.longest());
        let written = Tokens(self.longest().0.saturating_mul(2));
        let around = self.measure.count(&instructions) + earlier + written + Tokens(512);
        let half = Tokens(self.window.minus(around).0 / 2);
        let whole = context;
        let mut context = self.fitting(whole, half);
        if context.len() < whole.len() {
            context.push_str(CUT);
        }
        let room = self.window.minus(around).minus(self.measure.count(&context));
        if room < Tokens(256) {
            return Err(format!("the window of {} is too small for this", self.model));
        }
        let pieces = self.pieces(room);
        let mut summary = None;
        for (at, piece) in pieces.iter().enumerate() {
            let is_last = at + 1 == pieces.len();
            let earlier =
                so_far.as_ref().map(|text| format!("SUMMARY OF WHAT WAS SAID BEFORE\n{text}\n")).unwrap_or_default();
            let question = format!("{context}\n{earlier}MESSAGES\n{piece}\nWrite the summary now.");
            let written = self.good(&instructions, question, is_last).await?;
            so_far = Some(self.hidden(&written.text));
            summary = Some(written);
        }
        summary.ok_or_else(|| "there is nothing to summarise".to_owned())
    }

    /// A good summary, asked for again where the first is not, or where the last one lacks what is needed.
    async fn good(&mut self, instructions: &str, question: String, is_last: bool) -> Result<Summary, String> {
        let mut messages = vec![json!({"role": "user", "content": question})];
        let mut why = String::new();
        for attempt in 1..=TRIES {
            let answer = self.answer(instructions, &messages).await?;
            let correction = match self.check(&answer) {
                Ok(summary) => {
                    let missing = self.plan.missing(&summary.text);
                    if !is_last || missing.is_empty() || attempt == TRIES {
                        return Ok(summary);
                    }
                    let missing = missing.get(..missing.len().min(REMINDED)).unwrap_or_default();
                    return Ok(self.again(instructions, messages, summary, missing).await);
                }
                Err(shortcoming) => {
                    why = format!("the summary of {} cannot be used: {shortcoming}", self.model);
                    self.plan.correction(&shortcoming)
                }
            };
            // What is empty is no message, and what is much too long need not be read again.
            let said = self.hidden(&answer.text).chars().take(2000).collect::<String>();
            let said = if said.trim().is_empty() { "(nothing)".to_owned() } else { said };
            messages.push(json!({"role": "assistant", "content": said}));
            messages.push(json!({"role": "user", "content": correction}));
        }
        Err(why)
    }

    /// Asks once more with what is missing. The better one counts.
    async fn again(
        &mut self,
        instructions: &str,
        mut messages: Vec<Value>,
        first: Summary,
        missing: &[Arc<str>],
    ) -> Summary {
        messages.push(json!({"role": "assistant", "content": self.hidden(&first.text)}));
        messages.push(json!({"role": "user", "content": self.hidden(&CompressionPlan::reminder(missing))}));
        let second = self.answer(instructions, &messages).await.ok();
        let second = second.and_then(|answer| self.check(&answer).ok());
        let lacks = |summary: &Summary| self.plan.missing(&summary.text).len();
        second.filter(|second| lacks(second) < lacks(&first)).unwrap_or(first)
    }

    async fn answer(&mut self, instructions: &str, messages: &[Value]) -> Result<ChatAnswer, String> {
        let mut request = ChatRequest::instructed(self.model.clone(), instructions);
        request.messages.extend_from_slice(messages);
        request.max_tokens = Some(self.longest().0);
        self.spent.requests += 1;
        let answer = self.compressor.models.chat(&request, &mut |_| {}).await.map_err(|error| error.to_string())?;
        if let Some(usage) = answer.usage {
            self.spent.prompt_tokens += usage.prompt_tokens;
            self.spent.completion_tokens += usage.completion_tokens;
        }
        Ok(answer)
    }

    /// The most tokens of an answer: models count roughly.
    fn longest(&self) -> Tokens {
        Tokens(self.allowed.0.saturating_add(self.allowed.0 / 4).saturating_add(64))
    }

    /// A text without secrets. They are hidden before it is cut, so that no half of one is left.
    fn hidden(&self, text: &str) -> String {
        self.mask.mask(text).unwrap_or_else(|| text.to_owned())
    }

    /// Says whether an answer is a good summary.
    fn check(&self, answer: &ChatAnswer) -> Result<Summary, Shortcoming> {
        match answer.finish {
            Finish::Length => Err(Shortcoming::CutOff),
            Finish::ContentFilter => Err(Shortcoming::Reply),
            _ if !answer.tool_calls.is_empty() => Err(Shortcoming::CallsTools),
            _ => self.plan.check_written(&answer.text, sizes()),
        }
    }

    /// The messages in pieces that each have at most `room` tokens.
    fn pieces(&self, room: Tokens) -> Vec<String> {
        let (mut pieces, mut piece, mut used) = (Vec::new(), String::new(), Tokens(0));
        for spoken in self.plan.said() {
            let mut rest = spoken.transcript();
            while !rest.is_empty() {
                let tokens = self.measure.count(&rest);
                if used + tokens <= room {
                    (piece, used) = (piece + &rest, used + tokens);
                    break;
                }
                if used > Tokens(0) {
                    pieces.push(std::mem::take(&mut piece));
                    used = Tokens(0);
                    continue;
                }
                let behind = rest.split_off(self.fitting(&rest, room).len());
                pieces.push(std::mem::replace(&mut rest, behind));
            }
        }
        pieces.extend((!piece.is_empty()).then_some(piece));
        pieces
    }

    /// As much of the beginning of a text as has at most `room` tokens.
    fn fitting(&self, text: &str, room: Tokens) -> String {
        let mut end = text.len();
        loop {
            end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            let begin = text.get(..end).unwrap_or_default();
            let tokens = self.measure.count(begin);
            if tokens <= room || end < 64 {
                return begin.to_owned();
            }
            end = usize::try_from(end as u128 * u128::from(room.0) / u128::from(tokens.0.max(1)))
                .unwrap_or(0)
                .min(end - 1);
        }
    }
}

/// The prompt that shows all of a thread to the first reader of a group.
fn whole_prompt(wanted: &Compressing, group: &Group) -> Option<PromptSpec> {
    Some(PromptSpec {
        agent: Some(group.scope.reader.clone()?),
        thread: Some(wanted.thread.clone()),
        default_model: wanted.default_model.clone(),
        layout: Some(LayoutName::Team),
        budget: Some(WHOLE),
        recall: Some(false),
        ..PromptSpec::default()
    })
}

fn history_in(prompt: &Prompt) -> Option<Tokens> {
    prompt.parts.iter().find(|part| part.name == PartName::HISTORY.as_str()).map(|part| part.tokens)
}

/// The size of the history in a prompt that is a text, in the vocabulary of sizes.
fn history_in_sizes(prompt: &Prompt) -> Tokens {
    let Body::Text(text) = &prompt.body else { return Tokens(0) };
    let of_history = prompt.pieces.iter().filter(|piece| *piece.part == *PartName::HISTORY.as_str());
    of_history.filter_map(|piece| text.get(piece.bytes.clone())).map(|piece| sizes().count(piece)).sum()
}

async fn extract(plan: Arc<CompressionPlan>) -> Result<Summary, Error> {
    let made = tokio::task::spawn_blocking(move || plan.extract(sizes())).await;
    let made = made.map_err(|_| callboard_engine::Error::Closed)?;
    made.map_err(|problem| {
        callboard_engine::Error::from(callboard_core::error::Error::invalid("", problem.to_string())).into()
    })
}

/// What a plan comes to. A summary has at most the size that is aimed at.
fn planned_only(wanted: &Compressing, plan: &CompressionPlan, before: Option<Tokens>) -> Compression {
    let tokens_before = before.unwrap_or(plan.tokens_before);
    Compression {
        through: plan.through,
        messages: plan.messages(),
        tokens_after: wanted.aim.target.min(tokens_before),
        method: if wanted.model.is_some() { Method::Model } else { Method::Extractive },
        model: wanted.model.as_deref().map(Into::into),
        ..nothing_to_do(tokens_before)
    }
}

fn nothing_to_do(tokens: Tokens) -> Compression {
    Compression { tokens_before: tokens, tokens_after: tokens, ..Compression::default() }
}
