//! The index of one journal: what was said in which entry, and which terms stand where.

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{entry::Head, id::Seq};

use crate::{
    english,
    passage::{Passage, passages, sections},
    postings::{Packed, Postings},
    sight::Sight,
    terms::{Reader, Terms},
    texts::{Class, Indexed, Item, Kind, Text, Texts, to_u16, to_u32},
    vectors::Vectors,
};

/// The sights of so many viewers are kept.
const SIGHTS: usize = 8;

/// So many passages are added at once while others may wait for the index.
const STEP: usize = 64;

/// The index of one journal.
#[derive(Debug, Default)]
pub struct Index {
    /// How far the journal was read.
    pub cursor: Head,
    /// The newest entry of which it has something.
    newest: Seq,
    pub(crate) texts: Texts,
    pub(crate) postings: Postings,
    /// The vectors of its passages, where a model gives them. They are not written with it.
    pub(crate) vectors: Vectors,
    /// Counts whenever something changes that was there before: what was derived from it no longer holds.
    revision: u64,
    /// How often it was saved.
    pub(crate) saved: i64,
    /// How many passages were added since.
    pub(crate) unsaved: usize,
    /// Whether words were taken away since.
    pub(crate) has_erased: bool,
    reader: Reader,
    /// What viewers see of it, as of some revision.
    sights: Mutex<Vec<(u64, Arc<Sight>)>>,
}

impl Index {
    /// An index that was written, and saved so often.
    pub(crate) fn read(cursor: Head, texts: Texts, packed: Packed, saved: i64) -> Self {
        let postings = Postings::read(packed, to_u32(texts.passages.len()));
        Self { cursor, texts, postings, saved, ..Self::default() }
    }

    /// The newest entry of which it has something: the cursor, or one behind that while some of the journal is added.
    pub fn newest(&self) -> Seq {
        self.newest.max(self.cursor.seq)
    }

    /// How many passages it has.
    pub fn passages(&self) -> usize {
        self.texts.passages.len()
    }

    /// How much memory it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        let texts = self.texts.texts.len() * size_of::<Text>() + self.texts.passages.len() * size_of::<Indexed>();
        let sights = self.sights.lock().unwrap_or_else(PoisonError::into_inner);
        let sights = sights.iter().map(|(_, sight)| sight.bytes()).sum::<usize>();
        (texts + sights + self.vectors.bytes()) as u64 + self.postings.bytes()
    }

    /// Adds a text. One that is not a message takes the place of those about the same before it only where
    /// [`end`](Self::end) says so.
    pub fn add(&mut self, item: &Item<'_>) {
        add_in_steps(item, |step| step(self));
    }

    /// Adds a passage of the text that is added next.
    fn add_passage(&mut self, bytes: &Range<usize>, words: usize, terms: &Terms) {
        self.postings.add(to_u32(self.texts.passages.len()), terms);
        self.unsaved += 1;
        self.texts.passages.push(Indexed {
            text: to_u32(self.texts.texts.len()),
            start: to_u32(bytes.start),
            end: to_u32(bytes.end),
            words: to_u16(words),
            terms: to_u16(terms.words.len()),
        });
    }

    /// Notes that what was said before about `subject` no longer holds since the entry `seq`; messages stay as they are.
    pub fn end(&mut self, subject: &str, seq: Seq) {
        self.newest = self.newest.max(seq);
        for text in self.texts.take_standing(subject) {
            if let Some(text) = self.texts.texts.get_mut(text as usize) {
                text.until = Some(seq);
                self.revision += 1;
            }
        }
    }

    /// The subjects of all texts that hold.
    pub fn standing(&self) -> impl Iterator<Item = &str> {
        self.texts.standing()
    }

    /// Takes away all words of the entry `seq`. Nobody sees them any more; where they stood goes when the index is packed.
    pub fn erase(&mut self, seq: Seq) {
        for text in self.texts.texts.iter_mut().filter(|text| text.seq == seq && !text.erased) {
            text.erased = true;
            self.revision += 1;
            self.has_erased = true;
            for number in text.passages.clone() {
                self.vectors.remove(number);
                if let Some(passage) = self.texts.passages.get_mut(number as usize) {
                    (passage.start, passage.end, passage.words, passage.terms) = (0, 0, 0, 0);
                }
            }
        }
    }

    /// Packs all postings but those of words that were taken away.
    pub(crate) fn pack(&mut self) {
        let (Texts { texts, passages, .. }, has_erased) = (&self.texts, self.has_erased);
        let text_of = |passage: u32| texts.get(passages.get(passage as usize)?.text as usize);
        let is_erased = |passage: u32| has_erased && text_of(passage).is_some_and(|text| text.erased);
        self.postings.pack(to_u32(passages.len()), |passage| !is_erased(passage));
    }

    /// What a viewer sees of it, who sees each class from the entry on that `from` says, as of the entry `at`. What was made
    /// for the same viewer before is extended.
    pub(crate) fn sight(&self, from: &dyn Fn(&Class) -> Option<Seq>, at: Option<Seq>) -> Arc<Sight> {
        let from: Vec<Option<Seq>> = self.texts.classes.iter().map(from).collect();
        if at.is_some() {
            return Arc::new(Sight::default().extended(&self.texts, from, at));
        }
        let mut sights = self.sights.lock().unwrap_or_else(PoisonError::into_inner);
        sights.retain(|(revision, _)| *revision == self.revision);
        let known = sights.iter().position(|(_, sight)| sight.begins(&from)).map(|place| sights.remove(place).1);
        if let Some(sight) = known.as_ref().filter(|sight| sight.has_all(&self.texts)) {
            sights.insert(0, (self.revision, sight.clone()));
            return sight.clone();
        }
        let known = known.map(Arc::unwrap_or_clone).unwrap_or_default();
        let sight = Arc::new(known.extended(&self.texts, from, None));
        sights.insert(0, (self.revision, sight.clone()));
        sights.truncate(SIGHTS);
        sight
    }
}

