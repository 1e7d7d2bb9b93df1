//! Entries of journals, and what became of them.

use serde_json::Value;
use utoipa::ToSchema;

use super::session::AudienceShape;

/// An entry of a journal, as far as the caller may see it.
#[derive(ToSchema)]
#[schema(as = Entry)]
pub(crate) struct EntryShape {
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// `user`, `system` or `agent:NAME`.
    by: String,
    #[schema(example = "message.added")]
    r#type: String,
    #[schema(example = "thread:main")]
    subject: String,
    data: Value,
}

/// An entry in which a text stands, and what became of it.
#[derive(ToSchema)]
#[schema(as = Finding)]
pub(crate) struct FindingShape {
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// `user`, `system` or `agent:NAME`.
    by: String,
    r#type: String,
    subject: String,
    /// The text with what is around it.
    excerpt: String,
    /// Which agents may see what the entry is about now; left out where that is gone.
    visible_to: Option<AudienceShape>,
    /// The agents from which it is hidden now.
    #[schema(required = false)]
    hidden_from: Vec<String>,
    /// The prompts that showed it.
    #[schema(required = false)]
    shown: Vec<ShownShape>,
    gone: Option<GoneShape>,
}

/// A prompt that showed an entry.
#[derive(ToSchema)]
#[schema(as = Shown)]
pub(crate) struct ShownShape {
    agent: String,
    run: String,
    turn: u64,
    /// The entry that requested the turn.
    seq: u64,
}

/// What took the place of a thing, or took it away.
#[derive(ToSchema)]
#[schema(as = Gone)]
pub(crate) struct GoneShape {
    seq: u64,
    by: String,
    how: GoneWord,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum GoneWord {
    Replaced,
    Deleted,
}
