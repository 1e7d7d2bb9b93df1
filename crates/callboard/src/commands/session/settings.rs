//! What `callboard session show` tells of a session's settings, and of what its turns used.

use callboard_api as api;
use callboard_engine::core::audience::Audience;
use serde::Serialize;
use serde_json::Value;

use crate::output::counted;

/// A line for each kind of setting that differs from its default, and for what was used.
pub(super) fn lines(session: &api::Session) -> Vec<String> {
    let settings = session.settings.as_ref().map(of_settings).unwrap_or_default();
    let used = session.overview.as_ref().map(of_use).unwrap_or_default();
    let differing = settings.into_iter().chain(used).filter(|(_, told)| !told.is_empty());
    differing.map(|(what, told)| format!("{what:<10} {told}")).collect()
}

fn of_settings(settings: &api::SessionSettings) -> Vec<(&'static str, String)> {
    // Steps and collections have lines of their own.
    let api::SessionSettings {
        default_visibility,
        share,
        grant,
        prompt,
        limits,
        steps: _,
        compression,
        collections: _,
    } = settings;
    let seen_by = match default_visibility {
        Audience::All => String::new(),
        audience => format!("visible to {audience}"),
    };
    vec![
        ("new sets", seen_by),
        ("shared", told(share)),
        ("granted", told(grant)),
        ("prompt", told(prompt)),
        ("limits", told(limits)),
        ("compress", told(compression)),
    ]
}

fn of_use(overview: &api::SessionOverview) -> Vec<(&'static str, String)> {
    let usage = &overview.usage;
    let used = match usage.total_tokens {
        0 => String::new(),
        total => {
            let (prompts, answers) = (usage.prompt_tokens, usage.completion_tokens);
            format!("{}: {prompts} of prompts, {answers} of answers", counted(total, "token"))
        }
    };
    let cost = overview.cost.as_ref().map(|cost| format!("{:.4} {}", cost.amount, cost.currency));
    vec![("used", used), ("cost", cost.unwrap_or_default())]
}

/// A setting in words; nothing where it is as it is by default, since its JSON is empty then.
fn told(setting: &impl Serialize) -> String {
    serde_json::to_value(setting).map(|value| words(&value)).unwrap_or_default()
}

fn words(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', " "), within(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(within).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null | Value::Number(_) => value.to_string(),
    }
}

/// The same for what stands in an object or a list.
fn within(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => format!("({})", words(value)),
        _ => words(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_told_in_words() {
        assert_eq!(words(&json!({})), "");
        assert_eq!(words(&json!(["context_sets", "fork"])), "context_sets, fork");
        let prompt = json!({"answer_tokens": 100, "recall": false, "parts": {"history": {"max": "40%"}}});
        assert!(words(&prompt).contains("answer tokens 100") && words(&prompt).contains("recall no"));
        assert!(words(&prompt).contains("parts (history (max 40%))"), "{}", words(&prompt));
        assert_eq!(words(&json!({"instructions": "Be\nshort."})), "instructions Be short.");
    }
}
