//! The part that shows what was found in all that was ever said: passages that answer what is asked now, and that the prompt
//! does not show anyway.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    fact::ERASED,
    prompt::{
        Amount, PartName, Shares, Style,
        escape::{escape, one_line},
        observed::{ForeignPassage, Observations, Observed, Passage},
    },
};

use crate::{
    labels::marked,
    parts::{
        Changes, Gathered, Part, Source,
        unsaid::{Shortens, TextPiece, left_out_note},
    },
};

pub(crate) const PART: Part<'static> = Part {
    heading: HEADING,
    shares: Some((PartName::RECALL, Shares { min: None, max: Some(Amount::Percent(15)), priority: Some(2) })),
    ..Part::new("recall", Changes::Always, gather)
};

const HEADING: &str = "RECALLED PASSAGES:";
const TAG: &str = "RECALLED_PASSAGES";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let Observations { recall, recall_notes: notes, elsewhere, .. } = &from.spec.observed;
    let passages = match recall {
        Observed::Absent => return Ok(None),
        Observed::Failed(why) => return Ok(from.failed(HEADING, why)),
        Observed::Seen(passages) if passages.is_empty() && elsewhere.is_empty() && notes.is_empty() => {
            return Ok(None);
        }
        Observed::Seen(passages) => passages,
    };
    // What is not at hand does not say any more what was found.
    let text = |passage: &Passage| from.values.get(&passage.sha256).cloned().unwrap_or_else(|| ERASED.into());
    let found = passages.iter().map(|passage| (passage, text(passage))).collect();
    Ok(from.bounded(Passages {
        found,
        elsewhere,
        notes,
        style: from.spec.layout.style(),
        fetch: from.renderer.by("ask for more", "recall"),
    }))
}

/// The passages, the best first.
struct Passages<'a> {
    found: Vec<(&'a Passage, Arc<str>)>,
    /// What sources elsewhere gave; it comes behind.
    elsewhere: &'a [ForeignPassage],
    /// Why more may be found.
    notes: &'a [String],
    style: Style,
    /// How to get more, where that is on offer.
    fetch: String,
}

impl Passages<'_> {
    /// How many of `shown` passages are of the session and its collections, and how many from elsewhere: in turns, as long as
    /// there are some of both.
    fn split(&self, shown: usize) -> (usize, usize) {
        let own = self.found.len().min(shown - self.elsewhere.len().min(shown / 2));
        (own, shown - own)
    }

    fn line(&self, (passage, text): &(&Passage, Arc<str>)) -> String {
        let Passage { at, from, .. } = passage;
        let entry = place(passage);
        format!("[{entry}, {at}, {}]\n{}\n", escape(from), self.said(text))
    }

    fn foreign(&self, passage: &ForeignPassage) -> String {
        let ForeignPassage { from, text, url } = passage;
        let url = url.as_ref().map(|url| format!(", {}", one_line(url))).unwrap_or_default();
        format!("[from outside: {}{url}]\n{}\n", one_line(from), self.said(text))
    }

    fn said(&self, text: &str) -> String {
        let text = escape(text.trim());
        match self.style {
            Style::Tagged => text,
            Style::Labelled => marked(&text).trim_end().to_owned(),
        }
    }
}

impl Shortens for Passages<'_> {
    fn whole(&self) -> usize {
        self.found.len() + self.elsewhere.len()
    }

    fn pieces(&self, shown: usize, _: Tokens) -> Vec<TextPiece> {
        let left_out = self.whole().saturating_sub(shown);
        let (own, foreign) = self.split(shown);
        let mut best: Vec<_> = self.found.iter().take(own).collect();
        best.sort_by_key(|(passage, _)| (&passage.collection, passage.seq, passage.start));
        // Entries of collections are none of the session.
        let shows = |passage: &Passage| Vec::from_iter(passage.collection.is_none().then_some(passage.seq));
        let own =
            best.into_iter().map(|found| TextPiece { text: self.line(found), shows: shows(found.0), shortened: false });
        let foreign = self.elsewhere.iter().take(foreign).map(|passage| self.foreign(passage));
        let notes = self.notes.iter().map(|note| format!("{}\n", one_line(note)));
        let left = left_out_note(left_out, "1 passage that fits less", "# passages that fit less", &self.fetch);
        let head = "Said earlier, and found by what is asked now; the oldest first.";
        let (open, close) = match self.style {
            Style::Tagged => (format!("<{TAG}>\n{head}\n"), format!("{left}</{TAG}>\n")),
            Style::Labelled => (format!("{HEADING}\n{head}\n"), format!("{left}\n")),
        };
        let around = |text| TextPiece { text, shows: Vec::new(), shortened: left_out > 0 };
        let mut pieces = vec![around(open)];
        pieces.extend(own.chain(foreign.chain(notes).map(around)));
        match pieces.last_mut().filter(|_| close.starts_with('\n')) {
            // An empty line is no piece of its own: how it is counted depends on what stands before it.
            Some(last) => last.text += &close,
            None => pieces.push(around(close)),
        }
        pieces
    }

    fn omitted(&self, shown: usize) -> Vec<String> {
        let own = self.found.iter().map(|(passage, _)| place(passage));
        let foreign = self.elsewhere.iter().map(|passage| format!("{} from outside", passage.from));
        let (shown_own, shown_foreign) = self.split(shown);
        own.skip(shown_own).chain(foreign.skip(shown_foreign)).collect()
    }
}

/// Where a passage stands, for people and models.
fn place(passage: &Passage) -> String {
    match &passage.collection {
        Some(collection) => format!("entry {} of the collection {collection}", passage.seq),
        None => format!("entry {}", passage.seq),
    }
}
