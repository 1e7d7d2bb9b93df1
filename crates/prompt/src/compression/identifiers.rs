//! Identifiers: what must be the same to the letter to be of use, such as ids, selectors, addresses, paths, numbers with
//! their units and quoted strings.

use std::collections::{BTreeSet, HashSet};

use aho_corasick::AhoCorasick;

/// What is longer is no name that somebody goes by.
const LONGEST_BYTES: usize = 160;

/// A quoted string is at most this long.
const LONGEST_QUOTE_BYTES: usize = 80;

/// So many identifiers are looked for, at most: the newest. It is more than a window holds.
const MOST: usize = 50_000;

/// Words that make a number before them an amount.
const UNITS: &[&str] = &[
    "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hour", "hours", "day",
    "days", "week", "weeks", "month", "months", "year", "years", "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
    "byte", "bytes", "bit", "bits", "px", "pt", "em", "rem", "percent", "usd", "eur", "gbp", "dollars", "euros", "km",
    "m", "cm", "mm", "miles", "feet", "kg", "g", "lb", "hz", "khz", "mhz", "ghz", "tokens", "rows", "items", "pages",
    "users", "requests", "retries", "messages", "emails", "files", "lines", "times", "degrees",
];

/// The identifiers in a text, as they come; one may come twice.
pub(super) fn identifiers(text: &str) -> Vec<&str> {
    let mut found = quoted(text);
    found.extend(with_attributes(text));
    let mut number: Option<(usize, usize)> = None;
    for (start, word) in words(text) {
        let before = number.take();
        if let Some((from, to)) = before
            && text.get(to..start) == Some(" ")
            && UNITS.contains(&word.to_ascii_lowercase().as_str())
        {
            found.extend(text.get(from..start + word.len()));
        } else if is_identifier(word) {
            found.push(word);
        }
        if is_number(word) {
            number = Some((start, start + word.len()));
        }
    }
    found
}

/// The identifiers of several texts, each once, in the order of the texts.
pub(super) fn of_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    texts.into_iter().flat_map(identifiers).filter(|one| known.insert(*one)).take(MOST).collect()
}

/// Finds identifiers in texts, all of them in one go.
pub(super) struct Finder {
    automaton: Option<AhoCorasick>,
    edges: Vec<(bool, bool)>,
}

impl Finder {
    /// A finder of these.
    pub(super) fn new(identifiers: &[&str]) -> Self {
        let is_word = |character: Option<char>| character.is_some_and(is_word_character);
        let edges = identifiers.iter().map(|one| (is_word(one.chars().next()), is_word(one.chars().next_back())));
        let automaton = (!identifiers.is_empty()).then(|| AhoCorasick::new(identifiers).ok()).flatten();
        Self { automaton, edges: edges.collect() }
    }

    /// Which of them stand in `text` as whole words, and where each does first.
    pub(super) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut known = HashSet::new();
        let Some(automaton) = &self.automaton else { return found };
        for hit in automaton.find_overlapping_iter(text) {
            let which = hit.pattern().as_usize();
            let Some((begins, ends)) = self.edges.get(which).copied() else { continue };
            let before = text.get(..hit.start()).and_then(|text| text.chars().next_back());
            let behind = text.get(hit.end()..).and_then(|text| text.chars().next());
            let is_part =
                (begins && before.is_some_and(is_word_character)) || (ends && behind.is_some_and(is_word_character));
            if !is_part && known.insert(which) {
                found.push((which, hit.start()));
            }
        }
        found
    }

    /// Which of them stand in `text`.
    pub(super) fn held_in(&self, text: &str) -> BTreeSet<usize> {
        self.find(text).into_iter().map(|(which, _)| which).collect()
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Words with the place where each begins, without the marks around them. An address is one word, with its query.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_outside = |c: char| c.is_whitespace() || "\"'`“”‘’«»<>{}|".contains(c);
    let is_between = |c: char| "(),;=".contains(c);
    let base = text.as_ptr() as usize;
    let pieces = text.split(is_outside).flat_map(move |piece| {
        let (before, address) = piece.split_at(address_in(piece).unwrap_or(piece.len()));
        before.split(is_between).chain([address])
    });
    pieces.filter(|word| !word.is_empty()).map(move |word| {
        let marks: &[char] = &['.', ':', '!', '?', '*', ']', '…', ',', ';'];
        let word = match word.trim_end_matches(marks) {
            closed if closed.ends_with(')') && !closed.contains('(') => closed.trim_end_matches([')', '.', ',']),
            word => word,
        };
        let word = word.trim_start_matches(['[', '*', ':', '!']);
        (word.as_ptr() as usize - base, word)
    })
}

