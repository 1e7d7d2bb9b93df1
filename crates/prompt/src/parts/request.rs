//! The parts of a request that are no text of the prompt, and cost tokens all the same.

use callboard_core::{count::Tokens, json::text_of};

use crate::{
    Lacking,
    assemble::Assembly,
    parts::{Changes, Content, Part, PartOutcome, Source},
    placed::AROUND,
};

/// What the messages around the content cost.
pub(crate) struct Envelope;

/// The tools that are offered with a prompt. A model reads them before all else.
pub(crate) struct Tools;

impl Part for Envelope {
    fn name(&self) -> &'static str {
        AROUND
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        Ok(Beside::content(String::new(), from.renderer.envelope()))
    }
}

impl Part for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let tools = text_of(from.renderer.offered);
        Ok(Beside::content(tools, from.renderer.tools()))
    }
}

/// What stands beside the text of a prompt.
struct Beside {
    what: String,
    tokens: Tokens,
}

impl Beside {
    fn content<'a>(what: String, tokens: Tokens) -> Option<Box<dyn Content + 'a>> {
        (tokens > Tokens(0)).then(|| Box::new(Self { what, tokens }) as Box<dyn Content>)
    }
}

impl Content for Beside {
    fn least(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.tokens)
    }

    fn settle(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.tokens)
    }

    fn render(&self, prompt: &mut Assembly) -> PartOutcome {
        prompt.beside(&self.what, self.tokens);
        PartOutcome { tokens: self.tokens, ..PartOutcome::default() }
    }
}
