//! The format `text`: one text, whose pieces begin with a tag and end with a line end, so that their tokens add up.

use callboard_core::{
    agent::Agent,
    prompt::escape::{attribute, escape},
};

use crate::utterance::{From, Kind, Utterance, caller, teller};

/// Writes one thing that was said in a group.
pub(super) fn piece(group: &[Utterance], utterance: &Utterance, reader: &Agent) -> String {
    match &utterance.kind {
        Kind::Said { from, to, text, calls, expected, .. } => {
            let from = match from {
                From::User => "user",
                From::System => "system",
                From::Agent(Some(name)) => name.as_str(),
                From::Agent(None) => "assistant",
            };
            let to = to.as_ref().map(|to| format!(" to=\"{}\"", attribute(to.as_str()))).unwrap_or_default();
            let you = if utterance.mine && from == reader.name.as_str() { " (you)" } else { "" };
            let mut written = format!("<CHAT_MESSAGE from=\"{}{you}\"{to}>\n{}", attribute(from), body(text));
            if let Some(expected) = expected {
                written += &format!("<EXPECTED_OUTPUT>\n{}</EXPECTED_OUTPUT>\n", body(expected));
            }
            for call in calls {
                let (name, id) = (attribute(&call.name), attribute(&call.id));
                let arguments = call.arguments_text();
                written += &format!("<TOOL_CALL name=\"{name}\" id=\"{id}\">\n{}</TOOL_CALL>\n", body(&arguments));
            }
            written + "</CHAT_MESSAGE>\n"
        }
        Kind::Result { call, text, .. } => {
            let of = call.as_ref().map(|call| format!(" of=\"{}\"", attribute(call))).unwrap_or_default();
            let by = caller(group, utterance).map(|(name, _)| format!(" called-by=\"{}\"", attribute(name.as_str())));
            let from = teller(group, utterance, &reader.name);
            let from = from.map(|name| format!(" from=\"{}\"", attribute(name.as_str())));
            let of = of + &by.or(from).unwrap_or_default();
            format!("<TOOL_RESULT{of}>\n{}</TOOL_RESULT>\n", body(text))
        }
        Kind::Verdict { valid, reason } => {
            format!("<ANSWER_VERDICT>\n{}</ANSWER_VERDICT>\n", body(&verdict(*valid, reason)))
        }
        Kind::Summary { through, text, .. } => {
            format!("<CONVERSATION_SUMMARY through=\"{through}\">\n{}</CONVERSATION_SUMMARY>\n", body(text))
        }
        Kind::LeftOut(words) => format!("<LEFT_OUT>\n{words}\n</LEFT_OUT>\n"),
        Kind::Outcomes(text) => format!("<DIRECTIVE_OUTCOMES>\n{}</DIRECTIVE_OUTCOMES>\n", body(text)),
    }
}

/// What a verdict says.
pub(super) fn verdict(valid: Option<bool>, reason: &str) -> String {
    let word = match valid {
        Some(true) => "The last answer is what was expected",
        Some(false) => "The last answer is not what was expected",
        None => "Whether the last answer is what was expected is not known",
    };
    if reason.trim().is_empty() { format!("{word}.") } else { format!("{word}: {}", reason.trim()) }
}

fn body(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("{}\n", escape(text)) }
}
