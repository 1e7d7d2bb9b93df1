//! The fallback: a directive in text, line by line, for models that cannot give structured output.
//!
//! ```text
//! Context update: NAME (visible to: a, b)      and the lines after it, up to the next keyword, are the content
//! Message to NAME: …                           or: @NAME …
//! Information request: …
//! Expected output: …
//! Workflow complete
//! ```
//!
//! Keywords may be in any case. A message goes on up to an empty line. What fits none is the message, if there is no
//! other, else it is reported.

use crate::{
    agent::Team,
    audience::Audience,
    context_set::SetOutcome,
    directive::{Reading, Recipient, SetUpdate, criteria},
    id::AgentName,
    text::first_chars,
};

/// What the lines before belong to.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Set,
    Message,
    Criteria,
}

/// Reads a text by the grammar of this module.
pub(super) fn read(text: &str, team: &Team) -> Reading {
    let mut reader = Reader {
        team,
        reading: Reading::default(),
        open: Open::Nothing,
        message: None,
        criteria: None,
        sets: Vec::new(),
        loose: Vec::new(),
    };
    text.lines().for_each(|line| reader.line(line));
    reader.finish()
}

struct Reader<'a> {
    team: &'a Team,
    reading: Reading,
    open: Open,
    message: Option<String>,
    criteria: Option<String>,
    sets: Vec<Set<'a>>,
    loose: Vec<&'a str>,
}

/// A context update: its name, who is to see it as it was said, and its content as far as it was read.
struct Set<'a> {
    name: &'a str,
    visible_to: Option<&'a str>,
    content: String,
}

/// How many lines that were not understood are told one by one, and how many characters of each.
const UNPARSED: (usize, usize) = (20, 200);

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        let words = line.trim();
        if let Some(rest) = keyword(words, "context update:").filter(|rest| !rest.is_empty()) {
            let (name, visible_to) = name_and_audience(rest);
            self.open = Open::Set;
            self.sets.push(Set { name, visible_to, content: String::new() });
        } else if let Some((to, message)) = message_to(words, self.team) {
            match to.filter(|_| self.message.is_none()) {
                Some(to) => self.say(to, message),
                None => self.unparsed(line),
            }
        } else if let Some(request) = keyword(words, "information request:") {
            if self.message.is_some() {
                return self.unparsed(line);
            }
            self.reading.directive.is_info_request = true;
            self.say(Recipient::USER, request);
        } else if let Some(criteria) = keyword(words, "expected output:") {
            if self.criteria.is_some() {
                return self.unparsed(line);
            }
            (self.criteria, self.open) = (Some(criteria.to_owned()), Open::Criteria);
        } else if keyword(words, "workflow complete").is_some_and(|rest| rest.trim_matches(['.', '!', ' ']).is_empty())
        {
            (self.reading.directive.workflow_complete, self.open) = (true, Open::Nothing);
        } else {
            self.other(line);
        }
    }

    fn say(&mut self, to: Recipient, message: &str) {
        self.reading.directive.message_to = Some(to);
        (self.message, self.open) = (Some(message.to_owned()), Open::Message);
    }

    fn unparsed(&mut self, line: &str) {
        self.open = Open::Nothing;
        self.reading.unparsed.push(line.to_owned());
    }

    fn other(&mut self, line: &'a str) {
        let blank = line.trim().is_empty();
        let open = match self.open {
            Open::Set => {
                if let Some(set) = self.sets.last_mut() {
                    set.content.push_str(line);
                    set.content.push('\n');
                }
                return;
            }
            Open::Message => &mut self.message,
            Open::Criteria => &mut self.criteria,
            Open::Nothing => {
                if !blank {
                    self.loose.push(line);
                }
                return;
            }
        };
        if blank {
            self.open = Open::Nothing;
        } else if let Some(text) = open {
            text.push('\n');
            text.push_str(line);
        }
    }

    fn finish(self) -> Reading {
        let Self { team, mut reading, message, criteria: expected, sets, loose, .. } = self;
        let directive = &mut reading.directive;
        directive.sets = sets.into_iter().map(|set| set.finish(team)).collect();
        let said = |text: String| Some(text.trim()).filter(|text| !text.is_empty()).map(Into::into);
        directive.message = message.and_then(said);
        directive.expected_output = expected.and_then(said).and_then(criteria);
        if directive.message.is_none() && !loose.is_empty() {
            directive.message = said(loose.join("\n"));
        } else {
            reading.unparsed.extend(loose.into_iter().map(str::to_owned));
        }
        reading.unparsed = in_a_few_words(&reading.unparsed);
        reading
    }
}

