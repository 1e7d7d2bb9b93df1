//! The format `text` of layouts with headings: what was said stands behind labels, as in a script. Each piece begins
//! with a label and ends with a line end, so that its tokens add up with those of its neighbours.

use callboard_core::{
    agent::{Agent, Team},
    browser::scout::{DEPLOY_SCOUT, DEPLOYED},
    conversation::ToolCall,
    prompt::{
        escape::{ends_line, escape},
        look_alike::Opening,
    },
    variable::display,
};

use crate::{
    headings,
    text::verdict,
    utterance::{From, Kind, Utterance, caller, teller},
};

const CALL: &str = "calling_tool:";
const RESPONSE: &str = "Tool Response:";
const REPORT: &str = "Scout Report:";
const NOTE: &str = "Note:";
const SUMMARY: &str = "Summary:";
const SYSTEM: &str = "System:";
const USER: &str = "User";
const DIRECTOR: &str = "Director";

/// Writes things that were said together: a call with its results, or one thing alone.
pub(super) fn pieces(group: &[Utterance], reader: &Agent, team: &Team) -> Vec<String> {
    let calls = group.first().map(Utterance::calls).unwrap_or_default();
    let mut pieces: Vec<_> = group.iter().map(|utterance| piece(group, utterance, calls, reader, team)).collect();
    if let Some(last) = pieces.last_mut() {
        // What the director did and what came of it stands apart from what follows.
        let is_users = matches!(group.last().map(|last| &last.kind), Some(Kind::Said { from: From::User, .. }));
        last.push_str(if is_users { "" } else { "\n" });
    }
    pieces
}

fn piece(group: &[Utterance], utterance: &Utterance, calls: &[ToolCall], reader: &Agent, team: &Team) -> String {
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
            let is_of_scout = of.is_some_and(|of| of.name == DEPLOY_SCOUT);
            let report = text.strip_prefix(DEPLOYED).filter(|_| is_of_scout).map(str::trim);
            let report = report.map(|report| report.strip_prefix(REPORT).map_or(report, str::trim));
            match report.filter(|report| !report.is_empty()) {
                Some(report) => labelled(RESPONSE, DEPLOYED) + &labelled(REPORT, &format!("\"{report}\"")),
                None => match (caller(group, utterance), teller(group, utterance, &reader.name)) {
                    (Some((name, _)), _) => labelled(&format!("{RESPONSE} [to {name}]"), text),
                    (None, Some(name)) => labelled(&format!("{RESPONSE} [from {name}]"), text),
                    (None, None) => labelled(RESPONSE, text),
                },
            }
        }
        Kind::Verdict { valid, reason } => labelled(NOTE, &verdict(*valid, reason)),
        Kind::Outcomes(text) => labelled(NOTE, &format!("results of your directive\n{text}")),
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
    let is_marked = |line: &str| is_label(line) || is_speaker(line, team);
    // Some models take other characters for line ends too.
    let (first, more) = first.split_once(|c| c != '\n' && ends_line(c)).unwrap_or((&first, ""));
    let more = if more.is_empty() { String::new() } else { marked_where(more, is_marked) };
    first.to_owned() + "\n" + &more + &marked_where(&escape(rest), is_marked)
}

/// The lines of a text, each with a line end. One that begins like a label or a heading has a `\` put before it.
pub(super) fn marked(text: &str) -> String {
    marked_where(text, is_label)
}

fn marked_where(text: &str, is_marked: impl Fn(&str) -> bool) -> String {
    let mark = |line: &str| format!("{}{line}", if is_marked(line) { "\\" } else { "" });
    text.lines().map(|line| line.split_inclusive(ends_line).map(mark).collect::<String>() + "\n").collect()
}

/// Whether a line begins like one that an agent of the team says, or that Callboard itself adds to what was said.
fn is_speaker(line: &str, team: &Team) -> bool {
    let opening = Opening::of(line);
    let is_named = |name: &str| opening.after(name).is_some_and(|rest| rest.trim_start().starts_with(':'));
    [NOTE, SUMMARY, SYSTEM].into_iter().any(|label| opening.is(label))
        || team.agents().any(|agent| is_named(agent.name.as_str()))
}

/// Whether a line begins like a label or a heading of the prompt itself.
fn is_label(line: &str) -> bool {
    let opening = Opening::of(line);
    let numbered = |name: &str| {
        // A look-alike of a 1 or a 0 is taken for a letter.
        let is_number = |c: char| c == ' ' || c.is_numeric() || (!line.is_ascii() && matches!(c, 'l' | 'o'));
        opening.after(name).is_some_and(|rest| rest.trim_start_matches(is_number).starts_with(':'))
    };
    headings().chain([CALL, RESPONSE, REPORT]).any(|label| opening.is(label))
        || [USER, DIRECTOR].into_iter().any(numbered)
}
