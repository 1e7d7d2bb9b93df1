//! A summary without a model: excerpts from what was said, the same for the same messages. It is used where no model is
//! named, or none writes a good summary, so that a compression cannot fail.

use std::collections::{BTreeSet, HashMap};

use callboard_core::{
    conversation::Role,
    count::{TokenCounter, Tokens},
    prompt::escape::escape,
    text::first_chars,
};

use crate::compression::{
    identifiers::Finder,
    plan::{Plan, Shortcoming, Summary},
    transcript::Spoken,
};

/// Words that tell what matters later: what was wanted, decided and found out, and what went wrong.
const TELLING: &[&str] = &[
    "must",
    "never",
    "always",
    "prefer",
    "want",
    "need",
    "require",
    "only",
    "important",
    "remember",
    "decide",
    "agree",
    "chose",
    "because",
    "instead",
    "plan",
    "goal",
    "error",
    "fail",
    "cannot",
    "fix",
    "solved",
    "works",
    "found",
    "result",
    "conclusion",
    "recommend",
    "todo",
    "next",
    "done",
    "created",
    "updated",
];

/// No more of a text is looked at for its beginning.
const LOOKED_AT_BYTES: usize = 4096;

/// So many characters are shown on each side of an identifier.
const AROUND: usize = 60;

/// So many identifiers of one message are shown with what is around them.
const SHOWN_IDENTIFIERS: usize = 3;

/// So many lines that differ in their numbers alone are a pattern, of which the newest one is shown.
const PATTERN: usize = 4;

/// A line that may be a part of the summary.
struct Line {
    /// Its place.
    at: usize,
    weight: u32,
    text: String,
    /// Whether it has what newer messages name.
    is_named: bool,
}

impl Plan {
    /// The summary without a model. It is always good.
    pub fn extract(&self, count: &dyn TokenCounter) -> Result<Summary, Shortcoming> {
        let mut room = self.allowed_text();
        loop {
            let text = self.excerpts(room, count);
            match self.check(&text, count) {
                // Lines may have a little more tokens together than one by one in a vocabulary that splits otherwise.
                Err(Shortcoming::TooLong { .. }) if room > Tokens(8) => room = Tokens(room.0 / 4 * 3),
                Err(_) => return self.check("…", count),
                Ok(summary) => return Ok(summary),
            }
        }
    }

    /// The weightiest lines that fit in `room`, in their order.
    fn excerpts(&self, room: Tokens, count: &dyn TokenCounter) -> String {
        let lines = self.lines();
        let all = lines.len();
        let mut by_weight: Vec<&Line> = lines.iter().collect();
        by_weight.sort_by_key(|line| (std::cmp::Reverse(line.weight), std::cmp::Reverse(line.at)));
        let note = |left: usize| format!("[{left} more lines are left out here]");
        let (mut used, mut chosen, mut misses) = (count.count(&note(all)), BTreeSet::new(), 0);
        for line in by_weight {
            let more = count.count(&escape(&line.text));
            if used + more <= room {
                used += more;
                chosen.insert(line.at);
            } else {
                misses += 1;
            }
            if misses > 64 {
                break;
            }
        }
        let left = all - chosen.len();
        let text: String =
            lines.iter().filter(|line| chosen.contains(&line.at)).map(|line| line.text.as_str()).collect();
        if left == 0 { text } else { text + &note(left) }
    }

    fn lines(&self) -> Vec<Line> {
        let needed: Vec<&str> = self.needed.iter().map(|one| &**one).collect();
        let finder = Finder::new(&needed);
        let earlier = self.earlier.iter().flat_map(|earlier| earlier.text.lines());
        let earlier = earlier.map(str::trim_end).filter(|line| !line.trim().is_empty() && !line.starts_with('['));
        let kept_line = |line: &str| {
            let is_named = !finder.find(line).is_empty();
            let weight = 6 + 2 * u32::from(is_telling(line)) + 3 * u32::from(is_named);
            (weight, format!("{}\n", one_line(line, 600)), is_named)
        };
        let lines = earlier.map(kept_line).chain(self.old.iter().map(|spoken| excerpt(spoken, &finder)));
        // What is newer weighs a little more.
        let all = self.old.len().max(1);
        let line = |(at, (weight, text, is_named))| Line { at, weight: weight * 8, text, is_named };
        let mut lines: Vec<Line> = lines.enumerate().map(line).collect();
        let skipped = lines.len().saturating_sub(all);
        for line in lines.iter_mut().skip(skipped) {
            line.weight += u32::try_from((line.at - skipped) * 16 / all).unwrap_or(0);
        }
        without_repeats(lines)
    }
}

