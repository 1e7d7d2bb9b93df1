//! The part that is a text of a session's own layout.

use super::{Changes, Content, Part, Source};
use crate::prompt::{Lacking, layout::LayoutText};

impl Part for LayoutText {
    fn name(&self) -> &str {
        &self.name
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        Ok(from.whole(format!("{}\n", self.text.trim())))
    }
}
