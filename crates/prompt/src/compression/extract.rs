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
    plan::{CompressionPlan, Shortcoming, Summary},
    transcript::Spoken,
};

/// No more of a text is looked at for its beginning.
const LOOKED_AT_BYTES: usize = 4096;

/// So many characters are shown on each side of an identifier.
const AROUND: usize = 60;

/// So many identifiers of one message are shown with what is around them.
const SHOWN_IDENTIFIERS: usize = 3;

/// So many lines that differ in their numbers alone are a pattern, of which the newest one is shown.
const PATTERN: usize = 4;

/// So many lines that are equal to the letter are one.
const EQUAL: usize = 2;

/// A word in at most one line more than one in so many is rare.
const RARE_IN: usize = 32;

/// No more rare words of a line weigh.
const RARE_WORDS: usize = 8;

/// A line that may be a part of the summary.
struct Line {
    /// Its place.
    at: usize,
    weight: u32,
    text: String,
    /// What it has that newer messages name, by its place among what a summary needs.
    named: BTreeSet<usize>,
}

impl CompressionPlan {
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
            let named = finder.held_in(line);
            let weight = 6 + 3 * u32::from(!named.is_empty());
            (weight, format!("{}\n", one_line(line, 600)), named)
        };
        // What stands word for word beside the summary is not in it.
        let is_beside = |spoken: &&Spoken| self.kept.contains(&spoken.seq) && spoken.size <= self.kept_tokens;
        let old = self.said().filter(|spoken| !is_beside(spoken));
        let earlier: Vec<_> = earlier.map(kept_line).collect();
        let skipped = earlier.len();
        let lines = earlier.into_iter().chain(old.map(|spoken| excerpt(spoken, &finder)));
        // What is newer weighs a little more.
        let all = self.said().count().max(1);
        let line = |(at, (weight, text, named))| Line { at, weight: weight * 8, text, named };
        let mut lines: Vec<Line> = lines.enumerate().map(line).collect();
        for line in lines.iter_mut().skip(skipped) {
            line.weight += u32::try_from((line.at - skipped) * 16 / all).unwrap_or(0);
        }
        weigh_rare_words(&mut lines);
        without_repeats(lines)
    }
}

/// What is said in words that few lines have says more than what is said again and again, in any language.
fn weigh_rare_words(lines: &mut [Line]) {
    let most = lines.len() / RARE_IN + 1;
    let mut known: HashMap<String, usize> = HashMap::new();
    for word in lines.iter().flat_map(|line| words(&line.text)) {
        *known.entry(word).or_default() += 1;
    }
    for line in lines {
        let is_rare = |word: &String| known.get(word).is_some_and(|lines| *lines <= most);
        let rare = words(&line.text).iter().filter(|word| is_rare(word)).count().min(RARE_WORDS);
        line.weight += 2 * u32::try_from(rare).unwrap_or(0);
    }
}

/// The words of a line, each once; numbers are none.
fn words(line: &str) -> BTreeSet<String> {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.contains(char::is_alphabetic));
    words.map(str::to_lowercase).collect()
}

/// Of the lines of a pattern, and of lines that are equal to the letter, the newest one, which says how many there are. A line
/// that has more of what newer messages name stands for itself.
fn without_repeats(lines: Vec<Line>) -> Vec<Line> {
    struct Pattern {
        lines: usize,
        /// The place of the newest line among those that are left, and what is named in them.
        newest: Option<usize>,
        named: BTreeSet<usize>,
        stands_for: usize,
    }
    let mut patterns: HashMap<Alike, Pattern> = HashMap::new();
    for line in &lines {
        let (alike, count) = alike(&line.text);
        for alike in alike {
            let new = || Pattern { lines: 0, newest: None, named: BTreeSet::new(), stands_for: 0 };
            patterns.entry(alike).or_insert_with(new).lines += count;
        }
    }
    let mut left: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines.into_iter().rev() {
        let (alike, count) = alike(&line.text);
        let is_enough = |alike: &Alike| patterns.get(alike).is_some_and(|known| known.lines >= alike.least());
        if let Some(known) = alike.into_iter().find(is_enough).and_then(|alike| patterns.get_mut(&alike)) {
            let says_more = known.newest.is_none() || !line.named.is_subset(&known.named);
            if !says_more || known.newest.is_none() {
                known.stands_for += count;
            }
            if !says_more {
                continue;
            }
            known.newest.get_or_insert(left.len());
            known.named.extend(&line.named);
        }
        left.push(line);
    }
    for known in patterns.into_values().filter(|known| known.stands_for > 1) {
        if let Some(line) = known.newest.and_then(|at| left.get_mut(at)) {
            let said = line.text.split(TIMES).next().unwrap_or_default().trim_end();
            line.text = format!("{said}{TIMES}{})\n", known.stands_for);
        }
    }
    left.reverse();
    left
}

/// Before the number of lines that a line stands for.
const TIMES: &str = " (×";

/// What lines have in common that say the same.
#[derive(PartialEq, Eq, Hash)]
enum Alike {
    /// All but their numbers.
    Pattern(String),
    /// Every letter.
    Letters(String),
}

impl Alike {
    /// How many lines have to be alike to be one.
    fn least(&self) -> usize {
        match self {
            Self::Pattern(_) => PATTERN,
            Self::Letters(_) => EQUAL,
        }
    }
}

/// What a line may have in common with others, and for how many lines it stands.
fn alike(line: &str) -> ([Alike; 2], usize) {
    let (said, times) = line.trim_end().split_once(TIMES).unwrap_or((line.trim_end(), ""));
    // Which message it was tells nothing.
    let number = said.strip_prefix('#').and_then(|said| said.split_once(' '));
    let letters = number.filter(|(number, _)| number.parse::<u64>().is_ok()).map_or(said, |(_, said)| said);
    let mut pattern = String::with_capacity(said.len());
    for c in said.chars() {
        let c = if c.is_numeric() { '0' } else { c };
        if c != '0' || !pattern.ends_with('0') {
            pattern.push(c);
        }
    }
    let alike = [Alike::Pattern(pattern), Alike::Letters(letters.to_owned())];
    (alike, times.trim_end_matches(')').parse().unwrap_or(1))
}

/// What is shown of a message, and how much it matters.
fn excerpt(spoken: &Spoken, finder: &Finder) -> (u32, String, BTreeSet<usize>) {
    let (base, chars) = match spoken.message.role {
        Role::User => (6, 500),
        Role::System => (4, 300),
        Role::Ai => (3, 300),
        Role::Tool => (1, 200),
    };
    let text = spoken.text.trim();
    let shown = one_line(text, chars);
    let found = finder.find(text);
    let around = found.iter().map(|(_, at)| *at).filter(|at| *at > chars).take(SHOWN_IDENTIFIERS);
    let around: String = around.map(|at| format!(" … {}", near(text, at))).collect();
    let calls: String = spoken
        .message
        .tool_calls
        .iter()
        .map(|call| format!(" [calls {} {}]", call.name, one_line(&call.arguments_text(), 160)))
        .collect();
    let who = if spoken.message.tool_call_id.is_some() { "result".to_owned() } else { spoken.speaker() };
    let weight = base + 3 * u32::from(!found.is_empty());
    let named = found.into_iter().map(|(which, _)| which).collect();
    (weight, format!("#{} {who}: {shown}{around}{calls}\n", spoken.seq), named)
}

/// The beginning of a text in one line.
fn one_line(text: &str, chars: usize) -> String {
    let end = text.floor_char_boundary(LOOKED_AT_BYTES);
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
