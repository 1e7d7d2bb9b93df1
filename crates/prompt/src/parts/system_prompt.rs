//! The part that says who the director is, what it has and how it works; the agent's own instructions stand behind.

use callboard_core::prompt::escape::escape;

use crate::{
    labels::marked,
    parts::{Changes, Gathered, Part, Source, instructions::of_thread},
};

pub(crate) const PART: Part<'static> = Part {
    subjects: |_, agent| vec![format!("agent:{}", agent.name)],
    ..Part::new("system_prompt", Changes::Seldom, gather)
};

/// What every director is told. A change of it raises the version of the layout.
pub(crate) const TEXT: &str = include_str!("system_prompt.md");

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let own = from.agent.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty());
    let own = own.map(|own| format!("\n## Instructions of this session\n\n{}", marked(&escape(own))));
    let own = own.unwrap_or_default();
    let (of_thread, shows) = of_thread(from);
    let more = of_thread.map(|text| format!("\n## Instructions of this thread\n\n{}\n", marked(&escape(text))));
    Ok(from.whole_of(format!("{}\n{own}\n{}", TEXT.trim(), more.unwrap_or_default()), shows))
}
