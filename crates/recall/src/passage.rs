//! Passages: the pieces of texts that are found and shown. A short text is one passage; a long one is cut at ends of lines
//! and sentences into pieces of about [`PASSAGE_WORDS`] words. A text with headings is cut at these too: no passage has text
//! under two of them.

use std::ops::Range;

/// How many words a passage has, about.
const PASSAGE_WORDS: usize = 120;

/// A piece without an end of a line or a sentence is cut when it has more words than this.
const LONGEST_WORDS: usize = 240;

/// How many characters of an unbroken run of letters count as a word more.
const LONG_WORD: usize = 32;

/// The longest line that is a heading, in characters: all passages under a heading have its terms.
const LONGEST_HEADING: usize = 200;

/// How many characters of a script that is written without spaces count as a word.
const CHARACTERS_OF_A_WORD: usize = 2;

/// A passage of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Where it stands in the text, in bytes.
    pub bytes: Range<usize>,
    /// How many words it has.
    pub words: usize,
}

/// Cuts a text into passages. They cover all of it but the blanks between them. A text without a word has none.
pub fn passages(text: &str) -> Vec<Passage> {
    let words = words(text);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return Vec::new() };
    let total: usize = words.iter().map(|word| word.weight).sum();
    let wanted = ((total + PASSAGE_WORDS / 2) / PASSAGE_WORDS).max(1);
    if wanted == 1 {
        return vec![Passage { bytes: first.bytes.start..last.bytes.end, words: total }];
    }
    let fill = total.div_ceil(wanted);
    let mut cut: Vec<Passage> = Vec::with_capacity(wanted);
    let mut open: Option<Passage> = None;
    for word in &words {
        let passage = open.get_or_insert(Passage { bytes: word.bytes.clone(), words: 0 });
        passage.bytes.end = word.bytes.end;
        passage.words += word.weight;
        let is_full = passage.words >= fill && word.ends && cut.len() + 1 < wanted;
        if is_full || passage.words >= LONGEST_WORDS {
            cut.extend(open.take());
        }
    }
    cut.extend(open);
    join_short_end(&mut cut, fill / 3);
    cut
}

/// A last passage of less than `least` words joins the one before.
fn join_short_end(cut: &mut Vec<Passage>, least: usize) {
    if cut.len() > 1
        && let Some(short) = cut.pop_if(|last| last.words < least)
        && let Some(before) = cut.last_mut()
    {
        before.bytes.end = short.bytes.end;
        before.words += short.words;
    }
}

/// Something between blanks.
struct Word {
    bytes: Range<usize>,
    /// How many words it counts as.
    weight: usize,
    /// Whether a line or a sentence ends with it.
    ends: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += piece.len();
        let word = piece.trim_end();
        if word.is_empty() {
            if let (true, Some(last)) = (piece.contains('\n'), words.last_mut()) {
                last.ends = true;
            }
            continue;
        }
        let ends_line = piece.ends_with('\n');
        let ends = ends_line || word.ends_with(['.', '!', '?', '。', '！', '？', '؟', '।']);
        push(&mut words, word, start, ends);
    }
    words
}

/// Adds a word; a run that is as long as many words, such as a paragraph in Chinese, in pieces.
fn push(words: &mut Vec<Word>, word: &str, start: usize, ends: bool) {
    if word.len() <= LONG_WORD {
        let unspaced = if word.is_ascii() { 0 } else { word.chars().filter(|c| is_unspaced(*c)).count() };
        let weight = (unspaced / CHARACTERS_OF_A_WORD).max(1);
        words.push(Word { bytes: start..start + word.len(), weight, ends });
        return;
    }
    let (mut from, mut unspaced, mut other) = (0, 0, 0);
    for (at, c) in word.char_indices() {
        if is_unspaced(c) {
            unspaced += 1
        } else {
            other += 1
        }
        let is_sentence = matches!(c, '。' | '！' | '？');
        if unspaced >= CHARACTERS_OF_A_WORD * 8 || other >= LONG_WORD || is_sentence {
            let end = at + c.len_utf8();
            let weight = (unspaced / CHARACTERS_OF_A_WORD).max(1);
            words.push(Word { bytes: start + from..start + end, weight, ends: is_sentence });
            (from, unspaced, other) = (end, 0, 0);
        }
    }
    if from < word.len() {
        let weight = (unspaced / CHARACTERS_OF_A_WORD).max(1);
        words.push(Word { bytes: start + from..start + word.len(), weight, ends });
    } else if let Some(last) = words.last_mut() {
        last.ends = ends || last.ends;
    }
}

/// Whether a character is of a script that is written without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A piece of a text that stands under one Markdown heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    /// Where it stands in the text, in bytes; its own headings are its first lines.
    pub(crate) bytes: Range<usize>,
    /// The headings above it, the outermost first.
    pub(crate) above: Vec<&'a str>,
    /// The same with its own, for what stands behind these.
    pub(crate) under: Vec<&'a str>,
}

