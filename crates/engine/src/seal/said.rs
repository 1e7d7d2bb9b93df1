//! What was said in a journal, as groups of bytes. It tells of almost every value that nobody said yet that this is so, without reading
//! the journal once more: tools may bring new secrets with each result.

use callboard_core::{entry::Entry, event::EventType, id::Seq, rewriting::changed_by};
use serde_json::Value;

use super::{
    layer::{Hidden, beginnings},
    rewrite::Journal,
};
use crate::{
    error::Error,
    journal::{PAGE, damaged, read},
    texts,
};

/// How many bytes a group has. No form of a value that was found in a call is shorter; of a shorter one it is not known whether it
/// was said.
const GROUP: usize = 8;

/// How many words of 64 bits the table has for each entry.
const WORDS_OF_ENTRY: usize = 64;

/// How many words it has at least and at most: 8 KiB and 4 MiB. Where a journal fills it, more values seem to be said.
const LEAST_WORDS: usize = 1024;
const MOST_WORDS: usize = 512 * 1024;

/// Spreads groups over the table.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The groups of bytes that stand in the words of entries: a bit for each, which others may share.
pub(crate) struct SaidBytes {
    /// The last entry whose groups are there.
    through: Seq,
    words: Vec<u64>,
}

impl SaidBytes {
    /// Goes on with what was noted `before`, unless the table is small for a journal with this head.
    pub(crate) fn of(before: Option<Self>, head: Seq) -> Self {
        let entries = usize::try_from(head.0).unwrap_or(usize::MAX);
        let words = entries.saturating_mul(WORDS_OF_ENTRY).clamp(LEAST_WORDS, MOST_WORDS).next_power_of_two();
        let is_large = |before: &Self| before.words.len() * 4 > words;
        before.filter(is_large).unwrap_or_else(|| Self { through: Seq::ZERO, words: vec![0; words] })
    }

    /// Notes the entries up to `head`. Says whether all of them are there.
    pub(crate) async fn note(&mut self, journal: Journal<'_>, head: Seq) -> Result<bool, Error> {
        while self.through < head {
            let page = read(journal.store, journal.id, self.through, head, PAGE).await?;
            let Some(last) = page.last() else { return Ok(false) };
            self.through = last.header.seq;
            for entry in &page {
                self.note_entry(journal, entry).await?;
                // An older entry may say what it did not say when it was noted.
                let changed: Vec<Seq> = changed_by(entry)?.iter().map(|changed| changed.seq).collect();
                for seqs in changed.chunks(PAGE) {
                    for entry in journal.store.read_each(journal.id, seqs).await? {
                        self.note_entry(journal, &entry).await?;
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether a value may stand in what was said, in any of its forms.
    pub(crate) fn may_have(&self, value: &Hidden) -> bool {
        beginnings(value).any(|beginning| groups(&beginning).all(|group| self.has(group)))
    }

    async fn note_entry(&mut self, journal: Journal<'_>, entry: &Entry) -> Result<(), Error> {
        let Some(kind) = EventType::named(&entry.header.kind).filter(|kind| kind.has_words()) else { return Ok(()) };
        self.note_text(&entry.data);
        if entry.data.contains("\"sha256\"") {
            let data: Value = serde_json::from_str(&entry.json()).map_err(|error| damaged(entry, &error))?;
            let texts = texts::there(journal.store, journal.id, kind.long_texts(&data)).await?;
            texts.values().for_each(|text| self.note_text(text));
        }
        Ok(())
    }

    fn note_text(&mut self, text: &str) {
        for group in groups(text.as_bytes()) {
            let (word, bit) = self.place(group);
            if let Some(word) = self.words.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn has(&self, group: u64) -> bool {
        let (word, bit) = self.place(group);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The word of a group, and its bit in it.
    fn place(&self, group: u64) -> (usize, u64) {
        let hash = group.wrapping_mul(FACTOR) >> 32;
        let word = usize::try_from(hash >> 6).unwrap_or_default();
        (word & (self.words.len() - 1), 1 << (hash & 63))
    }
}

/// The groups of bytes in a text, each as a number.
fn groups(text: &[u8]) -> impl Iterator<Item = u64> {
    let group = |last: &mut u64, byte: &u8| {
        *last = (*last << 8) | u64::from(*byte);
        Some(*last)
    };
    text.iter().scan(0, group).skip(GROUP - 1)
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::seal::variants::variants;

    fn said(text: &str) -> SaidBytes {
        let mut said = SaidBytes::of(None, Seq(1));
        said.note_text(text);
        said
    }

    fn may_have(said: &SaidBytes, value: &str) -> bool {
        said.may_have(&Zeroizing::new(value.to_owned()))
    }

    #[test]
    fn a_value_that_was_said_in_any_form_may_be_there() {
        for value in ["zq/hunter22-ß", "12345678", "a\"long\nvalue\r\nwith <all> & 'more'", &"ab-3".repeat(100)] {
            for way in variants(value) {
                assert!(may_have(&said(&format!("it is {}.", way.of(value))), value), "{value:?} {way:?}");
            }
        }
    }

    #[test]
    fn a_value_that_was_not_said_is_not_there() {
        let said = said("the tide turns before noon, and every vessel waits for hunter22 and its key canary-2");
        for value in ["hunter23", "hunter22-and", "canary-22", "another-canary-3"] {
            assert!(!may_have(&said, value), "{value}");
        }
        assert!(may_have(&said, "hunter22") && may_have(&said, "canary-2"));
        assert!(may_have(&said, "short"), "it has no group");
    }

    #[test]
    fn the_table_is_made_anew_for_a_journal_that_has_become_much_longer() {
        let noted = |entries: u64| SaidBytes { through: Seq(entries), ..SaidBytes::of(None, Seq(entries)) };
        assert_eq!(SaidBytes::of(Some(noted(1_000)), Seq(2_000)).through, Seq(1_000));
        assert_eq!(SaidBytes::of(Some(noted(1_000)), Seq(30_000)).through, Seq::ZERO);
        assert_eq!(SaidBytes::of(Some(noted(100_000)), Seq(u64::MAX)).through, Seq(100_000));
        assert_eq!(SaidBytes::of(None, Seq(u64::MAX)).words.len(), MOST_WORDS);
    }
}
