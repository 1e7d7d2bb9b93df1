//! Shortening: what does not fit loses its middle, and says so there.

use std::{cell::Cell, sync::Arc};

use serde_json::{Value, json};

use callboard_core::{conversation::ToolCall, count::Tokens, text::both_ends};

use crate::{
    rendered::Renderer,
    utterance::{Group, Kind, Utterance},
};

/// With more bytes of arguments than this besides their longest text, it is not enough to shorten that.
const MUCH_BESIDES: usize = 1 << 10;

/// A text may be so many tokens shorter than it might be: it is not worth counting it once more.
const CLOSE: Tokens = Tokens(2);

/// So often a text is counted at the most, to find out how much of it fits.
const TRIES: usize = 24;

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
    let candidate = |bytes: usize| ends_around(text, note, bytes);
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

/// About `bytes` of `text` around `note`: three quarters of it from the beginning and one from the end.
pub(super) fn ends_around(text: &str, note: &str, bytes: usize) -> String {
    match both_ends(text, bytes) {
        ("", "") => note.to_owned(),
        (head, tail) => format!("{}\n{note}\n{}", head.trim_end(), tail.trim_start()),
    }
}

/// About `bytes` of `text` around `note`. `None` where that is not shorter.
fn without_middle(text: &str, note: &str, bytes: usize) -> Option<String> {
    (bytes.saturating_add(note.len()) < text.len()).then(|| ends_around(text, note, bytes))
}

/// Shortens all texts of a group, which has `whole` tokens, down to one length, so that it has at most `allowed`. `None`
/// where that cannot be done.
pub(super) fn shorten_evenly(renderer: &Renderer<'_>, group: &Group, whole: Tokens, allowed: Tokens) -> Option<Group> {
    if let Some((without, tokens)) = without_media(renderer, group) {
        return if tokens <= allowed { Some(without) } else { shorten_evenly(renderer, &without, tokens, allowed) };
    }
    let mut notes: Vec<Arc<str>> = Vec::new();
    let longest = Cell::new(0);
    let mut of_bytes = |bytes: usize| {
        let (mut short, mut at) = (group.clone(), 0);
        for utterance in &mut short {
            shorten_texts(utterance, bytes, |text, place| {
                if notes.len() == at {
                    let tokens = renderer.count.count(text);
                    notes.push(format!("[shortened here: it has {tokens} tokens; {place}]").into());
                    longest.set(longest.get().max(text.len()));
                }
                at += 1;
                notes.get(at - 1).cloned().unwrap_or_default()
            });
        }
        let tokens = renderer.size(&short);
        (short, tokens)
    };
    let (mut best, mut least) = of_bytes(0);
    if least > allowed {
        return None;
    }
    let (mut low, mut high) = (0, longest.get());
    // How far both ends are from what is allowed. Where the same end moves twice, that of the other is halved, so that
    // it does not stay far away for ever.
    let (mut below, mut above) = (allowed.minus(least).0, whole.minus(allowed).0);
    let mut last_fitted = None;
    for attempt in 1..=TRIES {
        if high <= low + 1 || allowed.minus(least) <= CLOSE {
            break;
        }
        let by_distance = u128::from(below) * (high - low) as u128 / u128::from((below + above).max(1));
        let guess = if attempt % 5 == 0 { (high - low) / 2 } else { usize::try_from(by_distance).unwrap_or(high) };
        let bytes = (low + guess).clamp(low + 1, high - 1);
        let (short, tokens) = of_bytes(bytes);
        let fits = tokens <= allowed;
        let again = last_fitted.replace(fits) == Some(fits);
        if fits {
            (low, least, best, below) = (bytes, tokens, short, allowed.minus(tokens).0);
            above = if again { above.div_ceil(2) } else { above };
        } else {
            (high, above) = (bytes, tokens.minus(allowed).0);
            below = if again { below.div_ceil(2) } else { below };
        }
    }
    Some(best)
}

