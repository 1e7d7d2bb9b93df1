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

use super::{Reading, Recipient, SetUpdate};
use crate::{agent::Team, audience::Audience, id::AgentName};

/// What a line begins.
enum Line<'a> {
    ContextUpdate { name: &'a str, visible_to: Option<&'a str> },
    MessageTo { name: &'a str, message: &'a str },
    InformationRequest(&'a str),
    ExpectedOutput(&'a str),
    WorkflowComplete,
    Other,
}

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
    sets: Vec<SetUpdate>,
    loose: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        let directive = &mut self.reading.directive;
        match parse(line) {
            Line::ContextUpdate { name, visible_to } => {
                self.open = Open::Set;
                let visible_to_agents = visible_to.map(|words| audience(words, self.team));
                if let Some(Err(unknown)) = &visible_to_agents {
                    self.reading.unparsed.push(format!("{}: there is no agent {unknown}", line.trim()));
                }
                let visible_to_agents = visible_to_agents.and_then(Result::ok);
                let (name, context) = (name.to_owned(), "".into());
                self.sets.push(SetUpdate { name, context, new_or_update: None, visible_to_agents });
            }
            Line::MessageTo { name, message } => match recipient(name, self.team) {
                Some(to) if self.message.is_none() => {
                    directive.message_to = Some(to);
                    (self.message, self.open) = (Some(message.to_owned()), Open::Message);
                }
                _ => self.unparsed(line),
            },
            Line::InformationRequest(message) if self.message.is_none() => {
                directive.is_info_request = true;
                directive.message_to = Some(Recipient::USER);
                (self.message, self.open) = (Some(message.to_owned()), Open::Message);
            }
            Line::ExpectedOutput(criteria) if self.criteria.is_none() => {
                (self.criteria, self.open) = (Some(criteria.to_owned()), Open::Criteria);
            }
            Line::WorkflowComplete => (directive.workflow_complete, self.open) = (true, Open::Nothing),
            Line::Other => self.other(line),
            Line::InformationRequest(_) | Line::ExpectedOutput(_) => self.unparsed(line),
        }
    }

    fn unparsed(&mut self, line: &str) {
        self.open = Open::Nothing;
        self.reading.unparsed.push(line.trim().to_owned());
    }

    fn other(&mut self, line: &'a str) {
        let blank = line.trim().is_empty();
        let open = match self.open {
            Open::Set => {
                if let Some(set) = self.sets.last_mut() {
                    let first = set.context.is_empty();
                    set.context = if first { line.into() } else { format!("{}\n{line}", set.context).into() };
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
        let Self { mut reading, message, criteria, sets, loose, .. } = self;
        let directive = &mut reading.directive;
        let trimmed = |set: SetUpdate| SetUpdate { context: set.context.trim().into(), ..set };
        directive.sets = sets.into_iter().map(|set| Ok(trimmed(set))).collect();
        let said = |text: String| Some(text.trim()).filter(|text| !text.is_empty()).map(Into::into);
        directive.message = message.and_then(said);
        directive.expected_output = criteria.and_then(said);
        if directive.message.is_none() && !loose.is_empty() {
            directive.message = said(loose.join("\n"));
        } else {
            reading.unparsed.extend(loose.into_iter().map(|line| line.trim().to_owned()));
        }
        reading
    }
}

fn parse(line: &str) -> Line<'_> {
    let line = line.trim();
    if let Some(rest) = keyword(line, "context update:").filter(|rest| !rest.is_empty()) {
        return context_update(rest);
    }
    if let Some((name, message)) = keyword(line, "message to ").and_then(|rest| rest.split_once(':')) {
        return Line::MessageTo { name: name.trim(), message: message.trim() };
    }
    if let Some(rest) = line.strip_prefix('@') {
        let (name, message) = rest.split_once(|c: char| c.is_whitespace() || c == ':').unwrap_or((rest, ""));
        return Line::MessageTo { name, message: message.trim_start_matches(':').trim() };
    }
    if let Some(rest) = keyword(line, "information request:") {
        return Line::InformationRequest(rest);
    }
    if let Some(rest) = keyword(line, "expected output:") {
        return Line::ExpectedOutput(rest);
    }
    match keyword(line, "workflow complete") {
        Some(rest) if rest.trim_matches(['.', '!', ' ']).is_empty() => Line::WorkflowComplete,
        _ => Line::Other,
    }
}

/// What stands behind `word` at the start of a line, in whatever case the word is.
fn keyword<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let start = line.get(..word.len())?;
    if start.eq_ignore_ascii_case(word) { line.get(word.len()..).map(str::trim) } else { None }
}

fn context_update(rest: &str) -> Line<'_> {
    let visible = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).and_then(|(name, words)| {
        let words = keyword(words.trim(), "visible to:")?;
        Some((name.trim(), words))
    });
    match visible {
        Some((name, words)) => Line::ContextUpdate { name, visible_to: Some(words) },
        None => Line::ContextUpdate { name: rest, visible_to: None },
    }
}

/// The audience that a list of names says; the first name that nobody has, where there is one.
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
