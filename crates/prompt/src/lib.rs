//! What agents are shown of a session: prompts within an exact budget, and summaries in the place of older messages; and what
//! is found in a journal: texts by their words, and why a text is where it is.
//!
//! A prompt is a pure function of the journal up to an entry, the agent, the profile and what was read for it. The same
//! bytes come out anywhere and at any time.
//!
//! ```
//! use callboard_core::{count::Tokens, testing::Board, text::Values};
//! use callboard_core::{context_set::PutSet, view::View, viewer::Viewer};
//! use callboard_prompt::{ResolvedSpec, prompt, tail::Tail};
//!
//! let mut board = Board::team("lead writer");
//! let brief = PutSet::new("Brief".parse()?, "Four lines, and they rhyme.").for_agents(["writer".parse()?]);
//! board.user(brief)?;
//!
//! // The writer's prompt holds the set; the lead's says that it is there.
//! let prompt_of = |agent: &str| -> Result<String, Box<dyn std::error::Error>> {
//!     let view = View::new(&board.state, &Viewer::Agent(agent.parse()?), board.count)?;
//!     let spec = ResolvedSpec::new(agent.parse()?, "main".parse()?, Tokens(2000), board.count);
//!     let spec = ResolvedSpec { task: Some("Write a poem.".to_owned()), ..spec };
//!     let nothing_said = Tail { complete: true, ..Tail::default() };
//!     Ok(prompt(&view, &spec, &nothing_said, &Values::new(), board.count)?.text())
//! };
//! assert!(prompt_of("writer")?.contains("Four lines"));
//! assert!(prompt_of("lead")?.contains("hidden from you") && !prompt_of("lead")?.contains("Four lines"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anthropic;
mod assemble;
mod call_ids;
pub mod compression;
mod excerpt;
mod fetch;
mod fill;
mod history_cache;
mod history_key;
mod labels;
mod media;
mod openai;
mod part;
mod parts;
mod pdf;
mod pieces;
mod placed;
mod provider;
pub mod question;
mod rendered;
mod renderer;
mod replaced;
mod responses;
pub mod said;
pub mod search;
mod shorten;
mod speaker;
mod spec;
mod strict;
pub mod tail;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod tool_names;
mod utterance;
pub mod why;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    agent::{Agent, Team, Tool},
    conversation::{ToolCall, facts::audience_of},
    count::{Counting, Factor, TokenCounter, Tokens},
    entry::Hash,
    error::{ConflictKind, Error},
    id::{AgentName, Seq, ThreadId},
    json::text_of,
    prompt::{Format, Layout, observed::Observations},
    run::{PromptRecord, own::BeginTurn},
    step::offer,
    text::Values,
    tool,
    view::View,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::{
    assemble::Assembled,
    excerpt::History,
    fill::{Filled, fill},
    part::Source,
    rendered::Renderer,
    tail::Tail,
};
pub use self::{
    history_cache::HistoryCache,
    parts::has_part,
    pieces::PromptPieces,
    placed::{PlacedPiece, TEXTS_OF_BLOCKS},
    provider::Provider,
    spec::ResolvedSpec,
};

