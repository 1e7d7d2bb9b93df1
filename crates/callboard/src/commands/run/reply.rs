//! Answers a team's questions to the user: at the terminal, or automatically where that is asked for.

use callboard_api as api;
use callboard_engine::core::context_set::form::{Field, ValueType};
use serde_json::{Map, Value};

use super::say;
use crate::{
    client::OnSession,
    commands::form::{expected_input, value_of},
    failure::Failure,
    output::{self, Output},
    terminal::Lines,
};

/// How often a run is answered automatically. A team that only asks makes no progress.
const MAX_AUTOMATIC_REPLIES: u32 = 8;
/// The automatic answer to a question.
const AUTOMATIC_REPLY: &str = "Nobody is here to answer. Decide it yourself, as you think best, and go on.";

/// Who answers.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// The user, at the terminal.
    Typing,
    /// This command, by itself.
    Itself,
    /// Nobody, without a terminal or for a program that reads JSON: the run waits for the user.
    Nobody,
}

/// Answers for the user.
pub(super) struct Replies {
    output: Output,
    by: By,
    /// The typed lines. Nothing is read before the first question: what is typed, or the end of the input, is left for whoever
    /// continues the run if this process is killed before.
    lines: Option<Lines>,
    /// How many replies were automatic.
    automatic: u32,
}

impl Replies {
    pub(super) fn new(automatic: bool, output: Output) -> Self {
        let by = match automatic {
            true => By::Itself,
            false if !output.json && output::is_interactive() => By::Typing,
            false => By::Nobody,
        };
        Self { output, by, lines: None, automatic: 0 }
    }

    /// Answers what `run` waits for. Returns whether it was answered.
    pub(super) async fn reply(&mut self, session: &OnSession<'_>, run: &api::Run) -> Result<bool, Failure> {
        match self.by {
            By::Typing => {}
            By::Itself => {
                self.automatic += 1;
                if self.automatic > MAX_AUTOMATIC_REPLIES {
                    self.output.note(format!("gave {MAX_AUTOMATIC_REPLIES} automatic answers; not answering any more"));
                    return Ok(false);
                }
            }
            By::Nobody => {
                self.output.note("the team asks the user, and nobody can answer here; --yes answers automatically");
                return Ok(false);
            }
        }
        let Some(name) = &run.form else {
            let Some(text) = self.line().await else { return Ok(false) };
            say(session, text).await?;
            return Ok(true);
        };
        let set = session.get(&["context-sets", name.as_str()]).answer::<api::ContextSet>().await?.it;
        let Some(form) = &set.form else { return Ok(false) };
        let Some(answers) = self.fill_in(&set, form).await else { return Ok(false) };
        session.post(&["forms", name.as_str()], &api::FormAnswers { answers }).done().await?;
        Ok(true)
    }

    async fn line(&mut self) -> Option<String> {
        if self.by == By::Itself {
            self.output.note("answering the question automatically");
            return Some(AUTOMATIC_REPLY.to_owned());
        }
        let lines = self.lines.get_or_insert_with(Lines::start);
        loop {
            self.output.ask("your answer: ");
            let line = lines.next().await?;
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }

    async fn fill_in(&mut self, set: &api::ContextSet, form: &api::Form) -> Option<Map<String, Value>> {
        if self.by == By::Itself {
            self.output.note(format!("answering the form {} automatically", set.name));
            return Some(
                form.fields.iter().filter_map(|field| Some((field.key.clone(), automatic_answer(field)?))).collect(),
            );
        }
        let lines = self.lines.get_or_insert_with(Lines::start);
        self.output.note(format!("\n{}: {}", set.name, set.content.as_deref().unwrap_or_default()));
        let mut answers = Map::new();
        for field in &form.fields {
            if let Some(description) = &field.description {
                self.output.note(format!("  {description}"));
            }
            loop {
                self.output.ask(&format!("  {} ({}): ", field.label, expected_input(field)));
                let line = lines.next().await?;
                if line.trim().is_empty() && !field.required {
                    break;
                }
                let value = value_of(field.value_type, line.trim());
                match field.check(&value) {
                    Ok(()) if !line.trim().is_empty() => {
                        answers.insert(field.key.clone(), value);
                        break;
                    }
                    Ok(()) => self.output.note("  an answer is required"),
                    Err(problem) => self.output.note(format!("  {problem}")),
                }
            }
        }
        Some(answers)
    }
}

/// The automatic answer to a field; `None` if none is required.
fn automatic_answer(field: &Field) -> Option<Value> {
    let first = field.enum_values.first();
    let chosen = match (field.value_type, first) {
        (ValueType::Enum | ValueType::EnumOrCustom, Some(first)) => return Some(Value::from(first.as_str())),
        (ValueType::Boolean, _) => Value::Bool(true),
        (ValueType::Number, _) => Value::from(1),
        (ValueType::Date, _) => Value::from("2025-01-01"),
        (ValueType::Array, _) => Value::from(vec![first.map_or("as you think best", String::as_str)]),
        (ValueType::File, _) => Value::from("(none)"),
        (ValueType::String | ValueType::Enum | ValueType::EnumOrCustom, _) => Value::from("As you think best."),
    };
    field.required.then_some(chosen)
}