/// Where an address begins, with its scheme.
fn address_in(piece: &str) -> Option<usize> {
    let scheme = piece.get(..piece.find("://")?)?;
    let begin = scheme.rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
    begin.map_or(Some(0), |at| Some(at + scheme.get(at..)?.chars().next()?.len_utf8()))
}

/// Selectors of elements by an attribute, such as `input[name=email]`.
fn with_attributes(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let mut found = Vec::new();
    let mut after = 0;
    while let Some(at) = text.get(after..).and_then(|rest| rest.find('[')).map(|at| after + at) {
        after = at + 1;
        let inside = text.get(after..).unwrap_or_default();
        let Some(end) = inside.find([']', '\n']).filter(|end| *end <= LONGEST_QUOTE_BYTES) else { continue };
        let Some((name, value)) = inside.get(..end).and_then(|inside| inside.split_once('=')) else { continue };
        let name = name.trim_end_matches(['~', '|', '^', '$', '*']);
        let is_selector = inside.get(end..).is_some_and(|rest| rest.starts_with(']'))
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(is_name)
            && !value.is_empty()
            && !value.contains(['[', '{', '<']);
        if is_selector {
            let before = text.get(..at).unwrap_or_default();
            let begin = before.trim_end_matches(|c: char| is_name(c) || ".#:".contains(c)).len();
            let end = after + end + 1;
            found.extend(text.get(begin..end).filter(|one| one.len() <= LONGEST_BYTES));
            after = end;
        }
    }
    found
}

/// Short strings in quotation marks, within a line.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        let mut before = ' ';
        while let Some(at) = rest.find(['"', '`', '“', '\'']) {
            let opening = rest.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('"');
            let inside = rest.get(at + opening.len_utf8()..).unwrap_or_default();
            before = rest.get(..at).and_then(|text| text.chars().next_back()).unwrap_or(before);
            let closing = if opening == '“' { '”' } else { opening };
            // An apostrophe within a word is none.
            let is_opening = !before.is_alphanumeric();
            let end = inside.find(closing).filter(|end| is_opening && *end <= LONGEST_QUOTE_BYTES);
            match end.and_then(|end| Some((end, inside.get(..end)?))) {
                Some((end, words)) => {
                    if words.trim().len() >= 2 && words.trim() == words {
                        found.push(words);
                    }
                    before = closing;
                    rest = inside.get(end + closing.len_utf8()..).unwrap_or_default();
                }
                None => {
                    before = opening;
                    rest = inside;
                }
            }
        }
    }
    found
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
}

fn is_identifier(word: &str) -> bool {
    if word.len() < 2 || word.len() > LONGEST_BYTES {
        return false;
    }
    let chars = || word.chars();
    let has_digit = chars().any(|c| c.is_ascii_digit());
    let has_letter = chars().any(char::is_alphabetic);
    let digits = chars().filter(char::is_ascii_digit).count();
    is_address(word)
        || is_selector(word)
        || is_path(word)
        || (has_digit && has_letter && word.len() >= 3)
        || digits >= 4
        || (has_digit && (word.ends_with('%') || word.starts_with(['$', '€', '£'])))
        || (has_digit && word.matches('.').count() >= 2)
        || (has_letter && is_joined(word))
}

