//! The part that says who the reader is and what its user wrote for it.

use super::{Changes, Content, Part, Source, tagged};
use crate::{
    agent::Agent,
    prompt::{Lacking, escape::escape},
    view::View,
};

pub(in crate::prompt) struct Instructions {
    /// Whether they stand in a tag, behind the name of the reader.
    is_tagged: bool,
}

impl Instructions {
    /// In a tag, behind the name of the reader.
    pub(in crate::prompt) const TAGGED: Self = Self { is_tagged: true };

    /// As they are.
    pub(in crate::prompt) const BARE: Self = Self { is_tagged: false };
}

const TAG: &str = "AGENT_INSTRUCTIONS";

impl Part for Instructions {
    fn name(&self) -> &'static str {
        "instructions"
    }

    fn tags(&self) -> &'static [&'static str] {
        &[TAG]
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, _: &View<'_>, agent: &Agent) -> Vec<String> {
        vec![format!("agent:{}", agent.name)]
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let agent = from.agent;
        if !self.is_tagged {
            let own = agent.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty());
            return Ok(own.and_then(|own| from.whole(format!("{}\n", escape(own)))));
        }
        let who = match &agent.title {
            Some(title) => format!("You are {}, {}.", agent.name, escape(title)),
            None => format!("You are {}.", agent.name),
        };
        let own = agent.instructions.as_deref().map(|text| format!("\n{}", escape(text))).unwrap_or_default();
        Ok(from.whole(tagged(TAG, &(who + &own))))
    }
}
