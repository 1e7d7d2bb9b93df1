//! The part that shows what was found in all that was ever said: passages that answer what is asked now, and that the prompt
//! does not show anyway.

use std::sync::Arc;

use super::{Changes, Content, Part, Source, unsaid::Shortens};
use crate::{
    count::Tokens,
    fact::ERASED,
    id::Seq,
    prompt::{
        Lacking,
        escape::escape,
        labels::marked,
        layout::Style,
        observed::{Observed, Passage},
        part_name::PartName,
        share::{Amount, Shares},
    },
};

pub(in crate::prompt) struct Recall;

const HEADING: &str = "RECALLED PASSAGES:";
const TAG: &str = "RECALLED_PASSAGES";

impl Part for Recall {
    fn name(&self) -> &'static str {
        PartName::RECALL.as_str()
    }

    fn heading(&self) -> &'static str {
        HEADING
    }

    fn tags(&self) -> &'static [&'static str] {
        &[TAG]
    }

    fn changes(&self) -> Changes {
        Changes::Always
    }

    fn shares(&self) -> Option<(PartName, Shares)> {
        let max = Some(Amount::Percent(15));
        Some((PartName::RECALL, Shares { min: None, max, priority: Some(2) }))
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let passages = match &from.spec.observed.recall {
            Observed::Absent => return Ok(None),
            Observed::Failed(why) => return Ok(from.failed(HEADING, why)),
            Observed::Seen(passages) if passages.is_empty() => return Ok(None),
            Observed::Seen(passages) => passages,
        };
        // What is not at hand does not say any more what was found.
        let text = |passage: &Passage| from.values.get(&passage.sha256).cloned().unwrap_or_else(|| ERASED.into());
        let found = passages.iter().map(|passage| (passage, text(passage))).collect();
        Ok(from.bounded(Passages {
            found,
            style: from.spec.style(),
            fetch: from.renderer.by("ask for more", "recall"),
        }))
    }
}

/// The passages, the best first.
struct Passages<'a> {
    found: Vec<(&'a Passage, Arc<str>)>,
    style: Style,
    /// How to get more, where that is on offer.
    fetch: String,
}

impl Passages<'_> {
    fn line(&self, (passage, text): &(&Passage, Arc<str>)) -> String {
        let Passage { at, from, .. } = passage;
        let entry = place(passage);
        let text = escape(text.trim());
        let text = match self.style {
            Style::Tagged => text,
            Style::Labelled => marked(&text).trim_end().to_owned(),
        };
        format!("[{entry}, {at}, {}]\n{text}\n", escape(from))
    }
}

impl Shortens for Passages<'_> {
    fn whole(&self) -> usize {
        self.found.len()
    }

    fn write(&self, shown: usize, _: Tokens) -> String {
        let mut best: Vec<_> = self.found.iter().take(shown).collect();
        best.sort_by_key(|(passage, _)| (&passage.collection, passage.seq, passage.start));
        let lines: String = best.into_iter().map(|found| self.line(found)).collect();
        let fetch = &self.fetch;
        let left_out = match self.found.len().saturating_sub(shown) {
            0 => String::new(),
            1 => format!("[left out: 1 passage that fits less{fetch}]\n"),
            many => format!("[left out: {many} passages that fit less{fetch}]\n"),
        };
        let head = "Said earlier, and found by what is asked now; the oldest first.";
        match self.style {
            Style::Tagged => format!("<{TAG}>\n{head}\n{lines}{left_out}</{TAG}>\n"),
            Style::Labelled => format!("{HEADING}\n{head}\n{lines}{left_out}\n"),
        }
    }

    fn omitted(&self, shown: usize) -> Vec<String> {
        self.found.iter().skip(shown).map(|(passage, _)| place(passage)).collect()
    }

    fn shows(&self, shown: usize) -> Vec<Seq> {
        let own = self.found.iter().take(shown).filter(|(passage, _)| passage.collection.is_none());
        own.map(|(passage, _)| passage.seq).collect()
    }
}

/// Where a passage stands, for people and models.
fn place(passage: &Passage) -> String {
    match &passage.collection {
        Some(collection) => format!("entry {} of the collection {collection}", passage.seq),
        None => format!("entry {}", passage.seq),
    }
}
