//! A page as text: the tree of what is on it, with selectors for what can be used.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Browser, BrowserError, mask::Mask, page::FoundElement, selectors::Selector};

/// How large a snapshot may be, and of what it is.
#[derive(Clone, Debug)]
pub struct SnapshotLimits {
    /// The most characters of its text.
    pub max_chars: usize,
    /// The most tokens of its text. Without it, characters alone count.
    pub tokens: Option<TokenLimit>,
    /// A selector of the part of the page to show. Without one it is the whole page.
    pub within: Option<String>,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { max_chars: 24_000, tokens: None, within: None }
    }
}

/// How many tokens a text may have.
#[derive(Clone, Copy, Debug)]
pub struct TokenLimit {
    /// The most of them.
    pub most: usize,
    /// Counts those of a text.
    pub count: fn(&str) -> usize,
}

/// A page as text. It has no secrets. It is the page's word: data, whatever it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageSnapshot {
    /// The address that the tab shows.
    pub url: String,
    /// The title.
    pub title: String,
    /// One line for each thing on the page, such as `- button "Next" #next`; what is within another is further to the right. The last line says what was cut.
    pub text: String,
    /// How many elements the page, or the part of it, has.
    pub elements: usize,
    /// How many lines the text has.
    pub lines: usize,
    /// The size of the text.
    pub chars: usize,
    /// What did not fit: roles, and how many things of each. Empty if everything is there.
    pub cut: BTreeMap<String, usize>,
    /// The browser had ended, and was started again for this.
    pub restarted: bool,
}

#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    elements: usize,
    #[serde(default)]
    items: Vec<Item>,
    #[serde(default)]
    cut: BTreeMap<String, usize>,
    #[serde(flatten)]
    found: FoundElement,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    depth: usize,
    role: String,
    name: String,
    level: Option<u32>,
    selector: Option<String>,
    value: Option<String>,
    href: Option<String>,
    states: Vec<String>,
    options: Vec<String>,
}

/// A longer name, value or text is shortened, which its line says.
const LONGEST: usize = 200;
const LONGEST_HREF: usize = 100;
const MOST_OPTIONS: usize = 15;
const DEEPEST: usize = 12;
/// Kept for the line that says what was cut.
const CUT_LINE: usize = 300;
/// The same in tokens.
const CUT_TOKENS: usize = 100;

impl Browser {
    /// Reads a page as text.
    pub async fn snapshot(&self, name: &str, limits: &SnapshotLimits) -> Result<PageSnapshot, BrowserError> {
        let (live, restarted) = self.live().await?;
        let target = self.target(name)?;
        let mask = &self.inner.shared.mask;
        let within = limits.within.as_deref().map(Selector::parse).transpose()?;
        let argument = json!({"maxChars": limits.max_chars, "within": within});
        let read: Read = live.run(&target, "snapshot", &argument).await?;
        if let Some(within) = &within {
            read.found.into_element(within, mask)?;
        }
        let mut cut = read.cut;
        let room = limits.max_chars.saturating_sub(CUT_LINE);
        let mut tokens = limits.tokens.map_or(0, |tokens| tokens.most.saturating_sub(CUT_TOKENS));
        let (mut text, mut chars, mut lines, mut full) = (String::new(), 0, 0, false);
        for item in &read.items {
            let line = line_of(item, mask);
            let size = line.chars().count();
            // What comes behind something that did not fit is left out too: a page with holes would mislead.
            full |= chars + size > room;
            if let Some(limit) = limits.tokens.filter(|_| !full) {
                let left = tokens.checked_sub((limit.count)(&line));
                full = left.is_none();
                tokens = left.unwrap_or_default();
            }
            if full {
                *cut.entry(item.role.clone()).or_default() += 1;
                continue;
            }
            chars += size;
            lines += 1;
            text.push_str(&line);
        }
        if !cut.is_empty() {
            let line = cut_line(&cut);
            chars += line.chars().count();
            lines += 1;
            text.push_str(&line);
        }
        let (url, title) = (mask.url(&read.url), mask.text(&read.title).chars().take(LONGEST).collect());
        Ok(PageSnapshot { url, title, text, elements: read.elements, lines, chars, cut, restarted })
    }
}

/// `- role "name" (states) = "value" selector`
fn line_of(item: &Item, mask: &Mask) -> String {
    let mut line = format!("{}- ", "  ".repeat(item.depth.min(DEEPEST)));
    // Writing to a string does not fail.
    if item.role == "text" {
        let _ = writeln!(line, "{}", short(&mask.text(&item.name), LONGEST));
        return line;
    }
    line.push_str(&item.role);
    if let Some(level) = item.level {
        let _ = write!(line, " {level}");
    }
    if !item.name.is_empty() {
        let _ = write!(line, " \"{}\"", short(&mask.text(&item.name), LONGEST));
    }
    if !item.states.is_empty() {
        let _ = write!(line, " ({})", mask.url(&item.states.join(", ")));
    }
    if let Some(value) = &item.value {
        let _ = write!(line, " = \"{}\"", short(&one_line(&mask.text(value)), LONGEST));
    }
    if !item.options.is_empty() {
        let shown: Vec<_> = item.options.iter().take(MOST_OPTIONS).map(|option| mask.text(option)).collect();
        let more = item.options.len().saturating_sub(MOST_OPTIONS);
        let more = if more > 0 { format!(" and {more} or more others") } else { String::new() };
        let _ = write!(line, " of {}{more}", short(&shown.join(" | "), 2 * LONGEST));
    }
    if let Some(href) = &item.href {
        let _ = write!(line, " -> {}", short(&mask.url(href), LONGEST_HREF));
    }
    if let Some(selector) = &item.selector {
        let _ = write!(line, " {}", mask.text(selector));
    }
    line.push('\n');
    line
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Shortened text says so.
fn short(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text.get(end..).unwrap_or_default().chars().count();
            format!("{}... ({rest} more characters)", text.get(..end).unwrap_or_default())
        }
    }
}

fn cut_line(cut: &BTreeMap<String, usize>) -> String {
    let mut roles: Vec<_> = cut.iter().collect();
    roles.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named: Vec<_> = roles.iter().take(8).map(|(role, count)| format!("{count} {role}")).collect();
    let total: usize = cut.values().sum();
    let others = if roles.len() > 8 { ", others" } else { "" };
    format!("[cut: {total} more things: {}{others}; ask for a part of the page by a selector]\n", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_have_no_secrets() {
        let mask = Mask::new(None);
        mask.add("654321");
        let item = Item {
            depth: 1,
            role: "textbox".into(),
            name: "x".repeat(210),
            selector: Some("#a".into()),
            value: Some("is 654321\nor".into()),
            states: vec!["required".into()],
            ..Item::default()
        };
        let expected =
            format!("  - textbox \"{}... (10 more characters)\" (required) = \"is [hidden] or\" #a\n", "x".repeat(200));
        assert_eq!(line_of(&item, &mask), expected);
    }

    #[test]
    fn what_was_cut_is_named_by_how_much_it_is() {
        let cut = [("link".to_owned(), 3), ("text".to_owned(), 10)].into();
        assert_eq!(
            cut_line(&cut),
            "[cut: 13 more things: 10 text, 3 link; ask for a part of the page by a selector]\n"
        );
    }
}