impl Set<'_> {
    /// The update that was said. One for agents that are not there is rejected: its content is not shown to others.
    fn finish(self, team: &Team) -> Result<SetUpdate, SetOutcome> {
        let visible_to_agents = self.visible_to.map(|words| audience(words, team)).transpose().map_err(|unknown| {
            let known = team.names().map(AgentName::as_str).collect::<Vec<_>>().join(", ");
            SetOutcome::rejected(self.name, format!("there is no agent {unknown}; the team is: {known}"))
        })?;
        let context = self.content.trim().into();
        Ok(SetUpdate { name: self.name.to_owned(), context, new_or_update: None, visible_to_agents })
    }
}

/// Lines that were not understood, shortened to what a reader can make use of.
fn in_a_few_words(unparsed: &[String]) -> Vec<String> {
    let (lines, chars) = UNPARSED;
    let mut few: Vec<_> = unparsed.iter().take(lines).map(|line| first_chars(line.trim(), chars)).collect();
    if let Some(more) = unparsed.len().checked_sub(lines).filter(|more| *more > 0) {
        few.push(format!("and {more} more lines"));
    }
    few
}

/// What a line says that is a message: to whom, where that is somebody, and what.
fn message_to<'a>(line: &'a str, team: &Team) -> Option<(Option<Recipient>, &'a str)> {
    match keyword(line, "message to ").and_then(|rest| rest.split_once(':')) {
        Some((name, message)) => Some((recipient(name.trim(), team), message.trim())),
        None => addressed(line, team).map(|(to, message)| (Some(to), message)),
    }
}

/// The recipient of a line that starts with `@NAME`, and what it says. The longest name counts, and names may begin with an
/// `@` of their own; a line with another word there is a line like any other.
fn addressed<'a>(line: &'a str, team: &Team) -> Option<(Recipient, &'a str)> {
    let behind = line.strip_prefix('@')?;
    let names = team.names().map(AgentName::as_str).chain(["user"]);
    let begins = |name: &str| {
        let rest = after(behind, name).or_else(|| after(line, name).filter(|_| name.starts_with('@')))?;
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || "_-/".contains(c));
        ends.then(|| (name.len(), recipient(name, team), rest))
    };
    let (_, to, rest) = names.filter_map(begins).max_by_key(|(length, ..)| *length)?;
    Some((to?, rest.trim_start_matches([':', ',']).trim()))
}

/// What stands behind `word` at the start of a line, without the spaces around it, in whatever case the word is.
fn keyword<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    after(line, word).map(str::trim)
}

fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let start = line.get(..word.len())?;
    if start.eq_ignore_ascii_case(word) { line.get(word.len()..) } else { None }
}

/// The name of a set, and who is to see it, where that is said.
fn name_and_audience(rest: &str) -> (&str, Option<&str>) {
    let visible = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).and_then(|(name, words)| {
        let words = keyword(words.trim(), "visible to:")?;
        Some((name.trim(), Some(words)))
    });
    visible.unwrap_or((rest, None))
}

/// The audience that a list of names means, or the first name that is not in the team.
fn audience(words: &str, team: &Team) -> Result<Audience, String> {
    if ["all", "none"].contains(&words.to_lowercase().as_str()) {
        return Ok(if words.eq_ignore_ascii_case("all") { Audience::All } else { Audience::None });
    }
    let names = words.split(',').map(str::trim).filter(|name| !name.is_empty());
    let found = |name: &str| agent(name, team).cloned().ok_or_else(|| name.to_owned());
    Ok(Audience::of(names.map(found).collect::<Result<Vec<_>, _>>()?))
}

fn recipient(name: &str, team: &Team) -> Option<Recipient> {
    let agent = || agent(name, team).cloned().map(Recipient::Agent);
    if name.eq_ignore_ascii_case("user") { Some(Recipient::USER) } else { agent() }
}

/// The agent with this name, in its own case or, failing that, in any.
fn agent<'a>(name: &str, team: &'a Team) -> Option<&'a AgentName> {
    let exact = team.names().find(|agent| agent.as_str() == name);
    exact.or_else(|| team.names().find(|agent| agent.as_str().to_lowercase() == name.to_lowercase()))
}
