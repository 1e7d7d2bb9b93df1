//! What can happen to documents, and what a viewer sees of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{DocumentView, HeldDocument, MediaType};
use crate::{
    audience::{Audience, VisibilitySpan},
    count::Tokens,
    entry::{Hash, Header},
    error::Error,
    fact::{Description, Earlier, Fact, Repeats, Seen, Sentence, text},
    id::{DocumentName, Seq},
    recall::{Recallable, Source},
    state::State,
    text::Text,
    view::View,
};

impl<'a> View<'a> {
    /// The documents that the viewer sees anything of, by name.
    pub fn documents(&self) -> impl Iterator<Item = DocumentView<'a>> {
        let view = *self;
        self.state.documents.iter().filter_map(move |held| view.see(held, &held.sight.audience))
    }

    /// The document with this name. A hidden one answers like one that is not there.
    pub fn document(&self, name: &DocumentName) -> Result<DocumentView<'a>, Error> {
        let seen = self.state.documents.get(name).and_then(|held| self.see(held, &held.sight.audience));
        seen.ok_or_else(|| Error::not_found("document", name))
    }
}

/// A document was added, or replaced by another one of its name. The entry carries the whole document, so an agent that
/// gains sight of it needs no earlier entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// Its name.
    pub name: DocumentName,
    /// What it says.
    pub text: Text,
    /// Who may see it.
    pub visible_to: Audience,
    /// What its text is.
    pub media_type: MediaType,
    /// The size of its text.
    pub tokens: Tokens,
}

impl Added {
    /// Whether this is what `held` says.
    pub(super) fn is(&self, held: &HeldDocument) -> bool {
        let Self { name, text, visible_to, media_type, .. } = self;
        (name, &digest(text), visible_to, media_type)
            == (&held.name, &held.sha256, &held.sight.audience, &held.media_type)
    }
}

/// A document was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    pub(super) name: DocumentName,
}

/// What the subjects of documents begin with.
pub(super) const DOCUMENT: &str = "document:";

/// What entries about a document are about.
fn subject(name: &DocumentName) -> String {
    format!("{DOCUMENT}{name}")
}

/// Whether a document is prose, in which `#` begins a heading. In source code it begins something else, such as a comment.
pub(super) fn has_headings(name: &str, media_type: &MediaType) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let is_prose =
        matches!(&*ending, "" | "md" | "markdown" | "mdx" | "txt" | "text" | "htm" | "html" | "xhtml" | "pdf");
    media_type.as_str() == "text/markdown" || (*media_type == MediaType::plain() && is_prose)
}

fn digest(text: &Text) -> Hash {
    match text {
        Text::Inline(text) => Hash::of(text.as_bytes()),
        Text::Stored(stored) => stored.sha256,
    }
}

impl Fact for Added {
    const TYPE: &'static str = "document.added";

    const SENTENCE: Sentence = |it| format!("{} added the document {}", it.by, it.name());

    const DESCRIPTION: Description = Description {
        gone_as: Some(Removed::TYPE),
        earlier: Earlier::Replaced,
        repeats: Repeats::Unchanged,
        ..Description::of(&[text("text")])
    };

    const SOURCE: Option<Source> = Some(Source::Document);

    fn subject(&self) -> String {
        subject(&self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.documents.get(&self.name).map(|held| &held.sight);
        before.team.passing(sight, self.visible_to.clone())
    }

    fn apply(self, state: &mut State, header: &Header) {
        let sha256 = digest(&self.text);
        let Self { name, text, visible_to, media_type, tokens } = self;
        let before = state.documents.get(&name).map(|held| &held.sight);
        let sight = VisibilitySpan::of(before, visible_to, header.seq);
        let size_bytes = match &text {
            Text::Inline(text) => text.len() as u64,
            Text::Stored(stored) => stored.size_bytes,
        };
        let (updated_at, seq) = (header.at, header.seq);
        let held = HeldDocument { name: name.clone(), sight, media_type, size_bytes, tokens, sha256, updated_at, seq };
        state.documents.0.insert_mut(name, Arc::new(held));
    }

    fn recallable(&self) -> Option<Recallable> {
        let has_headings = has_headings(self.name.as_str(), &self.media_type);
        let said = Recallable::named(Source::Document, self.name.as_str(), vec![self.text.clone()])?;
        Some(Recallable { has_headings, ..said })
    }

    /// Only what it says now.
    fn recalls_from(view: &View<'_>, subject: &str, _: &Audience) -> Option<Seq> {
        let held = view.state.documents.get(&subject.strip_prefix(DOCUMENT)?.parse().ok()?)?;
        view.is_in(&held.sight.audience).then_some(held.seq)
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let outline = || {
            let Self { name, visible_to, media_type, tokens, .. } = &self;
            let data = json!({"name": name, "visible_to": visible_to, "media_type": media_type, "tokens": tokens});
            view.is_in_charge().then_some(Seen { kind: Self::TYPE, data })
        };
        let Some(agent) = view.agent().filter(|_| view.was_meant(header)) else { return outline() };
        match view.state.documents.get(&self.name).map(|held| &held.sight) {
            _ if !self.visible_to.contains(agent) => {
                outline().or_else(|| Seen::fact(&Removed { name: self.name.clone() }))
            }
            Some(sight) if sight.reaches(agent, header.seq) => Seen::fact(&self),
            _ => outline(),
        }
    }

    fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
        let name = subject.strip_prefix(DOCUMENT)?.parse().ok()?;
        Some(view.document(&name).ok()?.held().sight.audience.clone())
    }
}

impl Fact for Removed {
    const TYPE: &'static str = "document.removed";

    const SENTENCE: Sentence = |it| format!("{} removed the document {}", it.by, it.name());

    const DESCRIPTION: Description = Description { earlier: Earlier::Deleted, ..Description::of(&[]) };

    fn subject(&self) -> String {
        subject(&self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        // The manager is told of it in any case, as long as it is the manager.
        let sight = before.documents.get(&self.name).map(|held| &held.sight);
        before.team.passing(sight, Audience::None)
    }

    fn apply(self, state: &mut State, _: &Header) {
        state.documents.0.remove_mut(&self.name);
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.was_meant(header) || view.is_in_charge() { Seen::fact(&self) } else { None }
    }
}
