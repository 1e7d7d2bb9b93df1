//! Erasing the words of an entry.

use std::sync::Arc;

use serde_json::Value;

use super::{EraseEntry, ErasedEntry, words::data_of};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    entry::{Entry, Erasure, Hash, copied, erased},
    erasure::{ChangedEntry, Erased, check_reason, forget_prompt},
    error::{ConflictKind, Error},
    event::{self, EventType},
    fact::{self, Fact},
    id::Seq,
    input::InputVisitor,
    rights::Right,
};

impl KeptAnswer for ErasedEntry {
    const NAME: &'static str = "erased";
}

impl Command for EraseEntry {
    type Answer = ErasedEntry;

    const RIGHT: Right = Right::user("erase entries");

    const ERASES: bool = true;

    const IN_COLLECTIONS: bool = true;

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<ErasedEntry, Undecided> {
        check_reason(&self.reason)?;
        let (seq, head) = (self.seq, decision.state.head.seq);
        let absent = || Error::NoEntry { seq, head };
        if seq == Seq::ZERO || seq > head {
            return Err(absent().into());
        }
        let entry = decision.entry(seq)?.ok_or_else(absent)?;
        if let Some(erasure) = entry.erasure().filter(|_| event::is_erased(&entry)) {
            return before(decision, seq, erasure.by);
        }
        let mut copies = (*self.copies).clone();
        while copies.through < head {
            let next = copies.through.next();
            let newer = decision.entry(next)?.ok_or(Error::NoEntry { seq: next, head })?;
            copies.look_at(&newer)?;
        }
        let by = decision.next_seq();
        let data = without_words(&entry, by).ok_or_else(|| Error::Conflict {
            kind: ConflictKind::NothingToErase,
            what: format!("entry {seq} ({}) holds nobody's own words", entry.header.kind),
            hint: "erase the entry that holds them: `why` finds entries by their words",
        })?;
        let sha256 = Hash::of(data.as_bytes());
        let mut rewritten = Vec::new();
        for &seq in &copies.copies {
            let copy = decision.entry(seq)?.ok_or(Error::NoEntry { seq, head })?;
            rewritten.extend(without_words(&copy, by).map(|data| (seq, data)));
        }
        for &seq in &copies.versions {
            let version = decision.entry(seq)?.ok_or(Error::NoEntry { seq, head })?;
            let data = copies.without_repeats(&version);
            rewritten.extend(data.map(|data| (seq, in_place_of(&version, by, &data))));
        }
        for &seq in &copies.turns {
            let turn = decision.entry(seq)?.ok_or(Error::NoEntry { seq, head })?;
            // It has a hash of the prompt that showed the words.
            let mut data = data_of(&turn);
            forget_prompt(&mut data);
            rewritten.push((seq, in_place_of(&turn, by, &data)));
        }
        rewritten.sort_unstable();
        let copied = rewritten.iter().map(|(seq, data)| ChangedEntry { seq: *seq, sha256: Hash::of(data.as_bytes()) });
        let copied: Vec<_> = copied.collect();
        let answer = answer(seq, Some(by), &copied);
        decision.erased.values = copies.unneeded();
        for (seq, data) in rewritten.into_iter().chain([(seq, data)]) {
            decision.erased.values.extend(copies.sealed.get(&seq));
            decision.erased.entries.insert(seq, data);
        }
        decision.record(Erased { seq, reason: self.reason.clone(), sha256, copies: copied });
        Ok(answer)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.reason);
    }

    fn entries(&self) -> Vec<Seq> {
        let copies = &self.copies;
        [&self.seq].into_iter().chain(&copies.copies).chain(&copies.versions).chain(&copies.turns).copied().collect()
    }
}

/// The answer for an entry that was erased before, by the entry `by`.
fn before(decision: &DecisionBuilder<'_>, seq: Seq, by: Seq) -> Result<ErasedEntry, Undecided> {
    let erasing = if by <= decision.state.head.seq { decision.entry(by)? } else { None };
    let erased = erasing.filter(|entry| *entry.header.kind == *Erased::TYPE).map(|entry| fact::read::<Erased>(&entry));
    let erased = erased.transpose()?.filter(|erased| erased.entries().any(|erased| erased.seq == seq));
    Ok(match erased {
        Some(erased) => answer(erased.seq, Some(by), &erased.copies),
        None => answer(seq, None, &[]),
    })
}

fn answer(seq: Seq, erased_by: Option<Seq>, copies: &[ChangedEntry]) -> ErasedEntry {
    ErasedEntry { seq, erased_by, copies: copies.iter().map(|copy| copy.seq).collect() }
}

/// What stands in the place of the data of an entry that `by` erases; `None` where it holds no words.
fn without_words(entry: &Entry, by: Seq) -> Option<Arc<str>> {
    let kind = EventType::named(&entry.header.kind)?;
    let mut data = data_of(entry);
    if kind.words(&data).is_empty() {
        return None;
    }
    event::erase(kind.kind, &mut data);
    forget_prompt(&mut data);
    Some(in_place_of(entry, by, &data))
}

/// `data` as it stands in the place of what `by` erased of an entry.
fn in_place_of(entry: &Entry, by: Seq, data: &Value) -> Arc<str> {
    let data = copied(&entry.copied_from(), &data.to_string());
    erased(Erasure { sha256: entry.data_hash(), by }, &data).into()
}