/// Tools as requests in this format have them; with a text there are none.
pub fn tools(format: Format, tools: &[Tool]) -> Vec<Value> {
    match format {
        Format::Text => Vec::new(),
        Format::OpenAi => tools.iter().map(openai::tool).collect(),
        Format::Responses => tools.iter().map(responses::tool).collect(),
        Format::Anthropic => tools.iter().map(anthropic::tool).collect(),
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Whose prompt it is.
    pub agent: AgentName,
    /// The thread in which the agent speaks.
    pub thread: ThreadId,
    /// The model that reads it, where one is known.
    pub model: Option<String>,
    /// The last entry that it was made from.
    pub seq: Seq,
    /// How it is laid out.
    pub layout: Layout,
    /// In which form it is.
    pub format: Format,
    /// What it had to fit in.
    pub budget: Tokens,
    /// How many tokens the answer to it may have: so many of the model's window are kept where no budget is named.
    pub answer_tokens: Tokens,
    /// Its size.
    pub tokens: Tokens,
    /// How much of it, from its beginning, the agent's last turn in a run was asked with too: so much a provider may have
    /// in its cache.
    pub reusable_prefix_tokens: Tokens,
    /// How far the size can be trusted.
    pub counting: Counting,
    /// The vocabulary that it was counted in.
    pub vocabulary: String,
    /// What a token of the vocabulary comes to for the model, where the vocabulary is not the model's own.
    pub factor: Option<Factor>,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// Its pieces, in the order in which they stand in it.
    pub pieces: Vec<PlacedPiece>,
    /// What the model gets.
    pub body: Body,
    /// The tools that are offered with it: those of the agent that may be used now.
    pub tools: Vec<Tool>,
    /// The names of tools in its calls that stand there for another name, which its format does not take, each with that.
    pub renamed_tools: BTreeMap<String, String>,
    /// The entries that it shows, as ranges with both ends.
    pub shows: Vec<(Seq, Seq)>,
    /// The subjects of which it shows what the newest entry says, beside those entries: the agents with their instructions,
    /// the session with its steps.
    pub subjects: BTreeSet<String>,
    /// What it shows that was observed outside of the session.
    pub observed: Observations,
    /// The entries that it shows whose words were erased. Whoever reads the journal says so.
    pub erased: Vec<Seq>,
    /// The entries that it shows in whose words secrets were hidden. Whoever reads the journal says so.
    pub rewritten: Vec<Seq>,
}

/// What a model gets. It is written as the fields that requests have: `text`, or `messages`, or `instructions` and `input`, or
/// `messages` and `system`, in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// One text.
    Text(String),
    /// The messages of an OpenAI chat completion.
    Messages(Vec<Value>),
    /// What OpenAI's Responses API takes.
    #[serde(untagged)]
    Responses {
        /// What comes before all that was said.
        instructions: String,
        /// What was said: messages, calls and their results.
        input: Vec<Value>,
    },
    /// What Anthropic's Messages API takes.
    #[serde(untagged)]
    Anthropic {
        /// What was said: alternating messages, from the user's first to the user's last.
        messages: Vec<Value>,
        /// Blocks of text that come before all that was said.
        system: Vec<Value>,
    },
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PromptPart))]
pub struct PartReport {
    /// Its name.
    pub name: String,
    /// Its size.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens: Tokens,
    /// Whether a piece of it was shortened or left out.
    pub shortened: bool,
    /// The names of the things that were left out of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
}

/// Why there is no prompt yet, or none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Lacking {
    /// The tail does not reach back far enough: read on, and ask again.
    #[error("older entries have to be read first")]
    Older,
    /// Long texts have to be read first: their hashes, each with the entry that needs it. In the place of one that cannot be
    /// read a note may stand, which has another length; the prompt then says so.
    #[error("{} long texts have to be read first", .0.len())]
    Values(Vec<(Hash, Seq)>),
    /// There is no such prompt, or it does not fit.
    #[error(transparent)]
    Refused(#[from] Error),
}

impl Prompt {
    /// What the model gets as one text, whatever its form; for people to read.
    pub fn text(&self) -> String {
        let lines = |values: &[Value]| values.iter().map(|value| format!("{value:#}\n")).collect::<String>();
        match &self.body {
            Body::Text(text) => text.clone(),
            Body::Messages(messages) => lines(messages),
            Body::Responses { instructions, input } => format!("{instructions}\n{}", lines(input)),
            Body::Anthropic { system, messages } => lines(system) + &lines(messages),
        }
    }

    /// The hash of what the model gets: of the text, of the list of messages, or of `{"instructions", "input"}` or
    /// `{"messages", "system"}` in JSON.
    pub fn sha256(&self) -> Hash {
        match &self.body {
            Body::Text(text) => Hash::of(text.as_bytes()),
            Body::Messages(messages) => Hash::of(text_of(messages).as_bytes()),
            Body::Responses { .. } | Body::Anthropic { .. } => Hash::of(text_of(&self.body).as_bytes()),
        }
    }

