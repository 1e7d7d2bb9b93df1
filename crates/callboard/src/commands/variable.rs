//! `callboard var`.

use std::path::PathBuf;

use callboard_api as api;
use callboard_engine::core::{exact::check_exact, id::VariableName, variable::Origin};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::Context;
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, counted},
    terminal,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Variable {
    /// List the variables, each in one line
    #[command(after_help = "Example:\n  callboard var list --as director")]
    List(On),
    /// Print the value of a variable as JSON
    #[command(after_help = "Example:\n  callboard var get node7.emails")]
    Get {
        #[command(flatten)]
        on: On,
        /// The name of the variable
        name: VariableName,
        /// Show the secrets in it
        #[arg(long)]
        reveal: bool,
    },
    /// Set a variable
    #[command(
        aliases = ["put", "add", "update"],
        after_help = "Examples:\n  callboard var set test_email debug@test.com --reason \"test the login\"\n  callboard var set node4.loginRequired true\n  callboard var set zip_code 01234 --text\n  callboard var set node7.emails --file emails.json\n  callboard var set pin - --secret true --origin https://bank.example < pin.txt"
    )]
    Set(VariableSet),
    /// Clear a variable, or all of them
    #[command(
        after_help = "Examples:\n  callboard var clear node7.emails --reason \"extract them again\"\n  callboard var clear --all"
    )]
    Clear {
        #[command(flatten)]
        on: On,
        /// The name of the variable
        #[arg(required_unless_present = "all")]
        name: Option<VariableName>,
        /// Clear all variables
        #[arg(long, conflicts_with = "name")]
        all: bool,
        #[command(flatten)]
        reason: Reason,
    },
}

/// Set a variable
#[derive(Args, Debug)]
pub(crate) struct VariableSet {
    #[command(flatten)]
    pub(crate) on: On,
    /// The name of the variable
    pub(crate) name: VariableName,
    /// The value: JSON, or else a text; - for the standard input, without its final line break
    #[arg(required_unless_present = "file", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// A file with the value
    #[arg(long, value_name = "PATH", conflicts_with = "value")]
    pub(crate) file: Option<PathBuf>,
    /// Take the value as a text, even if it is JSON
    #[arg(long)]
    pub(crate) text: bool,
    /// Whether the value is a secret (default: as before, or by the names in it)
    #[arg(long, value_name = "BOOL")]
    pub(crate) secret: Option<bool>,
    /// An origin of pages into which the browser may type the secrets in it, for instance `https://accounts.example.com`; repeatable (default: as before)
    #[arg(long = "origin", value_name = "URL")]
    pub(crate) origins: Vec<Origin>,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// Why something is done.
#[derive(Args, Debug)]
pub(crate) struct Reason {
    /// Why, for the journal
    #[arg(long, value_name = "TEXT", default_value = "on the command line")]
    pub(crate) reason: String,
}

pub(super) async fn execute(context: &Context, command: Variable) -> Result<(), Failure> {
    match command {
        Variable::List(on) => context.get(&on, &["variables"]).await?.print(context.output, table).await,
        Variable::Get { on, name, reveal } => {
            let call = context.get(&on, &["variables", name.as_str()]).await?.maybe("reveal", reveal.then_some(true));
            let value = |variable: &api::VariableValue, output: Output| output.line(variable.value.get());
            call.print(context.output, value).await
        }
        Variable::Set(args) => set(context, args).await,
        Variable::Clear { on, name, all: _, reason } => {
            let path: Vec<_> = ["variables"].into_iter().chain(name.as_ref().map(VariableName::as_str)).collect();
            context.call(&on, Method::DELETE, &path).await?.query("reason", reason.reason).done().await?;
            let cleared = name.as_ref().map_or("all variables", VariableName::as_str);
            context.output.answer(&json!({"cleared": name}), |output| output.line(format!("cleared {cleared}")));
            Ok(())
        }
    }
}

async fn set(context: &Context, args: VariableSet) -> Result<(), Failure> {
    let VariableSet { on, name, value, file, text, secret, origins, reason } = args;
    let value = given_value(value, file, text)?.unwrap_or_default();
    let origins = (!origins.is_empty()).then_some(origins);
    let put = api::PutVariable { value, reason: reason.reason.into(), secret, origins };
    let call = context.call(&on, Method::PUT, &["variables", name.as_str()]).await?.json(&put);
    call.print(context.output, after).await
}

fn after(after: &api::VariableAfter, output: Output) {
    let api::VariableAfter { variable, rewritten, forks, searched } = after;
    output.line(format!("{} = {}", variable.name, variable.display));
    if let Some(rewritten) = rewritten.filter(|rewritten| *rewritten > 0) {
        output.note(format!("hidden in {} that said it before", counted(rewritten, "entry")));
    }
    if *searched == Some(false) {
        output.note("a value of fewer than six characters is not looked for in texts");
    }
    forks.iter().for_each(|id| output.note(format!("{id} still has it: it was forked or copied before")));
}

/// The value that is given, in a file or behind the command. One that is read is without its final line break.
pub(super) fn given_value(
    value: Option<String>,
    file: Option<PathBuf>,
    is_text: bool,
) -> Result<Option<Value>, Failure> {
    let given = match (value, file) {
        (_, Some(path)) => without_line_end(terminal::file(&path)?),
        (Some(value), None) if value == "-" => without_line_end(terminal::all()?),
        (Some(value), None) => value,
        (None, None) => return Ok(None),
    };
    read_value(given, is_text).map(Some)
}

/// A value: what is no JSON is a text.
pub(super) fn read_value(given: String, is_text: bool) -> Result<Value, Failure> {
    match serde_json::from_str(&given) {
        Ok(value) if !is_text => {
            check_exact(&given).map_err(|error| Failure::usage("invalid", error.to_string()).hint("use --text"))?;
            Ok(value)
        }
        Err(error) if !is_text && error.to_string().starts_with("recursion limit") => {
            Err(Failure::usage("invalid", "the value is nested too deep").hint("use at most 64 levels, or --text"))
        }
        _ => Ok(Value::String(given)),
    }
}

/// A text without the line end that programs write behind it.
fn without_line_end(text: String) -> String {
    let line = text.strip_suffix('\n').unwrap_or(&text);
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}

fn table(list: &api::VariableList, output: Output) {
    let row = |variable: &api::Variable| {
        vec![variable.name.to_string(), output.time(variable.updated_at), variable.display.to_string()]
    };
    output.list(&["VARIABLE", "UPDATED", "VALUE"], list.variables.iter().map(row), "variables");
}
