//! The part that says who the director is, what it has and how it works; the agent's own instructions stand behind.

use callboard_core::{agent::Agent, prompt::escape::escape, view::View};

use crate::{
    Lacking,
    labels::marked,
    parts::{Changes, Content, Part, Source, instructions::of_thread},
};

pub(crate) struct SystemPrompt;

/// What every director is told. A change of it raises the version of the layout.
pub(crate) const TEXT: &str = include_str!("system_prompt.md");

impl Part for SystemPrompt {
    fn name(&self) -> &'static str {
        "system_prompt"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, _: &View<'_>, agent: &Agent) -> Vec<String> {
        vec![format!("agent:{}", agent.name)]
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let own = from.agent.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty());
        let own = own.map(|own| format!("\n## Instructions of this session\n\n{}", marked(&escape(own))));
        let own = own.unwrap_or_default();
        let of_thread = of_thread(from);
        let shows = of_thread.iter().map(|(_, seq)| *seq).collect();
        let more =
            of_thread.map(|(text, _)| format!("\n## Instructions of this thread\n\n{}\n", marked(&escape(text))));
        Ok(from.whole_of(format!("{}\n{own}\n{}", TEXT.trim(), more.unwrap_or_default()), shows))
    }
}
