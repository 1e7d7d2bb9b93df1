//! What an entry says in one plain sentence, for lists and timelines. The sentence itself is
//! [that of its fact](crate::fact::Fact::SENTENCE).

use serde_json::Value;

use crate::id::AgentName;

/// How many characters a sentence has at the most.
pub const LONGEST: usize = 120;

/// What an entry says, from which its sentence is made.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Its author, an agent by its name alone.
    pub(crate) by: &'a str,
    /// What it is about.
    pub(crate) subject: &'a str,
    /// Its data.
    pub(crate) data: &'a Value,
    /// The agent that reads it; none is the user.
    pub(crate) reader: Option<&'a AgentName>,
}

/// The beginning of a text, on one line. What is cut says so.
pub(crate) fn shortened(text: &str) -> String {
    // More than this is cut in any case.
    let text: String = text.chars().take(LONGEST * 8).collect();
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some(_) => line.chars().take(LONGEST - 1).collect::<String>().trim_end().to_owned() + "…",
    }
}

impl Statement<'_> {
    /// A number in the data; 0 where it is not there.
    pub(crate) fn number(&self, pointer: &str) -> u64 {
        self.data.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    /// How many things are in a list.
    pub(crate) fn count(&self, field: &str) -> usize {
        self.data.get(field).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The name of what it is about.
    pub(crate) fn name(&self) -> String {
        self.text("name")
    }

    /// The subject without the word that says what it is.
    pub(crate) fn thing(&self) -> &str {
        self.subject.split_once(':').map_or(self.subject, |(_, name)| name)
    }

    /// A field as the end of a sentence; nothing where it is blank.
    pub(crate) fn about(&self, field: &str) -> String {
        match self.text(field).trim() {
            "" => String::new(),
            text => format!(": {text}"),
        }
    }

    /// What a field says: of a long text its beginning, of parts their texts.
    pub(crate) fn text(&self, field: &str) -> String {
        self.data.get(field).map(words).unwrap_or_default()
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(fields) => {
            fields.get("beginning").or(fields.get("text")).and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        Value::Array(parts) => parts.iter().map(words).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{entry::line, event::sentence};

    fn said(kind: &str, subject: &str, data: Value) -> String {
        sentence(&"agent:lead".parse().unwrap(), kind, subject, &data, None)
    }

    #[test]
    fn sentences_say_who_did_what() {
        let message = json!({"thread_id": "main", "role": "AI", "agent": "critic", "content": "No.\nNot at all."});
        assert_eq!(said("message.added", "thread:main", message), "critic in main: No. Not at all.");
        let called = json!({"thread_id": "main", "role": "AI", "agent": "critic", "content": "", "tool_calls": [{"name": "look"}]});
        assert_eq!(said("message.added", "thread:main", called), "critic called look in main");
        let told = json!({"thread_id": "chat:critic", "role": "USER", "agent": "critic", "content": "Is it good?"});
        assert_eq!(said("message.added", "thread:chat:critic", told.clone()), "user in chat:critic: Is it good?");
        // Other agents are told from whom it comes.
        for (reader, who) in [("critic", "user"), ("lead", "critic")] {
            let (by, reader) = ("agent:critic".parse().unwrap(), reader.parse().unwrap());
            let said = sentence(&by, "message.added", "thread:chat:critic", &told, Some(&reader));
            assert_eq!(said, format!("{who} in chat:critic: Is it good?"));
        }
        let set = json!({"name": "Deadline", "content": "Friday"});
        assert_eq!(said("context_set.updated", "set:Deadline", set), "lead wrote Deadline: Friday");
        let plan = json!({"version": 3, "reason": "it rains"});
        assert_eq!(said("plan.updated", "plan", plan), "lead wrote version 3 of the plan: it rains");
    }

    #[test]
    fn sentences_are_short_and_stand_on_one_line() {
        let long = json!({"name": "A", "content": "größer 🦀\u{0}\n".repeat(100)});
        let said = said("context_set.updated", "set:A", long);
        assert_eq!(said.chars().count(), LONGEST);
        assert!(said.ends_with('…') && !said.contains('\n') && !said.contains('\u{0}'), "{said}");
    }

    #[test]
    fn every_type_of_entry_has_a_sentence_of_its_own() {
        for text in include_str!("../tests/samples/v1.jsonl").lines() {
            let entry = line::read(text).unwrap();
            let data: Value = serde_json::from_str(&entry.shown()).unwrap();
            let header = &entry.header;
            let said = sentence(&header.by, &header.kind, &header.subject, &data, None);
            let is_known = !said.contains(&*header.kind);
            assert!(is_known && !said.ends_with(' ') && said.chars().count() <= LONGEST, "{}: {said}", header.kind);
        }
    }
}
