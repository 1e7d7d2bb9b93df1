//! Terms: what of a text is compared. Words in lower case without endings and accents, pairs of adjacent words, and whole
//! identifiers such as paths and version numbers.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use unicode_normalization::{
    UnicodeNormalization as _,
    char::{decompose_canonical, is_combining_mark},
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{english, passage::is_unspaced};

/// So many stems are remembered at the most.
const REMEMBERED: usize = 1 << 16;

/// A longer run of letters is no word that has a stem.
const LONGEST_WORD: usize = 64;

/// Endings that are dropped with their apostrophe.
const ENDINGS: [&str; 7] = ["s", "d", "m", "t", "ll", "re", "ve"];

/// A term as the index knows it: 40 bits of a hash over its kind and its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) u64);

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Word,
    Pair,
    Identifier,
}

impl Key {
    /// How many bits it has.
    pub(crate) const BITS: u32 = 40;

    fn of(field: Field, text: &str) -> Self {
        Self(xxh3_64_with_seed(text.as_bytes(), field as u64) >> (u64::BITS - Self::BITS))
    }

    fn of_pair(first: Self, second: Self) -> Self {
        let bytes = [first.0.to_le_bytes(), second.0.to_le_bytes()];
        Self(xxh3_64_with_seed(bytes.as_flattened(), Field::Pair as u64) >> (u64::BITS - Self::BITS))
    }
}

/// The terms of a text.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// Words in their order.
    pub(crate) words: Vec<Key>,
    /// Whole identifiers.
    pub(crate) identifiers: Vec<Key>,
}

impl Terms {
    /// Each two words that stand side by side.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = Key> {
        self.words.iter().zip(self.words.iter().skip(1)).map(|(first, second)| Key::of_pair(*first, *second))
    }
}

/// Reads texts into terms, and remembers the stems of words.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    stems: FxHashMap<Box<str>, Option<Key>>,
}

impl Reader {
    /// The terms of `text`, added to `terms`.
    pub(crate) fn read(&mut self, text: &str, terms: &mut Terms) {
        for_each_token(text, |token| match token {
            Token::Word(word) => terms.words.extend(self.key(word)),
            Token::Sign(sign) => terms.words.push(Key::of(Field::Word, sign)),
            Token::Identifier(whole) => terms.identifiers.push(Key::of(Field::Identifier, &whole.to_lowercase())),
        });
    }

    fn key(&mut self, word: &str) -> Option<Key> {
        if let Some(known) = self.stems.get(word) {
            return *known;
        }
        let key = term(word).map(|term| Key::of(Field::Word, &term));
        if word.len() > LONGEST_WORD {
            return key;
        }
        if self.stems.len() >= REMEMBERED {
            self.stems.clear();
        }
        self.stems.insert(word.into(), key);
        key
    }
}

/// A word of a question, as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) key: Key,
    pub(crate) field: Field,
    /// How it is shown to people.
    pub(crate) text: String,
    /// Whether it belongs to the question more than to what is asked about.
    pub(crate) is_scaffolding: bool,
}

/// The terms of a question, each once, in their order.
pub(crate) fn asked(question: &str) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    let mut add = |one: Asked| {
        if !asked.iter().any(|known| known.key == one.key && known.field == one.field) {
            asked.push(one);
        }
    };
    let mut before: Option<(Key, String)> = None;
    for_each_token(question, |token| {
        let (term, is_scaffolding) = match token {
            Token::Word(word) => match term(word) {
                Some(term) => {
                    let is_scaffolding = english::is_scaffolding(&term);
                    (term.into_owned(), is_scaffolding)
                }
                None => return,
            },
            Token::Sign(sign) => (sign.to_owned(), false),
            Token::Identifier(whole) => {
                let text = whole.to_lowercase();
                return add(Asked {
                    key: Key::of(Field::Identifier, &text),
                    field: Field::Identifier,
                    text,
                    is_scaffolding: false,
                });
            }
        };
        let key = Key::of(Field::Word, &term);
        add(Asked { key, field: Field::Word, text: term.clone(), is_scaffolding });
        if let Some((first, text)) = before.replace((key, term.clone())) {
            let text = format!("{text} {term}");
            add(Asked { key: Key::of_pair(first, key), field: Field::Pair, text, is_scaffolding: false });
        }
    });
    asked
}

