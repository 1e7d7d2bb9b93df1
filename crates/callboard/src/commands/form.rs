//! `callboard form`.

use callboard_api as api;
use callboard_engine::core::{
    context_set::form::{Field, ValueType},
    id::SetName,
};
use clap::Subcommand;
use serde_json::Value;

use super::Context;
use crate::{cli::On, failure::Failure, output::Output, parse};

#[derive(Debug, Subcommand)]
pub(crate) enum Form {
    /// List the forms
    #[command(after_help = "Example:\n  callboard form list")]
    List(On),
    /// Answer a form
    #[command(
        after_help = "Examples:\n  callboard form answer Audience who=beginners words=300\n  callboard form answer Topics 'topics=[\"a\", \"b\"]'"
    )]
    Answer {
        #[command(flatten)]
        on: On,
        /// The form
        name: SetName,
        /// The answers
        #[arg(value_name = "KEY=VALUE", value_parser = parse::pair)]
        answers: Vec<(String, String)>,
    },
}

pub(super) async fn execute(context: &Context, command: Form) -> Result<(), Failure> {
    match command {
        Form::List(on) => context.get(&on, &["forms"]).await?.print(context.output, list).await,
        Form::Answer { on, name, answers } => {
            let session = context.session_on(&on).await?;
            let forms = session.get(&["forms"]).answer::<api::FormList>().await?.it.forms;
            let form = forms.into_iter().find(|listed| listed.form.name == name);
            let fields = form.map(|listed| listed.form.fields).unwrap_or_default();
            let answer = |(key, text): (String, String)| {
                let field = fields.iter().find(|field| field.key == key);
                let value = value_of(field.map_or(ValueType::String, |field| field.value_type), &text);
                (key, value)
            };
            let answers = answers.into_iter().map(answer).collect();
            let call = session.post(&["forms", name.as_str()], &api::FormAnswers { answers });
            let content =
                |set: &api::ContextSet, output: Output| output.line(set.content.as_deref().unwrap_or_default());
            call.print(context.output, content).await
        }
    }
}

fn list(list: &api::FormList, output: Output) {
    list.forms.iter().for_each(|form| show(form, output));
    if list.forms.is_empty() {
        output.note("there are no forms");
    }
}

/// Parses typed text as the field's type. Text that does not parse is sent as it is: the form's check then says what is
/// expected.
pub(super) fn value_of(value_type: ValueType, text: &str) -> Value {
    let parsed = || serde_json::from_str(text.trim()).ok();
    match value_type {
        ValueType::Number => parsed().filter(Value::is_number),
        ValueType::Boolean => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "y" => Some(Value::Bool(true)),
            "false" | "no" | "n" => Some(Value::Bool(false)),
            _ => None,
        },
        ValueType::Array => parsed().filter(Value::is_array).or_else(|| {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Some(parts.map(Value::from).collect())
        }),
        ValueType::String | ValueType::Date | ValueType::Enum | ValueType::EnumOrCustom | ValueType::File => None,
    }
    .unwrap_or_else(|| Value::from(text))
}

/// The input that a field expects, for people.
pub(super) fn expected_input(field: &Field) -> String {
    let kind = match field.value_type {
        ValueType::String => "text".to_owned(),
        ValueType::Number => "number".to_owned(),
        ValueType::Boolean => "yes or no".to_owned(),
        ValueType::Date => "date, YYYY-MM-DD".to_owned(),
        ValueType::Enum => field.enum_values.join(" | "),
        ValueType::EnumOrCustom => format!("{} | other", field.enum_values.join(" | ")),
        ValueType::Array => "list, separated by commas".to_owned(),
        ValueType::File => "path of a file".to_owned(),
    };
    if field.required { kind } else { format!("{kind}; optional") }
}

fn show(listed: &api::ListedForm, output: Output) {
    let api::ListedForm { form, request } = listed;
    output.line(format!("{} ({})", form.name, if form.answered { "answered" } else { "open" }));
    request.iter().flat_map(|request| request.lines()).for_each(|line| output.line(format!("    {line}")));
    for field in form.fields.iter().filter(|_| !form.answered) {
        output.line(format!("  {}  {} ({})", field.key, field.label, expected_input(field)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_typed_becomes_what_the_field_asks_for() {
        assert_eq!(value_of(ValueType::Number, " 42 "), json!(42));
        assert_eq!(value_of(ValueType::Number, "many"), json!("many"));
        assert_eq!(value_of(ValueType::Boolean, "Yes"), json!(true));
        assert_eq!(value_of(ValueType::Array, "a, b"), json!(["a", "b"]));
        assert_eq!(value_of(ValueType::Array, "[1, \"b\"]"), json!([1, "b"]));
        assert_eq!(value_of(ValueType::String, "7"), json!("7"));
    }
}
