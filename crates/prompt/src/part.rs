//! What a part of prompts is.

use callboard_core::{
    agent::Agent,
    count::Tokens,
    id::Seq,
    prompt::{PartName, Shares},
    text::Values,
    view::View,
};

use crate::{Lacking, ResolvedSpec, assemble::Assembly, excerpt::History, history_cache::Piece, rendered::Renderer};

/// What a part has to say in a prompt; nothing where it is not in it.
pub(super) type Gathered<'a> = Result<Option<Box<dyn Content + 'a>>, Lacking>;

/// Gathers what a part has to say.
pub(super) type Gather = for<'a> fn(&mut Source<'a>) -> Gathered<'a>;

/// A part of prompts: what its name is, how much room it wants, and what it says.
///
/// History is the one special part: it is prepared before the parts say what they want, since the task is its end.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    /// Its name in reports and profiles.
    pub(super) name: &'p str,
    /// What stands above it, if anything.
    pub(super) heading: &'static str,
    /// How often it changes. A layout begins with what changes least, for a provider's cache keeps the beginning.
    pub(super) changes: Changes,
    /// By which name a profile says how it shares the budget, and how it does where that does not say so; none where it
    /// is always there in full.
    pub(super) shares: Option<(PartName, Shares)>,
    /// The subjects of entries of which it shows what the newest one says, where it does not name these entries itself.
    pub(super) subjects: fn(&View<'_>, &Agent) -> Vec<String>,
    /// What it says.
    pub(super) says: Says<'p>,
}

/// What a part says.
#[derive(Clone, Copy)]
pub(super) enum Says<'p> {
    /// This text, in every prompt.
    Text(&'p str),
    /// What is gathered for a prompt.
    Gathered(Gather),
}

impl<'p> Part<'p> {
    /// A part that has no heading and no subjects, and is always there in full.
    pub(super) const fn new(name: &'p str, changes: Changes, gather: Gather) -> Self {
        Self { name, heading: "", changes, shares: None, subjects: |_, _| Vec::new(), says: Says::Gathered(gather) }
    }

    /// Whether it is a text of the session's own layout.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.says, Says::Text(_))
    }

    /// What it has to say in a prompt.
    pub(super) fn gather<'a>(&self, from: &mut Source<'a>) -> Gathered<'a> {
        match self.says {
            Says::Text(text) => Ok(from.whole(format!("{}\n", text.trim()))),
            Says::Gathered(gather) => gather(from),
        }
    }
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

    /// Decides how it is shown in at most `limit` tokens, which is not below the least. What of it is taken: the least, where it is
    /// never shortened.
    fn settle(&mut self, _limit: Tokens) -> Result<Tokens, Lacking> {
        self.least(Tokens(0))
    }

    /// Puts it into a prompt, as it was settled.
    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome;

    /// Puts what stands behind all other parts of a prompt into it, as it was settled; most have nothing there.
    fn render_last(&self, _prompt: &mut Assembly<'_>) -> PartOutcome {
        PartOutcome::default()
    }
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

/// A text in a tag.
pub(super) fn tagged(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{}\n</{tag}>\n", text.trim_end())
}
