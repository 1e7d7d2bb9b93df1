//! The parts that prompts are made of. A part is a file in this folder, and a line in the list of each layout that has it.

mod browser_state;
mod context_sets;
mod duties;
mod files;
mod history;
mod instructions;
mod layout_text;
mod members;
mod request;
mod steps;
mod system_prompt;
mod task;

use super::{
    Lacking, ResolvedSpec,
    assemble::Assembly,
    escape::escape,
    excerpt::History,
    history_cache::Piece,
    part_name::PartName,
    rendered::{RenderedPiece, Renderer},
    share::Shares,
};
use crate::{agent::Agent, count::Tokens, id::Seq, text::Values, view::View};

pub(super) use self::{
    browser_state::BrowserState,
    context_sets::ContextSets,
    duties::Duties,
    files::Files,
    history::{ConversationHistory, HistoryHeading},
    instructions::Instructions,
    members::Members,
    request::{Envelope, Tools},
    steps::ActiveStep,
    system_prompt::SystemPrompt,
    task::CurrentTask,
};

/// A part of prompts: what its name is, how much room it wants, and what it says.
///
/// History is the one special part: it is prepared before the parts say what they want, since the task is its end.
pub(super) trait Part: Sync {
    /// Its name in reports and profiles.
    fn name(&self) -> &str;

    /// What stands above it, if anything.
    fn heading(&self) -> &'static str {
        ""
    }

    /// The tags that it writes. Wherever they stand in what people and agents say, they are escaped.
    fn tags(&self) -> &'static [&'static str];

    /// How often it changes. A layout begins with what changes least, for a provider's cache keeps the beginning.
    fn changes(&self) -> Changes;

    /// By which name a profile says how it shares the budget, and how it does where that does not say so; none where it
    /// is always there in full.
    fn shares(&self) -> Option<(PartName, Shares)> {
        None
    }

    /// What it has to say in a prompt; nothing where it is not in it.
    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking>;
}

/// How often a part changes from one turn of an agent to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changes {
    /// Hardly ever.
    Seldom,
    /// Now and then, as the work goes on.
    Sometimes,
    /// It goes on where it ended.
    Grows,
    /// With each turn.
    Always,
}

/// What a part says in a prompt.
pub(super) trait Content {
    /// What it cannot do without, where `min` is set aside for it.
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking>;

    /// Decides how it is shown in at most `limit` tokens, which is not below the least. What of it is taken.
    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking>;

    /// Puts it into a prompt, as it was settled.
    fn render(&self, prompt: &mut Assembly) -> PartOutcome;
}

/// What became of a part.
#[derive(Default)]
pub(super) struct PartOutcome {
    pub(super) tokens: Tokens,
    /// The names of what was left out of it.
    pub(super) omitted: Vec<String>,
    /// Whether something of it was shortened or left out.
    pub(super) shortened: bool,
    /// The entries that it shows.
    pub(super) shows: Vec<Seq>,
    /// Whether the next prompt will say something else in its place.
    pub(super) passes: bool,
}

/// What parts are made from.
pub(super) struct Source<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) agent: &'a Agent,
    pub(super) spec: &'a ResolvedSpec,
    /// Whether what was said stands before what is gathered now.
    pub(super) is_behind_history: bool,
    pub(super) renderer: Renderer<'a>,
    /// What was read for the prompt.
    pub(super) values: &'a Values,
    /// What was said before the task.
    pub(super) history: Option<History<'a>>,
    /// What was said that the reader has not answered.
    pub(super) unanswered: Vec<Piece>,
}

/// A text that is there in full.
struct Whole {
    text: String,
    tokens: Tokens,
    omitted: Vec<String>,
}

/// What has a place of its own among what was said, and is there in full.
struct Section {
    piece: RenderedPiece,
    omitted: Vec<String>,
}

impl<'a> Source<'a> {
    /// A text that is there in full. It begins with no white space and ends with a line end, so that its tokens add up
    /// with those of its neighbours. Behind what was said it has a place of its own in formats of messages.
    fn whole(&self, text: String) -> Option<Box<dyn Content + 'a>> {
        self.without(text, Vec::new())
    }

    /// What is shown in the place of a part that could not be made. It blanks no other.
    pub(super) fn failed(&self, heading: &str, why: &str) -> Option<Box<dyn Content + 'a>> {
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        self.without(format!("{heading}\n[this could not be read: {}]\n\n", escape(&why)), vec![why])
    }

    fn without(&self, text: String, omitted: Vec<String>) -> Option<Box<dyn Content + 'a>> {
        if self.is_behind_history {
            return Some(Box::new(Section { piece: self.renderer.section(&text), omitted }));
        }
        let tokens = self.renderer.count.count(&text);
        Some(Box::new(Whole { text, tokens, omitted }))
    }
}

impl Content for Whole {
    fn least(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.tokens)
    }

    fn settle(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.tokens)
    }

    fn render(&self, prompt: &mut Assembly) -> PartOutcome {
        prompt.text(&self.text, self.tokens);
        PartOutcome {
            tokens: self.tokens,
            shortened: !self.omitted.is_empty(),
            omitted: self.omitted.clone(),
            ..PartOutcome::default()
        }
    }
}

impl Content for Section {
    fn least(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.piece.tokens)
    }

    fn settle(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.piece.tokens)
    }

    fn render(&self, prompt: &mut Assembly) -> PartOutcome {
        prompt.add(&self.piece);
        let tokens = self.piece.tokens;
        PartOutcome {
            tokens,
            shortened: !self.omitted.is_empty(),
            omitted: self.omitted.clone(),
            ..PartOutcome::default()
        }
    }
}

/// A text in a tag.
fn tagged(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{}\n</{tag}>\n", text.trim_end())
}
