//! Some known values, and what finds them in texts.
//!
//! An automaton finds the beginnings of all forms of the values. The rest of a long form is compared by its digest, which
//! is made when its beginning was found: a value may be of megabytes, and its forms are never kept.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use zeroize::Zeroizing;

use super::{
    digest::{Digest, Digested},
    variants::variants,
    writing::Writing,
};

/// How many bytes of a form the automaton finds.
pub(super) const HEAD_BYTES: usize = 64;

/// There are too many values to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are too many to be looked for in texts")
    }
}

/// A value to be hidden.
pub(crate) type Hidden = Zeroizing<String>;

pub(super) struct Layer {
    /// In order, each once.
    pub(super) hidden: Vec<Arc<Hidden>>,
    /// In the order of their bytes.
    heads: Vec<Head>,
    /// How many bytes the heads have together.
    pub(super) bytes: usize,
    automaton: AhoCorasick,
}

/// The beginning of one form or more.
struct Head {
    bytes: Zeroizing<Vec<u8>>,
    /// Whether some value has this as a whole form.
    is_whole: bool,
    /// Forms that go on behind it.
    longer: Vec<Longer>,
}

struct Longer {
    hidden: Arc<Hidden>,
    writing: Writing,
    digest: OnceLock<Digest>,
}

impl Layer {
    /// Finds these values. Their beginnings may have `most` bytes.
    pub(super) fn new(mut hidden: Vec<Arc<Hidden>>, most: usize) -> Result<Self, TooMany> {
        hidden.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        hidden.dedup();
        let (mut forms, mut heads) = (Vec::new(), Vec::<Head>::new());
        let mut bytes = 0;
        for hidden in &hidden {
            for writing in variants(hidden) {
                let (beginning, is_whole) = writing.beginning(hidden, HEAD_BYTES);
                bytes += beginning.len();
                forms.push((Zeroizing::new(beginning), is_whole, hidden, writing));
            }
            if bytes > most {
                return Err(TooMany);
            }
        }
        forms.sort_by(|a, b| a.0.cmp(&b.0));
        for (bytes, is_whole, hidden, writing) in forms {
            if heads.last().is_none_or(|last| last.bytes != bytes) {
                heads.push(Head { bytes, is_whole: false, longer: Vec::new() });
            }
            let Some(head) = heads.last_mut() else { continue };
            if is_whole {
                head.is_whole = true;
            } else {
                head.longer.push(Longer { hidden: hidden.clone(), writing, digest: OnceLock::new() });
            }
        }
        // All matches are asked for, so that of two values that overlap nothing is left.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(heads.iter().map(|head| head.bytes.as_slice()))
            .map_err(|_| TooMany)?;
        Ok(Self { hidden, heads, bytes, automaton })
    }

    /// Whether this is one of the values.
    pub(super) fn has(&self, value: &str) -> bool {
        self.hidden.binary_search_by(|hidden| hidden.as_str().cmp(value)).is_ok()
    }

    /// Where the values stand in `text`, in any order.
    pub(super) fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let mut digested = None;
        self.heads_in(text).flat_map(move |(start, head)| {
            let whole = head.is_whole.then(|| start..start + head.bytes.len());
            let longer = head.longer.iter().filter_map(|longer| {
                let digest = longer.digest(text.len() - start)?;
                let there = digested.get_or_insert_with(|| Digested::new(text)).has(start, digest);
                there.then(|| start..start + digest.bytes)
            });
            whole.into_iter().chain(longer).collect::<Vec<_>>()
        })
    }

    /// Where a form begins, or seems to.
    fn heads_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, &'a Head)> {
        let matches = self.automaton.find_overlapping_iter(text);
        matches.filter_map(|found| Some((found.start(), self.heads.get(found.pattern().as_usize())?)))
    }

    /// From where on `text` may be the beginning of a value that goes on behind it.
    pub(super) fn begins(&self, text: &str) -> usize {
        let from = text.len().saturating_sub(HEAD_BYTES - 1);
        let mut starts = (from..text.len()).filter(|at| text.is_char_boundary(*at));
        let short = starts.find(|at| text.as_bytes().get(*at..).is_some_and(|end| self.goes_on(end)));
        let short = short.unwrap_or(text.len());
        self.begins_long(text).map_or(short, |long| long.min(short))
    }

    /// Whether some head begins with `beginning` and is longer.
    fn goes_on(&self, beginning: &[u8]) -> bool {
        let at = self.heads.partition_point(|head| head.bytes.as_slice() <= beginning);
        self.heads.get(at).is_some_and(|head| head.bytes.starts_with(beginning))
    }

    /// The same for values whose whole head is there.
    fn begins_long(&self, text: &str) -> Option<usize> {
        let mut starts: BTreeMap<*const Head, (&Head, Vec<usize>)> = BTreeMap::new();
        for (start, head) in self.heads_in(text).filter(|(_, head)| !head.longer.is_empty()) {
            starts.entry(std::ptr::from_ref(head)).or_insert_with(|| (head, Vec::new())).1.push(start);
        }
        if starts.is_empty() {
            return None;
        }
        let digested = Digested::new(text);
        let of = |(head, starts): (&Head, Vec<usize>)| {
            let first = |longer: &Longer| {
                let bytes = starts.iter().rev().map(|start| text.len() - start);
                let beginnings = Digest::of_beginnings(longer.writing, &longer.hidden, bytes);
                let mut there = beginnings.iter().rev().map(|digest| (text.len() - digest.bytes, digest));
                there.find(|(start, digest)| digested.has(*start, digest)).map(|(start, _)| start)
            };
            head.longer.iter().filter_map(first).min()
        };
        starts.into_values().filter_map(of).min()
    }
}

/// The beginnings of all forms of a value.
pub(super) fn beginnings(hidden: &Hidden) -> impl Iterator<Item = Zeroizing<Vec<u8>>> {
    variants(hidden).into_iter().map(move |writing| Zeroizing::new(writing.beginning(hidden, HEAD_BYTES).0))
}

/// How many bytes they have.
pub(super) fn bytes_of(hidden: &Hidden) -> usize {
    beginnings(hidden).map(|beginning| beginning.len()).sum()
}

impl Longer {
    /// The digest of the form, unless it has more than `room` bytes for sure.
    fn digest(&self, room: usize) -> Option<&Digest> {
        // No form is shorter than half of its value, where pairs become line feeds.
        (room >= self.hidden.len() / 2).then(|| self.digest.get_or_init(|| Digest::of(self.writing, &self.hidden)))
    }
}