/// What a word in lower case counts as; nothing where it says nothing.
fn term(word: &str) -> Option<Cow<'_, str>> {
    let word = match word.split_once('\'') {
        Some((stem, ending)) if ENDINGS.contains(&ending) => stem,
        _ => word,
    };
    let is_letter = word.len() == 1 && !word.starts_with(|c: char| c.is_ascii_digit());
    if is_letter || english::is_stop_word(word) {
        return None;
    }
    let word = folded(word);
    if word.len() > LONGEST_WORD || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
        return Some(word);
    }
    Some(english::stem(&word).into())
}

/// A word in lower case without the accents of its Latin letters.
fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let mut folded = String::with_capacity(word.len());
    let mut is_latin = false;
    for c in word.chars() {
        if is_latin && is_combining_mark(c) {
            continue;
        }
        let letter = without_accents(c);
        is_latin = letter.is_ascii_alphabetic();
        match letter {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            letter => folded.push(letter),
        }
    }
    folded.into()
}

/// A Latin letter without its accents; any other character as it is.
fn without_accents(c: char) -> char {
    let mut first = None;
    decompose_canonical(c, |part| {
        first.get_or_insert(part);
    });
    match c {
        'ø' => 'o',
        'ł' => 'l',
        'đ' => 'd',
        'ı' => 'i',
        c => first.filter(char::is_ascii_alphabetic).unwrap_or(c),
    }
}

