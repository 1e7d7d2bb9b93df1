//! What can be seen to happen to context files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ContextFile, HeldFile};
use crate::{
    audience::Audience,
    entry::Header,
    fact::{Description, Fact, MeantFor, Seen, Sentence, text},
    id::Seq,
    recall::{Recallable, Source},
    state::State,
    view::View,
};

/// What the subjects of files begin with.
const FILE: &str = "file:";

/// A file is there that was not there before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Added(pub(super) ContextFile);

/// A file is not there any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Removed {
    pub(super) path: Arc<str>,
    #[serde(rename = "for")]
    pub(super) recipient: Arc<str>,
}

impl Fact for Added {
    const TYPE: &'static str = "file.added";

    const SENTENCE: Sentence = |it| format!("the file {} was added", it.text("path"));

    const DESCRIPTION: Description = Description::of(&[text("keywords.*")]);

    const SOURCE: Option<Source> = Some(Source::File);

    const MEANT_FOR: MeantFor = MeantFor::All;

    fn subject(&self) -> String {
        format!("{FILE}{}", self.0.path)
    }

    fn apply(self, state: &mut State, header: &Header) {
        let held = HeldFile { file: Arc::new(self.0), seq: header.seq };
        state.files.0.insert_mut(held.file.path.clone(), held);
    }

    fn recallable(&self) -> Option<Recallable> {
        let ContextFile { path, recipient, keywords, .. } = &self.0;
        let line = format!("{path} (for {recipient}): {}", keywords.join(", "));
        Recallable::new(Source::File, vec![line.as_str().into()])
    }

    fn recalls_from(view: &View<'_>, subject: &str, audience: &Audience) -> Option<Seq> {
        let held = view.state.files.get(subject.strip_prefix(FILE)?)?;
        view.is_in(audience).then_some(held.seq)
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let is_there = view.state.files.get(&self.0.path).is_some_and(|held| held.seq == header.seq);
        if is_there && view.was_meant(header) { Seen::fact(&self) } else { None }
    }
}

impl Fact for Removed {
    const TYPE: &'static str = "file.removed";

    const SENTENCE: Sentence = |it| format!("the file {} was removed", it.text("path"));

    const DESCRIPTION: Description = Description::of(&[]);

    const MEANT_FOR: MeantFor = MeantFor::All;

    fn subject(&self) -> String {
        format!("{FILE}{}", self.path)
    }

    fn apply(self, state: &mut State, _: &Header) {
        state.files.0.remove_mut(&self.path);
    }
}
