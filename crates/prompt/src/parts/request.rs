//! The parts of a request that are no text of the prompt, and cost tokens all the same.

use callboard_core::json::text_of;

use crate::{
    parts::{Changes, Part},
    placed::AROUND,
};

/// What the messages around the content cost.
pub(crate) const ENVELOPE: Part<'static> =
    Part::new(AROUND, Changes::Seldom, |from| Ok(from.beside(String::new(), from.renderer.envelope())));

/// The tools that are offered with a prompt. A model reads them before all else.
pub(crate) const TOOLS: Part<'static> =
    Part::new("tools", Changes::Seldom, |from| Ok(from.beside(text_of(from.renderer.offered), from.renderer.tools())));