/// A piece of a text that can be compared.
enum Token<'a> {
    /// A word in lower case.
    Word(&'a str),
    /// A character that stands for itself, or two that are compared as a pair.
    Sign(&'a str),
    /// An identifier as it is written.
    Identifier(&'a str),
}

fn for_each_token(text: &str, mut found: impl FnMut(Token<'_>)) {
    if text.is_ascii() {
        return tokens(text, &mut found);
    }
    let composed: String = text.nfkc().map(|c| if matches!(c, '’' | 'ʼ' | '＇') { '\'' } else { c }).collect();
    tokens(&composed, &mut found);
}

fn tokens(text: &str, found: &mut dyn FnMut(Token<'_>)) {
    let mut lower = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| is_of_word(c) || is_sign(c)) {
        rest = rest.get(start..).unwrap_or_default();
        let Some(first) = rest.chars().next() else { return };
        if is_paired(first) {
            rest = unspaced(rest, found);
        } else if is_sign(first) {
            let (sign, after) = rest.split_at(first.len_utf8());
            found(Token::Sign(sign));
            rest = after;
        } else {
            let end = rest.find(|c: char| !is_of_word(c) || is_paired(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = whole_word(word, after, &mut lower, found);
        }
    }
    identifiers(text, found);
}

/// A word, with what follows on an apostrophe; and where its case changes within, what it is put together from.
fn whole_word<'a>(word: &str, after: &'a str, lower: &mut String, found: &mut dyn FnMut(Token<'_>)) -> &'a str {
    lower.clear();
    lower.extend(word.chars().flat_map(char::to_lowercase));
    let ending = after.strip_prefix('\'').map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    });
    let ending = ending.unwrap_or_default();
    if ending.is_empty() {
        found(Token::Word(lower));
        parts_of(word, found);
        return after;
    }
    lower.push('\'');
    lower.extend(ending.chars().map(|c| c.to_ascii_lowercase()));
    found(Token::Word(lower));
    after.get(ending.len() + 1..).unwrap_or_default()
}

/// The parts of a word such as `readMessages`, and the word as an identifier.
fn parts_of(word: &str, found: &mut dyn FnMut(Token<'_>)) {
    let bytes = word.as_bytes();
    let is_border = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    if !word.is_ascii() || !bytes.windows(2).any(is_border) {
        return;
    }
    let mut from = 0;
    let borders = bytes.windows(2).enumerate().filter(|(_, pair)| is_border(pair)).map(|(at, _)| at + 1);
    for border in borders.chain([word.len()]) {
        found(Token::Word(&word.get(from..border).unwrap_or_default().to_ascii_lowercase()));
        from = border;
    }
    found(Token::Identifier(word));
}

/// Each two neighbours in a run of characters that are compared in pairs; the one where it is alone.
fn unspaced<'a>(text: &'a str, found: &mut dyn FnMut(Token<'_>)) -> &'a str {
    let end = text.find(|c: char| !is_paired(c)).unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([end]).collect();
    if let [start, end] = starts.as_slice() {
        found(Token::Sign(run.get(*start..*end).unwrap_or_default()));
    }
    for three in starts.windows(3) {
        if let [start, _, end] = three {
            found(Token::Sign(run.get(*start..*end).unwrap_or_default()));
        }
    }
    rest
}

/// Words that are held together by signs, such as `src/main.rs`, `user_id`, `1,200`.
fn identifiers(text: &str, found: &mut dyn FnMut(Token<'_>)) {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_joint = |byte: u8| matches!(byte, b'-' | b'.' | b'/' | b':' | b',' | b'@' | b'#');
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
    let mut start = 0;
    while start < bytes.len() {
        if !is_of_name(at(start)) {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while is_of_name(at(end)) || (is_joint(at(end)) && is_of_name(at(end + 1))) {
            end += 1;
        }
        // Names such as C++ and C#.
        end += match (at(end), at(end + 1)) {
            (b'+', b'+') => 2,
            (b'#', _) => 1,
            _ => 0,
        };
        let whole = text.get(start..end).unwrap_or_default().trim_matches(['.', '/', '-', '_', ':']);
        if whole.bytes().any(|byte| is_joint(byte) || matches!(byte, b'_' | b'+')) {
            found(Token::Identifier(whole));
        }
        start = end;
    }
}

/// Whether two such characters side by side are compared, instead of words: those of scripts without spaces, and the
/// syllables of Hangul, to which endings are written without a space.
fn is_paired(c: char) -> bool {
    is_unspaced(c) || matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// Whether a character is part of a word.
fn is_of_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() || is_combining_mark(c) }
}

/// Whether a character says something by itself: pictures, arrows, currencies and so on.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{20a0}'..='\u{20cf}' | '\u{2190}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let asked = asked(text);
        let words = asked.iter().filter(|one| one.field == Field::Word);
        words.map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn identifiers(text: &str) -> String {
        let asked = asked(text);
        let whole = asked.iter().filter(|one| one.field == Field::Identifier);
        whole.map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_lose_their_case_their_endings_and_what_says_nothing() {
        assert_eq!(words("The Dogs' dog’s running, and I don't!"), "dog run don");
        assert_eq!(words("She went and bought children's pictures."), "go buy child photo");
        assert_eq!(words("x 7 42nd"), "7 42nd");
    }

    #[test]
    fn other_scripts_are_words_too() {
        assert_eq!(words("שלום עולם"), "שלום עולם");
        assert_eq!(words("नमस्ते दुनिया"), "नमस्ते दुनिया");
        assert_eq!(words("東京都に"), "東京 京都 都に");
        assert_eq!(words("서울에서 3월"), "서울 울에 에서 3 월");
        assert_eq!(words("海 ok🎉"), "海 ok 🎉");
    }

    #[test]
    fn latin_letters_lose_their_accents() {
        assert_eq!(words("ÉTÉ cafés Cafe\u{301} naïf"), "ete cafe naif");
        assert_eq!(words("Øre Łódź Straße cœur"), "ore lodz strass coeur");
        assert_eq!(words("x\u{30c}y thé the"), "xy the");
        assert_eq!(words("йод がく"), "йод がく");
    }

    #[test]
    fn identifiers_are_whole_and_in_parts() {
        assert_eq!(
            identifiers("see src/main.rs, user_id and v1.2.3 (1,200) or readMessages."),
            "readmessages src/main.rs user_id v1.2.3 1,200"
        );
        assert_eq!(words("readMessages in src/main.rs"), "readmessag read messag src main rs");
        assert_eq!(identifiers("well... and/or -- _private_ x_"), "and/or");
        assert_eq!(identifiers("C++, C# or F#? 1 + 1, issue #7"), "c++ c# f#");
    }

    #[test]
    fn a_text_and_a_question_have_the_same_terms() {
        let (mut reader, mut terms) = (Reader::default(), Terms::default());
        let text = "Caroline bought user_id 東京都 readMessages 🎉 don't";
        reader.read(text, &mut terms);
        let of = |field| asked(text).into_iter().filter(move |one| one.field == field).map(|one| one.key);
        assert_eq!(terms.words, of(Field::Word).collect::<Vec<_>>());
        assert_eq!(terms.pairs().collect::<Vec<_>>(), of(Field::Pair).collect::<Vec<_>>());
        let mut identifiers: Vec<_> = of(Field::Identifier).collect();
        identifiers.sort_unstable();
        terms.identifiers.sort_unstable();
        assert_eq!(terms.identifiers, identifiers);
    }
}