/// Of the lines of a pattern the newest one, which says how many there are. What newer messages name is not left out.
fn without_repeats(lines: Vec<Line>) -> Vec<Line> {
    let mut alike: HashMap<String, usize> = HashMap::new();
    for line in lines.iter().filter(|line| !line.is_named) {
        let (pattern, count) = pattern(&line.text);
        *alike.entry(pattern).or_default() += count;
    }
    let mut left: Vec<Line> = Vec::with_capacity(lines.len());
    for mut line in lines.into_iter().rev() {
        let (pattern, _) = pattern(&line.text);
        match alike.get_mut(&pattern).filter(|count| !line.is_named && (**count >= PATTERN || **count == 0)) {
            Some(0) => {}
            Some(count) => {
                line.text =
                    format!("{}{TIMES}{count})\n", line.text.split(TIMES).next().unwrap_or_default().trim_end());
                *count = 0;
                left.push(line);
            }
            None => left.push(line),
        }
    }
    left.reverse();
    left
}

/// Before the number of lines that a line stands for.
const TIMES: &str = " (×";

/// A line without its numbers, and for how many lines it stands.
fn pattern(line: &str) -> (String, usize) {
    let (said, times) = line.trim_end().split_once(TIMES).unwrap_or((line.trim_end(), ""));
    let mut pattern = String::with_capacity(said.len());
    for c in said.chars() {
        let c = if c.is_numeric() { '0' } else { c };
        if c != '0' || !pattern.ends_with('0') {
            pattern.push(c);
        }
    }
    (pattern, times.trim_end_matches(')').parse().unwrap_or(1))
}

/// What is shown of a message, and how much it matters.
fn excerpt(spoken: &Spoken, finder: &Finder) -> (u32, String, bool) {
    let (base, chars) = match spoken.message.role {
        Role::User => (6, 500),
        Role::System => (4, 300),
        Role::Ai => (3, 300),
        Role::Tool => (1, 200),
    };
    let text = spoken.text.trim();
    let shown = one_line(text, chars);
    let found: Vec<usize> = finder.find(text).into_iter().map(|(_, at)| at).collect();
    let mut around = String::new();
    for at in found.iter().filter(|at| **at > chars).take(SHOWN_IDENTIFIERS) {
        around += &format!(" … {}", near(text, *at));
    }
    let calls: String = spoken
        .message
        .tool_calls
        .iter()
        .map(|call| format!(" [calls {} {}]", call.name, one_line(&call.arguments_text(), 160)))
        .collect();
    let who = if spoken.message.tool_call_id.is_some() { "result".to_owned() } else { spoken.speaker() };
    let weight = base + 3 * u32::from(!found.is_empty()) + 2 * u32::from(is_telling(&shown));
    (weight, format!("#{} {who}: {shown}{around}{calls}\n", spoken.seq), !found.is_empty())
}

fn is_telling(text: &str) -> bool {
    let text = text.to_lowercase();
    TELLING.iter().any(|word| text.contains(word))
}

/// The beginning of a text in one line.
fn one_line(text: &str, chars: usize) -> String {
    let end = (0..=LOOKED_AT_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let words: Vec<&str> = text.get(..end).unwrap_or_default().split_whitespace().collect();
    first_chars(&words.join(" "), chars)
}

/// What is around a place in a text, in one line.
fn near(text: &str, at: usize) -> String {
    let before: Vec<char> = text.get(..at).unwrap_or_default().chars().rev().take(AROUND).collect();
    let before: String = before.into_iter().rev().collect();
    let behind: String = text.get(at..).unwrap_or_default().chars().take(2 * AROUND).collect();
    one_line(&format!("{before}{behind}"), 4 * AROUND)
}
