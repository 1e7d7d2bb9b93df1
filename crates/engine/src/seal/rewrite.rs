//! Rewriting: finding the entries that say what becomes a secret, and what is to stand in them then.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    entry::{Entry, Hash},
    event::EventType,
    fact::{self, Fact, TextKind},
    id::{Seq, SessionId},
    input::HideSecrets as _,
    rewriting::rewritten,
    run::turn_facts::TurnRequested,
    sealed::{Rewriting, StoredValue},
    state::State,
    text::{Text, Values},
};
use callboard_store::Store;
use serde::Deserialize as _;
use serde_json::Value;
use zeroize::Zeroizing;

use super::{
    keys::DataKey,
    known::Brought,
    layer::Hidden,
    mask::Mask,
    originals::{Original, Originals, name_of, originals},
};
use crate::{
    error::Error,
    journal::{PAGE, Pages, damaged, read},
    texts,
};

/// What earlier entries say of values that become secrets.
pub(crate) struct Scan {
    wanted: Vec<Arc<Hidden>>,
    /// The entry that had last changed what older ones say.
    erased: Seq,
    /// The last entry that was looked at.
    through: Seq,
    found: BTreeMap<Seq, Found>,
    /// The long texts with hidden values.
    values: Values,
    /// The long texts that nobody refers to any more.
    unneeded: BTreeSet<Hash>,
    /// What is sealed of entries already.
    sealed: Originals,
}

/// An entry that says some of the values.
struct Found {
    entry: Entry,
    /// Its data with the values hidden.
    data: Value,
    /// How it was; `None` where only what is known of its prompt goes.
    original: Option<Zeroizing<String>>,
}

/// The journal in which values are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Journal<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) id: &'a SessionId,
}

impl Scan {
    /// Begins a search for values in the journal that leads to `state`, or goes on with one that looked at some of it `before`.
    pub(crate) fn of(wanted: Vec<Arc<Hidden>>, state: &State, before: Option<Self>) -> Self {
        before.filter(|before| before.goes_on(&wanted, state)).unwrap_or_else(|| Self {
            wanted,
            erased: state.erased,
            through: Seq::ZERO,
            found: BTreeMap::new(),
            values: Values::new(),
            unneeded: BTreeSet::new(),
            sealed: Originals::default(),
        })
    }

    /// Looks at the entries up to `head`, with a mask of those of the values that may be there. Says whether all entries are.
    pub(crate) async fn look(&mut self, journal: Journal<'_>, mask: &Mask, head: Seq) -> Result<bool, Error> {
        if mask.is_empty() {
            self.through = head;
            return Ok(true);
        }
        while self.through < head {
            let page = read(journal.store, journal.id, self.through, head, PAGE).await?;
            let Some(last) = page.last() else { return Ok(false) };
            self.through = last.header.seq;
            for entry in page {
                self.take(journal, mask, entry).await?;
            }
        }
        if !self.found.is_empty() {
            self.take_turns(journal, head).await?;
            self.sealed = originals(journal.store, journal.id, head).await?;
        }
        Ok(true)
    }

    /// Whether all of the journal that leads to `state` was looked at, for these values.
    pub(crate) fn is_whole(&self, wanted: &[Arc<Hidden>], state: &State) -> bool {
        self.goes_on(wanted, state) && self.through == state.head.seq
    }

    fn goes_on(&self, wanted: &[Arc<Hidden>], state: &State) -> bool {
        self.wanted == wanted && self.erased == state.erased && self.through <= state.head.seq
    }

    /// What is rewritten, with the originals sealed; `None` where the machine has no randomness.
    pub(crate) fn rewriting(&self, brought: &Brought, key: &DataKey) -> Option<Rewriting> {
        let secrets = brought.secrets.iter().map(|(hash, secret)| (secret.name.clone(), *hash)).collect();
        let (values, unneeded) = (self.values.clone(), self.unneeded.clone());
        let mut rewriting = Rewriting { secrets, entries: Vec::with_capacity(self.found.len()), values, unneeded };
        for (seq, Found { entry, data, original }) in &self.found {
            let sealed: Option<StoredValue> = match original {
                Some(original) if !self.sealed.has(*seq) => {
                    let text: Arc<str> = key.seal(original, &name_of(*seq))?.into();
                    Some((Hash::of(text.as_bytes()), text))
                }
                _ => None,
            };
            rewriting.entries.push(rewritten(entry, data.clone(), sealed.as_ref().map(|(hash, _)| *hash)));
            rewriting.values.extend(sealed);
        }
        Some(rewriting)
    }

