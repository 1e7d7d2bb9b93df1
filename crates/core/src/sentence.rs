//! What an entry says in one plain sentence, for lists and timelines.

use serde_json::Value;

use crate::entry::Actor;

/// How many characters a sentence has at the most.
pub const LONGEST: usize = 120;

/// What an entry with this author, type, subject and data says, in at most [`LONGEST`] characters on one line.
///
/// The data is that which the reader may see: what is hidden from it, such as a secret, has to be hidden before, since a part of it
/// may be cut off.
pub fn sentence(by: &Actor, kind: &str, subject: &str, data: &Value) -> String {
    let by = by.to_string();
    let by = by.strip_prefix("agent:").unwrap_or(&by);
    shortened(&Said { by, kind, subject, data }.whole())
}

/// The beginning of a text, on one line. What is cut says so.
fn shortened(text: &str) -> String {
    // More than this is cut in any case.
    let text: String = text.chars().take(LONGEST * 8).collect();
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some(_) => line.chars().take(LONGEST - 1).collect::<String>().trim_end().to_owned() + "…",
    }
}

struct Said<'a> {
    by: &'a str,
    kind: &'a str,
    subject: &'a str,
    data: &'a Value,
}

impl Said<'_> {
    fn whole(&self) -> String {
        let by = self.by;
        match self.kind {
            "session.created" => format!("{by} created the session"),
            "session.updated" => format!("{by} changed the session"),
            "agent.added" => format!("{by} added {} to the team", self.name()),
            "agent.updated" => format!("{by} changed {}", self.name()),
            "agent.removed" => format!("{by} removed {} from the team", self.name()),
            "context_set.updated" => format!("{by} wrote {}{}", self.name(), self.about("content")),
            "context_set.deleted" => format!("{by} deleted {}", self.name()),
            "form.answered" => format!("{by} answered the form {}", self.name()),
            "document.added" => format!("{by} added the document {}", self.name()),
            "document.removed" => format!("{by} removed the document {}", self.name()),
            "thread.updated" => format!("{by} changed the thread {}", self.name()),
            "message.added" => self.message(),
            "message.checked" => self.checked(),
            "message.pinned" => format!("{by} pinned {}", self.text("message_id")),
            "message.unpinned" => format!("{by} unpinned {}", self.text("message_id")),
            "directive.received" => self.directive(),
            "plan.updated" => {
                format!("{by} wrote version {} of the plan{}", self.text("version"), self.about("reason"))
            }
            "variable.set" => format!("{by} set {} to {}", self.name(), self.text("display")),
            "variable.cleared" => match &*self.name() {
                "" => format!("{by} cleared all variables{}", self.about("reason")),
                name => format!("{by} cleared {name}{}", self.about("reason")),
            },
            "secret.revealed" => format!("{by} looked at the secret {}", self.name()),
            "secret.key_wrapped" => "the key of the session's secrets was wrapped".to_owned(),
            "master_key.used" => format!("data keys are wrapped by the master key {}", self.text("id")),
            "secret.hidden" => match self.data.get("entries").and_then(Value::as_array).map_or(0, Vec::len) {
                1 => "a new secret was hidden in 1 earlier entry".to_owned(),
                entries => format!("a new secret was hidden in {entries} earlier entries"),
            },
            "secret.restored" => format!("{by} made {} a secret no more{}", self.name(), self.about("reason")),
            "entry.erased" => format!("{by} erased entry {}{}", self.text("seq"), self.about("reason")),
            _ => self.of_work(),
        }
    }

    /// What happens in runs, and in the workflow and the steps.
    fn of_work(&self) -> String {
        let (by, agent) = (self.by, self.text("agent"));
        match self.kind {
            "run.started" => format!("{by} started run {}", self.text("run")),
            "run.claimed" => format!("{} drives run {}", self.text("node"), self.text("run")),
            "run.paused" => format!("run {} was paused{}", self.text("run"), self.about("reason")),
            "run.resumed" => format!("{by} resumed run {}", self.text("run")),
            "run.ended" => format!("run {} {}{}", self.text("run"), self.ended(), self.about("reason")),
            "turn.requested" => format!("{agent} was asked, with {} tokens", self.number("/prompt/tokens")),
            "turn.answered" => format!("{agent} answered{}", self.used()),
            "turn.failed" => format!("{agent} gave no answer{}", self.about("error")),
            "tool.started" => format!("{agent} began to use {}", self.text("tool")),
            "tool.finished" => format!("{agent} used {}", self.text("tool")),
            "tool.used" => format!("{by} used {}", self.text("tool")),
            "step.entered" => format!("the step {} began", self.text("step")),
            "steps.reset" => format!("{by} began the steps anew"),
            "sequence.advanced" => "the sequence of the step went on".to_owned(),
            "usage.reported" => format!("{by} reported {} tokens", self.sum()),
            "context.warned" => {
                format!(
                    "the prompt of {agent} has {} tokens, {} is the warning",
                    self.text("tokens"),
                    self.text("warn_at")
                )
            }
            "context.crowded" => {
                format!("the prompt of {agent} has {} tokens without what was said", self.text("fixed_tokens"))
            }
            "conversation.compressed" => {
                format!("{} messages of {} were compressed", self.text("messages"), self.text("thread"))
            }
            "conversation.compression_undone" => format!("{by} undid a compression of {}", self.text("thread")),
            "conversation.tool_results_cleared" => {
                format!("{} results of tools in {} are no longer shown", self.text("results"), self.text("thread"))
            }
            "file.added" => format!("the file {} was added", self.text("path")),
            "file.removed" => format!("the file {} was removed", self.text("path")),
            "workflow.updated" => format!("{by} changed the workflow{}", self.about("reason")),
            "node.created" => format!("{by} created {}", self.thing()),
            "node.updated" => format!("{by} changed {}{}", self.thing(), self.about("reason")),
            "node.deleted" => format!("{by} deleted {}{}", self.thing(), self.about("reason")),
            "node.started" => format!("{} was started", self.text("id")),
            "execution.started" => format!("{by} started the execution {} of the workflow", self.text("execution")),
            "execution.finished" => {
                format!("the execution {} was {}{}", self.text("execution"), self.text("status"), self.about("reason"))
            }
            "node.result_recorded" => format!("{} ended with {}", self.thing(), self.text("status")),
            "token.created" => format!("{by} made the access token {}", self.thing()),
            "token.revoked" => format!("{by} revoked the access token {}", self.thing()),
            "request.answered" | "request.begun" | "request.settled" => format!("{by} sent a request with a key"),
            kind => format!("{by}: {kind} {}", self.subject),
        }
    }

    fn message(&self) -> String {
        let thread = match &*self.text("thread_id") {
            "" => String::new(),
            thread => format!(" in {thread}"),
        };
        let called = self.data.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        let called: Vec<_> = called.filter_map(|call| call.get("name").and_then(Value::as_str)).collect();
        let said = self.text("content");
        let who = match &*self.text("agent") {
            "" => self.by.to_owned(),
            agent => agent.to_owned(),
        };
        match (&*self.text("role"), said.trim(), called.as_slice()) {
            ("TOOL", said, _) => format!("{who} got a result{thread}: {said}"),
            (_, "", []) => format!("{who} said nothing{thread}"),
            (_, "", called) => format!("{who} called {}{thread}", called.join(", ")),
            (_, said, _) => format!("{who}{thread}: {said}"),
        }
    }

    fn checked(&self) -> String {
        let verdict = match self.data.get("valid").and_then(Value::as_bool) {
            Some(true) => "is what was expected",
            Some(false) => "is not what was expected",
            None => "could not be checked",
        };
        format!("{} {verdict}{}", self.text("message_id"), self.about("reason"))
    }

    fn directive(&self) -> String {
        let to = match &*self.text("message_to") {
            "" => String::new(),
            to => format!(" to {to}"),
        };
        let sets = self.data.get("outcomes").and_then(Value::as_array).map_or(0, Vec::len);
        match (&*self.text("message"), sets) {
            ("", 0) => format!("{} gave a directive{to}", self.by),
            ("", 1) => format!("{} gave a directive{to} with 1 context set", self.by),
            ("", sets) => format!("{} gave a directive{to} with {sets} context sets", self.by),
            (message, _) => format!("{}{to}: {message}", self.by),
        }
    }

    fn ended(&self) -> String {
        match &*self.text("status") {
            "completed" => "is completed".to_owned(),
            status => status.to_owned(),
        }
    }

    fn used(&self) -> String {
        match self.data.get("usage").filter(|usage| usage.is_object()) {
            Some(_) => format!(", {} tokens", self.number("/usage/completion_tokens")),
            None => String::new(),
        }
    }

    fn sum(&self) -> u64 {
        self.number("/prompt_tokens").saturating_add(self.number("/completion_tokens"))
    }

    fn number(&self, pointer: &str) -> u64 {
        self.data.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    /// The name of what it is about.
    fn name(&self) -> String {
        self.text("name")
    }

    /// The subject without the word that says what it is.
    fn thing(&self) -> &str {
        self.subject.split_once(':').map_or(self.subject, |(_, name)| name)
    }

    /// A field as the end of a sentence; nothing where it is blank.
    fn about(&self, field: &str) -> String {
        match self.text(field).trim() {
            "" => String::new(),
            text => format!(": {text}"),
        }
    }

    /// What a field says: of a long text its beginning, of parts their texts.
    fn text(&self, field: &str) -> String {
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
    use crate::entry::line;

    fn said(kind: &str, subject: &str, data: Value) -> String {
        sentence(&"agent:lead".parse().unwrap(), kind, subject, &data)
    }

    #[test]
    fn sentences_say_who_did_what() {
        let message = json!({"thread_id": "main", "role": "AI", "agent": "critic", "content": "No.\nNot at all."});
        assert_eq!(said("message.added", "thread:main", message), "critic in main: No. Not at all.");
        let called = json!({"thread_id": "main", "role": "AI", "agent": "critic", "content": "", "tool_calls": [{"name": "look"}]});
        assert_eq!(said("message.added", "thread:main", called), "critic called look in main");
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
            let said = sentence(&header.by, &header.kind, &header.subject, &data);
            let is_known = header.kind.starts_with("session.expired") || !said.contains(&*header.kind);
            assert!(is_known && !said.ends_with(' ') && said.chars().count() <= LONGEST, "{}: {said}", header.kind);
        }
    }
}
