//! Texts that vocabularies split in different ways.

use proptest::{collection::vec, prelude::*, sample::select};

/// Words, marks and characters that start with neither white space nor `/`.
pub(crate) const VISIBLE: &[&str] = &[
    "<",
    "<a name=\"b\">",
    "</a>",
    "<|endoftext|>",
    "<|im_start|>",
    "a",
    "B",
    "Hello",
    "camelCase",
    "it's",
    "'s",
    "'LL",
    "'ſ",
    "1",
    "1234",
    "²",
    "Ⅷ",
    "１",
    ".",
    ",",
    "...",
    "!?",
    "_",
    "-",
    "=",
    "$",
    "€",
    "#!",
    "*",
    "é",
    "e\u{301}",
    "\u{301}",
    "ß",
    "Ǆ",
    "ʰ",
    "ﬁ",
    "Привет",
    "ا",
    "क",
    "ि",
    "한국",
    "中",
    "文字",
    "かな",
    "カー",
    "龦",
    "，",
    "。",
    "「",
    "😀",
    "👩\u{200d}👧",
    "\u{200d}",
    "\u{feff}",
    "\u{ad}",
    "\0",
    "\u{1}\u{2}",
    "\u{fdfa}",
    "\u{10ffff}",
];

/// White space, line ends and what goes with them.
const BLANK: &[&str] = &[
    " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\u{a0}", "\u{3000}", "\u{85}", "\u{2028}", "\u{b}",
    "/", "//",
];

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(VISIBLE).prop_map(str::to_owned),
        4 => select(BLANK).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Texts of any parts.
pub(crate) fn text() -> impl Strategy<Value = String> {
    vec(part(), 0..16).prop_map(|parts| parts.concat())
}