    /// Looks at the next entry. `mask` finds the values.
    async fn take(&mut self, journal: Journal<'_>, mask: &Mask, entry: Entry) -> Result<(), Error> {
        let Some(kind) = EventType::named(&entry.header.kind).filter(|kind| kind.has_words()) else { return Ok(()) };
        if !mask.finds(&entry.data) && !entry.data.contains("\"sha256\"") {
            return Ok(());
        }
        let before = entry.json().into_owned();
        let mut data: Value = serde_json::from_str(&before).map_err(|error| damaged(&entry, &error))?;
        let texts = texts::there(journal.store, journal.id, kind.long_texts(&data)).await?;
        if !hide(mask, kind, &mut data, &texts, &mut self.values) {
            return Ok(());
        }
        let now: BTreeSet<Hash> = kind.long_texts(&data).into_iter().collect();
        self.unneeded.extend(texts.keys().filter(|hash| !now.contains(hash)));
        let original = serde_json::to_string(&Original { data: before, texts });
        let original = original.map_err(|error| damaged(&entry, &error))?.into();
        self.found.insert(entry.header.seq, Found { entry, data, original: Some(original) });
        Ok(())
    }

    /// Notes the turns whose prompts showed what is rewritten: they have the hashes of those prompts.
    async fn take_turns(&mut self, journal: Journal<'_>, head: Seq) -> Result<(), Error> {
        let Some(first) = self.found.keys().next().copied() else { return Ok(()) };
        let mut pages = Pages::of(journal.store, journal.id, first, head, vec![TurnRequested::TYPE.into()]);
        while let Some(page) = pages.next().await? {
            for entry in page {
                let turn: TurnRequested = fact::read(&entry)?;
                let shows = |(first, last): &(Seq, Seq)| self.found.range(*first..=*last).next().is_some();
                if !self.found.contains_key(&entry.header.seq) && turn.prompt.shows.iter().any(shows) {
                    let data = serde_json::from_str(&entry.json()).map_err(|error| damaged(&entry, &error))?;
                    self.found.insert(entry.header.seq, Found { entry, data, original: None });
                }
            }
        }
        Ok(())
    }
}

/// Hides values in the words of an entry of this type, of which `texts` are the long ones. Those that change are kept in `values`.
/// Says whether there were any.
pub(crate) fn hide(mask: &Mask, kind: &EventType, data: &mut Value, texts: &Values, values: &mut Values) -> bool {
    let mut changed = false;
    kind.description.change_words(data, |value, field| {
        changed |= match (field.kind, Text::deserialize(&*value)) {
            (TextKind::Text | TextKind::JsonText, Ok(Text::Stored(stored))) => {
                let masked = texts.get(&stored.sha256).and_then(|text| hide_in_text(mask, text, field.kind));
                // It is no longer than it was but for a few characters, which every long text has room for.
                let kept = masked.and_then(|masked| Text::keep(&masked, "the text", values).ok());
                kept.and_then(|kept| serde_json::to_value(kept).ok()).is_some_and(|kept| {
                    *value = kept;
                    true
                })
            }
            _ => mask.hide(field.key(), value),
        };
    });
    changed
}

/// A long text with values hidden; `None` where there are none in it.
fn hide_in_text(mask: &Mask, text: &str, kind: TextKind) -> Option<Arc<str>> {
    if kind == TextKind::JsonText {
        let mut json: Value = serde_json::from_str(text).ok()?;
        return mask.mask_json(&mut json).then(|| json.to_string().into());
    }
    mask.mask(text).map(Into::into)
}