    /// A call of its model, with the name that the tool has outside of the prompt.
    pub fn own_call(&self, call: ToolCall) -> ToolCall {
        let name = self.renamed_tools.get(&call.name).cloned().unwrap_or(call.name);
        ToolCall { name, ..call }
    }

    /// Whether it has pictures or audio.
    fn has_media(&self) -> bool {
        match &self.body {
            Body::Text(_) => false,
            Body::Messages(messages) | Body::Anthropic { messages, .. } => media::has_any(messages),
            Body::Responses { input, .. } => media::has_any(input),
        }
    }

    /// What is kept of it, so that it can be rendered again and checked.
    pub fn record(&self) -> PromptRecord {
        PromptRecord {
            at: self.seq,
            layout: self.layout.name().to_owned(),
            layout_version: Layout::VERSION,
            format: self.format.as_str().to_owned(),
            vocabulary: self.vocabulary.clone(),
            factor: self.factor,
            counting: self.counting,
            budget: self.budget,
            tokens: self.tokens,
            sha256: self.sha256(),
            shows: self.shows.clone(),
            renamed_tools: self.renamed_tools.clone(),
            has_media: self.has_media(),
            observed: self.observed.clone(),
        }
    }

    /// The command to note, outside of any run, that its model is about to be asked with it.
    pub fn begin_turn(&self, tools: BTreeSet<Arc<str>>) -> BeginTurn {
        let (agent, thread, model) = (self.agent.clone(), self.thread.clone(), self.model.clone());
        BeginTurn { agent, thread, model, tools, prompt: self.record(), asker: None }
    }
}

/// Builds the prompt of the agent that looks.
///
/// `tail` holds the newest entries of [`Source::of`](crate::tail::Source::of) this view and thread, `values` the long
/// texts that an earlier try asked for, and `count` is the vocabulary of the model that will read it.
pub fn prompt(
    view: &View<'_>,
    spec: &ResolvedSpec,
    tail: &Tail,
    values: &Values,
    count: &dyn TokenCounter,
) -> Result<Prompt, Lacking> {
    let mut history = HistoryCache::new(view, spec, count)?;
    history.read(view, tail, values)?;
    prompt_of(view, spec, &mut history, values, count).map(|(prompt, _)| prompt)
}

/// Builds the prompt of the agent that looks from what it was told, and says of which pieces it is made.
///
/// `history` [is that](HistoryCache::is_of) of the prompt, and was read up to the entry that `view` is as of. It remembers what
/// was written of it: with it or without, the prompt is the same.
pub fn prompt_of(
    view: &View<'_>,
    spec: &ResolvedSpec,
    history: &mut HistoryCache,
    values: &Values,
    count: &dyn TokenCounter,
) -> Result<(Prompt, PromptPieces), Lacking> {
    let agent = reader(view, &spec.thread)?;
    let tools = offered(view, agent, spec);
    let renderer = Renderer {
        agent,
        team: &view.state.team,
        offered: &tools,
        format: spec.format,
        provider: spec.provider,
        signs_calls: spec.format == Format::OpenAi && provider::wants_signatures(spec.model.as_deref()),
        style: spec.layout.style(),
        count,
    };
    let task = history.task(spec)?;
    history.think(spec)?;
    history.write_task(&renderer, task);
    let unanswered = history.pieces().get(task..).unwrap_or_default().to_vec();
    let history = Some(History::new(view, &spec.thread, history, task, renderer));
    let mut from = Source { view, agent, spec, renderer, values, history, unanswered, is_behind_history: false };
    let Filled { made, parts, tokens, shows, subjects } = fill(&mut from)?;
    let Assembled { body, pieces, placed, renamed, .. } = made;
    let bounded = match &body {
        Body::Text(_) => false,
        Body::Messages(_) if spec.provider.is_strict() => true,
        Body::Messages(messages) => {
            let is_more =
                |one: &Value| one.get("tool_calls").is_some() || one.get("content").is_some_and(Value::is_array);
            !tools.is_empty() || messages.iter().any(is_more)
        }
        Body::Responses { .. } | Body::Anthropic { .. } => true,
    };
    let tools = tools.into_iter().map(|tool| tool_names::as_written(tool, &renamed)).collect();
    let prompt = Prompt {
        agent: spec.agent.clone(),
        thread: spec.thread.clone(),
        // Like the size of its window, this is for whoever knows models to say.
        model: None,
        seq: view.state.head.seq,
        layout: spec.layout.clone(),
        format: spec.format,
        budget: spec.budget,
        answer_tokens: Tokens(0),
        tokens,
        // Which prompt was the last one is for whoever reads the journal to say.
        reusable_prefix_tokens: Tokens(0),
        // What a provider makes of tools, items and pictures, and Anthropic of any message, is its own affair, and messages
        // that are joined cost less together: what is allowed for them here is generous.
        counting: match spec.factor {
            // A bound that nothing was learned about is one.
            Some(factor) if factor >= Factor::ONE && count.counting() == Counting::UpperBound => Counting::UpperBound,
            Some(_) => Counting::Estimated,
            None if bounded => Counting::UpperBound,
            None => count.counting(),
        },
        factor: spec.factor,
        vocabulary: count.vocabulary().to_owned(),
        parts,
        pieces: placed,
        body,
        tools,
        renamed_tools: renamed,
        shows,
        subjects,
        observed: spec.observed.clone(),
        erased: Vec::new(),
        rewritten: Vec::new(),
    };
    Ok((prompt, pieces))
}

