//! Answering what a team asks the user: at the terminal, or by itself where nobody is there.

use callboard_api as api;
use callboard_engine::core::form::{Field, ValueType};
use serde_json::{Map, Value};

use super::say;
use crate::{
    client::OnSession,
    commands::form::{value_of, wanted},
    failure::Failure,
    output::{self, Output},
    terminal::Lines,
};

/// How often a run is answered by itself. A team that asks on and on gets nowhere.
const ALONE_AT_MOST: u32 = 8;
/// What a question is answered with where nobody is there.
const ALONE: &str = "Nobody is here to answer. Decide it yourself, as you think best, and go on.";

/// Whoever answers for the user.
pub(super) struct Replies {
    output: Output,
    /// What is typed; `None` where nobody is there.
    lines: Option<Lines>,
    alone: u32,
}

impl Replies {
    pub(super) fn new(alone: bool, output: Output) -> Self {
        let somebody = !alone && !output.json && output::is_interactive();
        Self { output, lines: somebody.then(Lines::start), alone: 0 }
    }

    /// Answers what `run` waits for. Says whether it was answered.
    pub(super) async fn reply(&mut self, session: &OnSession<'_>, run: &api::Run) -> Result<bool, Failure> {
        if self.lines.is_none() {
            self.alone += 1;
            if self.alone > ALONE_AT_MOST {
                self.output.note(format!("the team has asked {ALONE_AT_MOST} times, and nobody is here to answer"));
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
        let Some(lines) = &mut self.lines else {
            self.output.note("the question is answered by itself, since nobody is here");
            return Some(ALONE.to_owned());
        };
        loop {
            self.output.ask("your answer: ");
            let line = lines.next().await?;
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }

    async fn fill_in(&mut self, set: &api::ContextSet, form: &api::Form) -> Option<Map<String, Value>> {
        let Some(lines) = &mut self.lines else {
            self.output.note(format!("the form {} is answered by itself, since nobody is here", set.name));
            return Some(form.fields.iter().filter_map(|field| Some((field.key.clone(), by_itself(field)?))).collect());
        };
        self.output.note(format!("\n{}: {}", set.name, set.content.as_deref().unwrap_or_default()));
        let mut answers = Map::new();
        for field in &form.fields {
            if let Some(description) = &field.description {
                self.output.note(format!("  {description}"));
            }
            loop {
                self.output.ask(&format!("  {} ({}): ", field.label, wanted(field)));
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

/// What a field is answered with where nobody is there; nothing where nothing is required.
fn by_itself(field: &Field) -> Option<Value> {
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
