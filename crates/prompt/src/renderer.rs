//! In what form something is written, and for whom.

use callboard_core::{
    agent::{Agent, Team, Tool},
    count::TokenCounter,
    prompt::{Format, Style},
};

use crate::{fetch, provider::Provider};

/// Writes in one format for one reader.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'a> {
    pub(super) agent: &'a Agent,
    pub(super) team: &'a Team,
    /// The tools that are offered to it.
    pub(super) offered: &'a [Tool],
    pub(super) format: Format,
    pub(super) provider: Provider,
    /// Whether calls of its loop without a signature get one.
    pub(super) signs_calls: bool,
    pub(super) style: Style,
    pub(super) count: &'a dyn TokenCounter,
}

impl Renderer<'_> {
    /// The end of a note that says how to get more with one of Callboard's own tools; blank where that is not on offer.
    pub(super) fn by(&self, how: &str, tool: &str) -> String {
        if self.offers(tool) { format!("; {how} with `{tool}`") } else { String::new() }
    }

    /// Whether one of Callboard's own tools is on offer.
    pub(super) fn offers(&self, tool: &str) -> bool {
        fetch::is_offered(self.offered, tool)
    }
}
