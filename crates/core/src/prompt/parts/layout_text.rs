//! The part that is a text of a session's own layout.

use super::{Changes, Content, Part, Source};
use crate::{
    agent::Agent,
    prompt::{Lacking, layout::LayoutText},
    view::View,
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