/// Cuts a text where a heading stands behind something else than headings. The first line of the text is its title.
pub(crate) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    let (mut offset, mut is_code, mut has_text) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let begins = offset;
        offset += line.len();
        let line = line.trim_end();
        is_code ^= line.starts_with("```") || line.starts_with("~~~");
        let heading = heading(line).filter(|_| !is_code);
        if sections.is_empty() || (heading.is_some() && has_text) {
            let above: Vec<&str> = match heading {
                Some((level, _)) => open.iter().filter(|(outer, _)| *outer < level).map(|(_, words)| *words).collect(),
                None => Vec::new(),
            };
            sections.push(Section { bytes: begins..begins, under: above.clone(), above });
            has_text = false;
        }
        match heading {
            Some((level, words)) => {
                open.retain(|(outer, _)| *outer < level);
                open.push((level, words));
            }
            None => has_text |= begins > 0 && !line.trim().is_empty(),
        }
        if let Some(section) = sections.last_mut() {
            section.bytes.end = offset;
            section.under = open.iter().map(|(_, words)| *words).collect();
        }
    }
    sections
}

/// The level and the words of a line that is a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    if line.chars().nth(LONGEST_HEADING).is_some() {
        return None;
    }
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let words = line.get(level..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !words.is_empty()).then_some((level, words))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sizes(text: &str) -> Vec<usize> {
        passages(text).iter().map(|passage| passage.words).collect()
    }

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(passages("  Hello there. \n"), [Passage { bytes: 2..14, words: 2 }]);
        assert_eq!(passages(" \n\t "), []);
        assert_eq!(sizes(&"word ".repeat(179)), [179]);
    }

    #[test]
    fn a_long_text_is_cut_where_sentences_and_lines_end() {
        let sentence = format!("{}end. ", "word ".repeat(9));
        assert_eq!(sizes(&sentence.repeat(36)), [120, 120, 120]);
        let line = format!("{}end\n", "word ".repeat(49));
        assert_eq!(sizes(&line.repeat(5)), [150, 100]);
    }

    #[test]
    fn a_text_without_ends_is_cut_all_the_same() {
        assert_eq!(sizes(&"word ".repeat(600)), [240, 240, 120]);
        assert_eq!(sizes(&"あ".repeat(960)), [240, 240]);
        assert!(sizes(&"x".repeat(100_000)).iter().all(|words| *words <= LONGEST_WORDS + PASSAGE_WORDS / 3));
    }

    /// Each section of a text, with the headings above it and those above its end.
    fn cut(text: &str) -> Vec<(&str, Vec<&str>, Vec<&str>)> {
        sections(text).into_iter().map(|it| (&text[it.bytes], it.above, it.under)).collect()
    }

    #[test]
    fn a_text_is_cut_at_its_headings() {
        let (guide, linux) = ("guide.md\n# Guide\nintro\n", "## Linux\n\nuse apt\n```\n# no heading\n```\nmore\n");
        let (windows, end) = ("## Windows\n### Old\nuse msi\n", "# Licence\n#5 is none\n");
        assert_eq!(
            cut(&[guide, linux, windows, end].concat()),
            [
                (guide, vec![], vec!["Guide"]),
                (linux, vec!["Guide"], vec!["Guide", "Linux"]),
                (windows, vec!["Guide"], vec!["Guide", "Windows", "Old"]),
                (end, vec![], vec!["Licence"]),
            ]
        );
        let long = format!("# {}\nit is a paragraph", "word ".repeat(50));
        assert_eq!(cut(&long), [(&*long, vec![], vec![])]);
        assert_eq!(cut("no heading\nat all"), [("no heading\nat all", vec![], vec![])]);
        assert_eq!(cut(""), []);
    }

    proptest! {
        #[test]
        fn passages_cover_a_text_but_for_blanks_between_them(text in "([a-z]{1,9}[.]?[ \n]|é|日本|。|\u{2003}){0,900}") {
            let mut at = 0;
            for passage in passages(&text) {
                prop_assert!(text[at..passage.bytes.start].trim().is_empty());
                prop_assert!(passage.words > 0 && !text[passage.bytes.clone()].trim().is_empty());
                at = passage.bytes.end;
            }
            prop_assert!(text[at..].trim().is_empty());
        }

        #[test]
        fn sections_cover_a_text_and_none_has_text_under_two_headings(text in "((#{1,3} )?[a-c]{1,2}\n|\n|```\n){0,30}") {
            let cut: Vec<&str> = cut(&text).into_iter().map(|(section, ..)| section).collect();
            prop_assert_eq!(cut.concat(), text.as_str());
            for section in cut.into_iter().skip(1) {
                let is_heading = |line: &&str| heading(line).is_some();
                let behind = section.lines().skip_while(|line| is_heading(line) || line.is_empty());
                let of_text = behind.take_while(|line| !line.starts_with("```"));
                prop_assert!(of_text.filter(is_heading).count() == 0, "{}", section);
            }
        }
    }
}