/// Adds a text to an index that others use meanwhile: they wait for a few of its passages, and find it once it is whole.
/// Nobody else may add one before that.
pub fn add_shared(index: &Mutex<Index>, item: &Item<'_>) {
    add_in_steps(item, |step| step(&mut lock(index)));
}

/// Adds a text. All that `with` does with an index takes little time: reading the text is done without it.
fn add_in_steps(item: &Item<'_>, mut with: impl FnMut(&mut dyn FnMut(&mut Index))) {
    let (named, body) = match item.kind {
        Kind::Message => named_speaker(item.text),
        Kind::Text => (None, 0),
    };
    let said = item.text.get(body..).unwrap_or_default();
    let cut = passages_under_headings(said, item.has_headings);
    if cut.is_empty() {
        return;
    }
    let mut reader = Reader::default();
    with(&mut |index: &mut Index| reader = std::mem::take(&mut index.reader));
    for step in cut.chunks(STEP) {
        let terms = step.iter().map(|(passage, headings)| {
            let bytes = body + passage.bytes.start..body + passage.bytes.end;
            let terms = terms_of(headings, item.text.get(bytes.clone()).unwrap_or_default(), &mut reader);
            (bytes, terms)
        });
        let all: Vec<(Range<usize>, Terms)> = terms.collect();
        with(&mut |index: &mut Index| {
            for ((passage, _), (bytes, terms)) in step.iter().zip(&all) {
                index.add_passage(bytes, passage.words, terms);
            }
            if index.postings.has_many_new(to_u32(index.passages())) {
                index.pack();
            }
        });
    }
    let end = said.trim_end();
    let words = to_u32(cut.iter().map(|(passage, _)| passage.words).sum());
    with(&mut |index: &mut Index| {
        index.newest = index.newest.max(item.seq);
        index.reader = std::mem::take(&mut reader);
        index.revision += u64::from(index.texts.texts.last().is_some_and(|last| last.seq > item.seq));
        let class = index.texts.class(&item.class);
        let speaker = named.or(item.speaker).map(|name| index.texts.speaker(name));
        let passages = to_u32(index.passages() - cut.len())..to_u32(index.passages());
        index.texts.push(Text {
            seq: item.seq,
            kind: item.kind,
            class,
            speaker,
            role: item.role,
            time: item.time,
            words,
            asks: end.chars().rev().take(40).any(is_question_mark),
            ends_asking: end.ends_with(is_question_mark),
            passages,
            until: None,
            erased: false,
        });
    });
}

/// The terms of a passage, with those of the headings above it.
fn terms_of(headings: &[&str], passage: &str, reader: &mut Reader) -> Terms {
    let mut terms = Terms::default();
    for heading in headings {
        reader.read(heading, &mut terms);
    }
    reader.read(passage, &mut terms);
    terms
}

/// Locks an index. After a panic at worst one text is missing.
pub fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    index.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The passages of a text, each with the headings above it.
fn passages_under_headings(text: &str, has_headings: bool) -> Vec<(Passage, Vec<&str>)> {
    if !has_headings {
        return passages(text).into_iter().map(|passage| (passage, Vec::new())).collect();
    }
    let mut all = Vec::new();
    for section in sections(text) {
        let cut = passages(text.get(section.bytes.clone()).unwrap_or_default());
        all.extend(cut.into_iter().enumerate().map(|(place, mut passage)| {
            passage.bytes = section.bytes.start + passage.bytes.start..section.bytes.start + passage.bytes.end;
            // The first one has the section's own headings in its text.
            (passage, if place == 0 { section.above.clone() } else { section.under.clone() })
        }));
    }
    all
}

/// The speaker of a message that begins with `Name: `, and where what is said begins.
fn named_speaker(text: &str) -> (Option<&str>, usize) {
    let named = || {
        let line = text.lines().next()?;
        let (name, rest) = line.split_once(": ")?;
        let is_name = |word: &str| {
            word.starts_with(char::is_uppercase)
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '\''))
                && !english::is_label(word)
        };
        let words: Vec<&str> = name.split(' ').collect();
        let is_named = name.len() <= 40 && words.len() <= 3 && words.iter().all(|word| is_name(word));
        (is_named && !rest.trim().is_empty()).then_some(name)
    };
    named().map_or((None, 0), |name| (Some(name), name.len() + 2))
}

fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟')
}

#[cfg(test)]
mod tests;
