//! The part that is a text of a session's own layout.

use callboard_core::{agent::Agent, prompt::LayoutText, view::View};

use crate::{
    Lacking,
    parts::{Changes, Content, Part, Source},
};

impl Part for LayoutText {
    fn name(&self) -> &str {
        &self.name
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, _: &View<'_>, _: &Agent) -> Vec<String> {
        vec!["session".to_owned()]
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        Ok(from.whole(format!("{}\n", self.text.trim())))
    }
}