/// A group that names its pictures instead of showing them, and its size. None where it shows none.
fn without_media(renderer: &Renderer<'_>, group: &Group) -> Option<(Group, Tokens)> {
    if group.iter().all(|utterance| utterance.shown_media() == 0) {
        return None;
    }
    let mut group = group.clone();
    for utterance in &mut group {
        utterance.hide_media();
    }
    let tokens = renderer.size(&group);
    Some((group, tokens))
}

/// Shortens each text of an utterance that is longer than `bytes` to about that many; `note` says, for a text and how the
/// whole of it stands or how to get it, what stands in the place of its middle. It is asked about every text, in order.
fn shorten_texts(utterance: &mut Utterance, bytes: usize, mut note: impl FnMut(&str, &str) -> Arc<str>) {
    let entry = super::fetch::entry(utterance.seq);
    let shortened = Cell::new(false);
    let mut shorten = |text: &mut Arc<str>, place: &str| {
        let note = note(text, place);
        if let Some(short) = without_middle(text, &note, bytes) {
            *text = short.into();
            shortened.set(true);
        }
    };
    match &mut utterance.kind {
        Kind::Said { text, calls, expected, place, .. } => {
            shorten(text, place);
            expected.iter_mut().for_each(|expected| shorten(expected, place));
            for call in calls {
                let is_shorter = shorten_arguments(call, bytes, &mut |text| note(text, place));
                shortened.set(shortened.get() || is_shorter);
            }
        }
        Kind::Result { text, place, .. } | Kind::Summary { text, place, .. } => shorten(text, place),
        Kind::Verdict { reason: text, .. } | Kind::Outcomes(text) => shorten(text, &entry),
        Kind::LeftOut(_) => {}
    }
    utterance.shortened |= shortened.get();
}

/// The arguments of a call lose the middle of their longest text. Where there is much besides that, or more than they may
/// have, they are shown as one text, for they have to stay an object. Says whether they are shorter.
fn shorten_arguments(call: &mut ToolCall, bytes: usize, note: &mut dyn FnMut(&str) -> Arc<str>) -> bool {
    let whole = call.arguments_text();
    let longest = longest_text(&mut call.arguments);
    let around = |text: &str| whole.len().saturating_sub(serde_json::to_string(text).map_or(0, |quoted| quoted.len()));
    match longest.map(|text| (around(text), text)).filter(|(around, _)| *around <= MUCH_BESIDES.min(bytes)) {
        Some((around, text)) => {
            let note = note(text);
            without_middle(text, &note, bytes.saturating_sub(around)).map(|short| *text = short).is_some()
        }
        None => {
            let note = note(&whole);
            let short = without_middle(&whole, &note, bytes);
            short.map(|short| call.arguments = json!({"shortened": short})).is_some()
        }
    }
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(values) => values.iter_mut().filter_map(longest_text).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest_text).max_by_key(|text| text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Shortens the texts of a group, the last ones first, until it fits in `allowed` or there is nothing left to shorten.
pub(super) fn shorten_group(renderer: &Renderer<'_>, group: &mut Group, allowed: Tokens) {
    if let Some((without, _)) = without_media(renderer, group) {
        *group = without;
    }
    for at in (0..group.len()).rev() {
        let whole = renderer.size(group);
        if whole <= allowed {
            return;
        }
        let mut candidate = group.clone();
        let Some((text, note)) = group.get_mut(at).and_then(Utterance::long_text).map(|(text, place)| {
            let tokens = renderer.count.count(text);
            (text.clone(), format!("[shortened here: it has {tokens} tokens; {place}]"))
        }) else {
            continue;
        };
        let mut size = |short: &str| {
            if let Some(candidate) = candidate.get_mut(at) {
                candidate.shortened = true;
                candidate.long_text().into_iter().for_each(|(text, _)| *text = short.into());
            }
            renderer.size(&candidate)
        };
        let short = shorten(&text, &note, allowed, &mut size).unwrap_or(note);
        if size(&short) < whole {
            *group = candidate;
        }
    }
}
