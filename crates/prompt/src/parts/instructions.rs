//! The part that says who the reader is and what its user wrote for it and for the thread in which it speaks.

use callboard_core::{agent::Agent, id::Seq, prompt::escape::escape, view::View};

use crate::{
    Lacking,
    parts::{Changes, Content, Part, Source, tagged},
};

pub(crate) struct Instructions {
    /// Whether they stand in a tag, behind the name of the reader.
    is_tagged: bool,
}

impl Instructions {
    /// In a tag, behind the name of the reader.
    pub(crate) const TAGGED: Self = Self { is_tagged: true };

    /// As they are.
    pub(crate) const BARE: Self = Self { is_tagged: false };
}

const TAG: &str = "AGENT_INSTRUCTIONS";

impl Part for Instructions {
    fn name(&self) -> &'static str {
        "instructions"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, _: &View<'_>, agent: &Agent) -> Vec<String> {
        vec![format!("agent:{}", agent.name)]
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let agent = from.agent;
        let of_thread = of_thread(from);
        let shows = of_thread.iter().map(|(_, seq)| *seq).collect();
        let of_thread = of_thread.map(|(text, _)| text);
        if !self.is_tagged {
            let own = agent.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty());
            let texts: Vec<_> = own.into_iter().chain(of_thread).map(|text| format!("{}\n", escape(text))).collect();
            return Ok((!texts.is_empty()).then(|| from.whole_of(texts.join("\n"), shows)).flatten());
        }
        let who = match &agent.title {
            Some(title) => format!("You are {}, {}.", agent.name, escape(title)),
            None => format!("You are {}.", agent.name),
        };
        let own = agent.instructions.as_deref().map(|text| format!("\n{}", escape(text))).unwrap_or_default();
        let of_thread = of_thread.map(|text| format!("\nIn this thread: {}", escape(text))).unwrap_or_default();
        Ok(from.whole_of(tagged(TAG, &(who + &own + &of_thread)), shows))
    }
}

/// The instructions of the thread in which the reader speaks, and the entry that has them.
pub(super) fn of_thread<'a>(from: &Source<'a>) -> Option<(&'a str, Seq)> {
    let thread = from.view.state.threads.get(&from.spec.thread)?;
    let text = thread.settings.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
    Some((text, thread.settings_seq))
}