fn is_address(word: &str) -> bool {
    let is_mail = || {
        let (name, host) = word.split_once('@')?;
        (!name.is_empty() && host.contains('.') && !host.starts_with('.')).then_some(())
    };
    word.contains("://") || is_mail().is_some()
}

fn is_selector(word: &str) -> bool {
    let name = word.strip_prefix('#').or_else(|| word.strip_prefix('.'));
    name.is_some_and(|name| name.len() >= 2 && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn is_path(word: &str) -> bool {
    let is_rooted =
        ["/", "./", "../", "~/"].iter().any(|root| word.strip_prefix(root).is_some_and(|rest| rest.len() > 1));
    let has_extension = || word.rsplit('/').next().is_some_and(|name| name.len() > 2 && name.contains('.'));
    is_rooted || word.matches('/').count() >= 2 || (word.contains('/') && has_extension()) || word.contains(":\\")
}

/// Whether it is several words in one: `snake_case`, `camelCase`, `a.name`, `a::name`.
fn is_joined(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let between = |is_joint: fn(char) -> bool| {
        chars.windows(3).any(|three| {
            let &[before, joint, behind] = three else { return false };
            before.is_alphanumeric() && is_joint(joint) && behind.is_alphanumeric()
        })
    };
    let is_dotted = || word.len() >= 5 && between(|c| c == '.');
    let is_camel = || {
        chars.windows(2).any(|two| matches!(two, &[before, behind] if before.is_lowercase() && behind.is_uppercase()))
    };
    between(|c| c == '_') || word.contains("::") || is_dotted() || is_camel()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        of_all([text]).join(" | ")
    }

    #[test]
    fn what_must_be_the_same_to_the_letter_is_found() {
        let cases = [
            ("Use #identifierId and .btn-primary, not body.", "#identifierId | .btn-primary"),
            ("See https://mail.google.com/mail/u/0/#inbox.", "https://mail.google.com/mail/u/0/#inbox"),
            (
                "From https://a.example/v2?port=7&x=1,2, or (see http://b.example/).",
                "https://a.example/v2?port=7&x=1,2 | http://b.example/",
            ),
            ("url=https://a.example/wiki/Tide_(sea); then", "https://a.example/wiki/Tide_(sea)"),
            ("Write to ana@example.com (node_123).", "ana@example.com | node_123"),
            ("Open crates/core/src/lib.rs or /etc/hosts or and/or.", "crates/core/src/lib.rs | /etc/hosts"),
            ("It took 300ms, then 40 seconds, 12% of 3 people.", "300ms | 40 seconds | 12%"),
            ("Port 7420, on 2026-01-18, costs $25.", "7420 | 2026-01-18 | $25"),
            ("It's \"the green one\" and `loginRequired`, isn't it?", "the green one | loginRequired"),
            ("Fill input[name=email], then [data-x='a b'].", "a b | input[name=email] | [data-x='a b']"),
            ("A list [1, 2], a[i] = 3 and [see below].", ""),
            ("node7.emails, tokio::spawn, gmail_creds", "node7.emails | tokio::spawn | gmail_creds"),
            ("Plain words, e.g. these, have 3 or 4 of none.", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn they_are_found_as_whole_words_only() {
        let finder = Finder::new(&["node_1", "40 seconds", "#go"]);
        let find =
            |text: &str| finder.find(text).into_iter().map(|(which, at)| format!("{which}@{at}")).collect::<Vec<_>>();
        assert_eq!(find("node_1, node_12 and 140 seconds"), ["0@0"]);
        assert_eq!(find("a#go 40 seconds (node_1)"), ["2@1", "1@5", "0@17"]);
        assert!(Finder::new(&[]).find("anything").is_empty());
    }
}
