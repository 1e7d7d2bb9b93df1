//! Answers: passages that were found, with who says them.

use std::{ops::Range, sync::Arc};

use callboard_core::{
    conversation::Role,
    entry::Entry,
    event::recallable,
    id::{AgentName, CollectionName, MessageId, Seq, ThreadId},
    recall::{Recallable, Source},
    text::Values,
    time::Timestamp,
    viewer::Viewer,
};

pub use callboard_recall::HitWhy;

use crate::{error::Error, recall::FromElsewhere};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallAnswer {
    /// The best first.
    pub hits: Vec<RecallHit>,
    /// How many entries that were written before were not read yet; `None` where all were.
    pub behind: Option<u64>,
    /// Why nothing can be found, where the question says nothing.
    pub note: Option<&'static str>,
    /// The model whose vectors count, and how many passages have theirs; or `unavailable: ` and why. `None` without a model.
    pub embedder: Option<String>,
    /// What sources elsewhere gave.
    pub elsewhere: Vec<FromElsewhere>,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// What kind of thing says it.
    pub source: Source,
    /// The entry.
    pub seq: Seq,
    /// Who or what says it, for people and models, such as `user in main`.
    pub origin: String,
    /// What the entry is about, such as `thread:main`.
    pub subject: Arc<str>,
    /// What it says.
    pub text: String,
    /// Where that stands in all that the entry says, in bytes; the name of a thing does not count.
    pub bytes: Range<usize>,
    /// How many bytes the entry says.
    pub of_bytes: usize,
    /// How well it answers.
    pub score: f32,
    /// Why it was found.
    pub why: HitWhy,
    /// When it was said.
    pub at: Timestamp,
    /// The message, where it is one.
    pub message_id: Option<MessageId>,
    /// Its thread.
    pub thread: Option<ThreadId>,
    /// The collection that has it, where the session has not.
    pub collection: Option<CollectionName>,
    /// The agent that said it.
    pub agent: Option<AgentName>,
    /// The role of who said it.
    pub role: Option<Role>,
}

/// A passage that was found, before its text is read.
pub(super) struct Place {
    pub(super) bytes: Range<usize>,
    pub(super) score: f32,
    pub(super) why: HitWhy,
}

/// What an entry says; `None` where that was erased meanwhile.
pub(super) fn said(entry: &Entry, values: &Values) -> Result<Option<(Recallable, Arc<str>)>, Error> {
    let said = recallable(entry)?;
    Ok(said.and_then(|said| said.text(values).ok().map(|whole| (said, whole))))
}

/// A hit with its text, as `viewer` is told of it; `None` where that was changed meanwhile.
pub(super) fn show(viewer: &Viewer, place: Place, entry: &Entry, said: &Recallable, whole: &str) -> Option<RecallHit> {
    let (name, Place { bytes, score, why }) = (said.name_bytes, place);
    // The name of a thing is no part of what it says, unless nothing else was found.
    let bytes = if bytes.end > name { bytes.start.max(name)..bytes.end } else { bytes };
    let passage = whole.get(bytes.clone())?;
    let header = &entry.header;
    Some(RecallHit {
        origin: said.origin(&header.subject, viewer.agent()),
        source: said.source,
        seq: header.seq,
        subject: header.subject.clone(),
        text: passage.to_owned(),
        bytes: bytes.start.saturating_sub(name)..bytes.end.saturating_sub(name),
        of_bytes: whole.len() - name,
        score,
        why,
        collection: None,
        at: header.time.unwrap_or(header.at),
        message_id: said.message_id.clone(),
        thread: header.subject.strip_prefix("thread:").and_then(|name| name.parse().ok()),
        agent: said.said_by(&header.subject, viewer.agent()).cloned(),
        role: said.role,
    })
}
