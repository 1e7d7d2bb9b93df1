//! The format `text` of layouts with headings: what was said stands behind labels, as in a script. Each piece begins
//! with a label and ends with a line end, so that its tokens add up with those of its neighbours.

use super::{
    escape::escape,
    headings,
    text::verdict,
    utterance::{From, Kind, Utterance},
};
use crate::{
    agent::{Agent, Team},
    conversation::ToolCall,
    variable::display,
};

const CALL: &str = "calling_tool:";
const RESPONSE: &str = "Tool Response:";
const REPORT: &str = "Scout Report:";
const NOTE: &str = "Note:";
const SUMMARY: &str = "Summary:";
const SYSTEM: &str = "System:";
const USER: &str = "User";
const DIRECTOR: &str = "Director";

/// The tool that sends a scout, and what its result begins with.
const SCOUT: (&str, &str) = ("deploy_scout", "Scout deployed successfully");

/// Writes things that were said together: a call with its results, or one thing alone.
pub(super) fn pieces(group: &[Utterance], reader: &Agent, team: &Team) -> Vec<String> {
    let calls = group.first().map(Utterance::calls).unwrap_or_default();
    let mut pieces: Vec<_> = group.iter().map(|utterance| piece(utterance, calls, reader, team)).collect();
    if let Some(last) = pieces.last_mut() {
        // What the director did and what came of it stands apart from what follows.
        let is_users = matches!(group.last().map(|last| &last.kind), Some(Kind::Said { from: From::User, .. }));
        last.push_str(if is_users { "" } else { "\n" });
    }
    pieces
}

fn piece(utterance: &Utterance, calls: &[ToolCall], reader: &Agent, team: &Team) -> String {
    let labelled = |label: &str, text: &str| labelled(label, text, team);
    match &utterance.kind {
        Kind::Said { from, to, text, calls, expected, .. } => {
            let speaker = speaker(utterance, from, reader);
            let to = to.as_ref().map(|to| format!("To {to}: ")).unwrap_or_default();
            let expected = expected.as_deref().map(|expected| format!("\nExpected output: {expected}"));
            let said = labelled(&speaker, &format!("{to}{text}{}", expected.unwrap_or_default()));
            let said = if text.trim().is_empty() && !calls.is_empty() { String::new() } else { said };
            let apart = if said.is_empty() || calls.is_empty() { "" } else { "\n" };
            said + apart + &calls.iter().map(|one| call(one, team)).collect::<String>()
        }
        Kind::Result { call, text, .. } => {
            let of = calls.iter().find(|one| Some(&one.id) == call.as_ref());
            let report = text.strip_prefix(SCOUT.1).filter(|_| of.is_some_and(|of| of.name == SCOUT.0)).map(str::trim);
            let report = report.map(|report| report.strip_prefix(REPORT).map_or(report, str::trim));
            match report.filter(|report| !report.is_empty()) {
                Some(report) => labelled(RESPONSE, SCOUT.1) + &labelled(REPORT, &format!("\"{report}\"")),
                None => labelled(RESPONSE, text),
            }
        }
        Kind::Verdict { valid, reason } => labelled(NOTE, &verdict(*valid, reason)),
        Kind::Outcomes(text) => labelled(NOTE, &format!("what came of your directive\n{text}")),
        Kind::Summary { text, .. } => labelled(SUMMARY, text),
        Kind::LeftOut(words) => format!("{words}\n"),
    }
}

/// Who speaks, and for the user and the director how often they have by now.
fn speaker(utterance: &Utterance, from: &From, reader: &Agent) -> String {
    let numbered = |name: &str| match utterance.number {
        Some(number) => format!("{name} {number}:"),
        None => format!("{name}:"),
    };
    match from {
        From::User => numbered(USER),
        From::Agent(Some(name)) if *name != reader.name => format!("{name}:"),
        From::Agent(_) => numbered(DIRECTOR),
        From::System => SYSTEM.to_owned(),
    }
}

fn call(call: &ToolCall, team: &Team) -> String {
    let arguments = call.arguments_json();
    let has_none = arguments.is_null() || arguments.as_object().is_some_and(serde_json::Map::is_empty);
    let short = if has_none { String::new() } else { display(&arguments) };
    labelled(CALL, &format!("{} {short}", call.name), team)
}

/// A text behind a label. None of its lines can be taken for a label or a heading.
fn labelled(label: &str, text: &str, team: &Team) -> String {
    let (first, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let first = format!("{label} {}", escape(first)).trim_end().to_owned();
    first + "\n" + &marked_where(&escape(rest), |line| is_label(line) || is_speaker(line, team))
}

/// The lines of a text, each with a line end. One that begins like a label or a heading has a `\` put before it.
pub(super) fn marked(text: &str) -> String {
    marked_where(text, is_label)
}

fn marked_where(text: &str, is_marked: impl Fn(&str) -> bool) -> String {
    text.lines().map(|line| format!("{}{line}\n", if is_marked(line) { "\\" } else { "" })).collect()
}

/// Whether a line begins like one that an agent of the team says, or that Callboard itself adds to what was said.
fn is_speaker(line: &str, team: &Team) -> bool {
    let is_agents = || team.agents().any(|agent| is_named(line, agent.name.as_str()));
    [NOTE, SUMMARY, SYSTEM].into_iter().any(|label| begins_with(line, label)) || is_agents()
}

/// Whether a line begins with this name and a colon.
fn is_named(line: &str, name: &str) -> bool {
    begins_with(line, name) && line.get(name.len()..).is_some_and(|rest| rest.starts_with(':'))
}

fn begins_with(line: &str, label: &str) -> bool {
    line.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label))
}

/// Whether a line begins like a label or a heading of the prompt itself.
fn is_label(line: &str) -> bool {
    let begins_with = |label: &str| begins_with(line, label);
    let numbered = |name: &str| {
        let is_number = |c: char| c == ' ' || c.is_ascii_digit();
        let rest = line.get(name.len()..).map(|rest| rest.trim_start_matches(is_number));
        begins_with(name) && rest.is_some_and(|rest| rest.starts_with(':'))
    };
    headings().chain([CALL, RESPONSE, REPORT]).any(begins_with) || [USER, DIRECTOR].into_iter().any(numbered)
}
