//! Shortening: what does not fit loses its middle, and says so there.

use super::{history_cache::Group, utterance::Utterance, written::Writer};
use crate::{count::Tokens, text::both_ends};

/// The size down to which things of given (least, whole) sizes are shortened, so that together they fit in `allowed`:
/// small ones stay whole, and large ones get the same.
pub(super) fn water_level(sizes: &[(Tokens, Tokens)], allowed: Tokens) -> Tokens {
    let total = |level: Tokens| sizes.iter().map(|(least, whole)| (*whole).min(level.max(*least))).sum::<Tokens>();
    let largest = sizes.iter().map(|(_, whole)| *whole).max().unwrap_or_default();
    if total(largest) <= allowed {
        return largest;
    }
    let (mut low, mut high) = (0_u64, largest.0);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if total(Tokens(middle)) <= allowed { low = middle } else { high = middle }
    }
    Tokens(low)
}

/// As much of `text` around `note` as makes a whole of at most `allowed` tokens by `size`: three quarters of it from the
/// beginning and one from the end. `None` where not even the note alone fits.
pub(super) fn shorten(text: &str, note: &str, allowed: Tokens, mut size: impl FnMut(&str) -> Tokens) -> Option<String> {
    let candidate = |bytes: usize| match both_ends(text, bytes) {
        ("", "") => note.to_owned(),
        (head, tail) => format!("{}\n{note}\n{}", head.trim_end(), tail.trim_start()),
    };
    if size(note) > allowed {
        return None;
    }
    let (mut low, mut high) = (0_usize, text.len());
    // A count does not quite grow with the length of a text, but what is taken was counted itself.
    for _ in 0..12 {
        let middle = low.midpoint(high);
        if size(&candidate(middle)) <= allowed { low = middle } else { high = middle }
    }
    Some(candidate(low))
}

/// Shortens the texts of a group, the last ones first, until it fits in `allowed` or there is nothing left to shorten.
pub(super) fn shorten_group(writer: &Writer<'_>, group: &mut Group, allowed: Tokens) {
    for at in (0..group.len()).rev() {
        let whole = writer.size(group);
        if whole <= allowed {
            return;
        }
        let mut candidate = group.clone();
        let Some((text, note)) = group.get_mut(at).and_then(Utterance::long_text).map(|(text, place)| {
            let tokens = writer.count.count(text);
            (text.clone(), format!("[shortened here: it has {tokens} tokens; {place}]"))
        }) else {
            continue;
        };
        let mut size = |short: &str| {
            if let Some((text, _)) = candidate.get_mut(at).and_then(Utterance::long_text) {
                *text = short.into();
            }
            writer.size(&candidate)
        };
        let short = shorten(&text, &note, allowed, &mut size).unwrap_or(note);
        if size(&short) < whole {
            *group = candidate;
        }
    }
}