/// The headings of the parts of all layouts. A line of what was said that begins like one is marked.
fn headings() -> impl Iterator<Item = &'static str> {
    parts::all().map(|part| part.heading).filter(|heading| !heading.is_empty())
}

/// The tools that the agent is offered with a prompt.
fn offered(view: &View<'_>, agent: &Agent, spec: &ResolvedSpec) -> Vec<Tool> {
    let tools = view.state.threads.tools_of(agent, &spec.thread);
    let mut offered = tool::offered(tools, &spec.tools);
    offered.retain(|tool| tool.own().is_none_or(|own| view.own_tools().any(|may| may.name == own.name)));
    offer::open(view.state, &offered)
}

/// The agent that looks, if it may speak in `thread`.
fn reader<'a>(view: &View<'a>, thread: &ThreadId) -> Result<&'a Agent, Error> {
    let Some(name) = view.agent() else {
        return Err(Error::contradicting(ConflictKind::NoAgent, "/agent", "a prompt is made for an agent: name one"));
    };
    let there = view.state.threads.get(thread).is_some();
    let predefined = *thread == ThreadId::main() || *thread == ThreadId::of_agent(name);
    if (there || predefined) && audience_of(view.state, thread).contains(name) {
        return view.state.team.agent(name);
    }
    Err(Error::not_found("thread", thread))
}

/// The agent whose prompt is meant where none is named: the manager, or the only one.
pub fn default_agent(team: &Team) -> Result<&Agent, Error> {
    let only = || team.agents().next().filter(|_| team.agents().len() == 1);
    let nobody = || {
        let names: Vec<_> = team.names().map(|name| name.as_str()).collect();
        let problem = match names.as_slice() {
            [] => "there is no agent in the team whose prompt could be made".to_owned(),
            names => format!("there is no manager, so say whose prompt is wanted: {}", names.join(", ")),
        };
        Error::contradicting(ConflictKind::NoAgent, "/agent", problem)
    };
    team.manager().or_else(only).ok_or_else(nobody)
}

/// The thread in which an agent speaks where none is named: `main`, or its own where it does not see that.
pub fn default_thread(view: &View<'_>) -> ThreadId {
    let main = ThreadId::main();
    match view.agent() {
        Some(agent) if !audience_of(view.state, &main).contains(agent) => ThreadId::of_agent(agent),
        _ => main,
    }
}

#[cfg(test)]
mod tests;
