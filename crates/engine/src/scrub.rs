//! Scrubbing: masking known secrets in the words that a journal already holds.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    entry::{Actor, Entry, Hash},
    erasure::{ScrubEntries, Scrubbed, ScrubbedEntry},
    event::EventType,
    fact::TextKind,
    id::Seq,
    text::{Text, Values},
};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{error::Error, journal::PAGE, live::job::Receipt, seal::mask::Mask, session::Session};

/// What masks the words of entries.
struct Scrubber {
    mask: Arc<Mask>,
    entries: Vec<ScrubbedEntry>,
    values: Values,
    unneeded: BTreeSet<Hash>,
}

impl Session {
    /// What masks all secrets that are known now in the words of all entries that there are now.
    pub async fn scrubbing(&self, reason: &str) -> Result<ScrubEntries, Error> {
        // The state first: with it comes what other servers were told.
        let head = self.state().await?.head.seq;
        let mask = self.mask().await?;
        let mut scrubber = Scrubber { mask, entries: Vec::new(), values: Values::new(), unneeded: BTreeSet::new() };
        let mut at = Seq::ZERO;
        while at < head && !scrubber.mask.is_empty() {
            let page = self.page(at, head, PAGE).await?;
            at = page.last().map(|last| last.header.seq).ok_or_else(|| self.live.gone())?;
            for entry in &page {
                scrubber.take(self, entry).await?;
            }
        }
        let Scrubber { entries, values, unneeded, .. } = scrubber;
        Ok(ScrubEntries {
            entries: entries.into(),
            values: values.into(),
            unneeded: unneeded.into(),
            reason: reason.into(),
        })
    }

    /// Masks all secrets that are known in the words of all entries, and says which held some.
    pub async fn scrub(&self, by: impl Into<Actor>, reason: &str) -> Result<Receipt<Scrubbed>, Error> {
        let receipt = self.execute(by, self.scrubbing(reason).await?).await?;
        self.forget_erased().await?;
        Ok(receipt)
    }
}

impl Scrubber {
    /// Notes an entry whose words hold a secret, as it is to be.
    async fn take(&mut self, session: &Session, entry: &Entry) -> Result<(), Error> {
        let Some(kind) = EventType::named(&entry.header.kind).filter(|kind| kind.has_words()) else { return Ok(()) };
        let mut data: Value = serde_json::from_str(&entry.json()).unwrap_or_default();
        let texts = session.values(kind.long_texts(&data)).await?;
        let mut changed = false;
        kind.change_words(&mut data, |value, kind| {
            changed |= match (kind, Text::deserialize(&*value)) {
                (TextKind::Text | TextKind::JsonText, Ok(Text::Stored(stored))) => {
                    let masked = texts.get(&stored.sha256).and_then(|text| self.masked(text, kind));
                    let masked = masked.and_then(|masked| Text::keep(&masked, "the text", &mut self.values).ok());
                    let is_masked = masked.is_some();
                    if let Some(masked) = masked {
                        self.unneeded.insert(stored.sha256);
                        *value = serde_json::to_value(masked).unwrap_or_default();
                    }
                    is_masked
                }
                _ => self.mask.mask_json(value),
            };
        });
        if changed {
            self.entries.push(ScrubbedEntry::new(entry, data));
        }
        Ok(())
    }

    /// A long text without its secrets; `None` where it has none.
    fn masked(&self, text: &str, kind: TextKind) -> Option<Arc<str>> {
        if kind == TextKind::JsonText {
            let mut json: Value = serde_json::from_str(text).ok()?;
            return self.mask.mask_json(&mut json).then(|| json.to_string().into());
        }
        self.mask.mask(text).map(Into::into)
    }
}
