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
    List {
        #[command(flatten)]
        on: On,
    },
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
        Variable::List { on } => {
            let session = context.session_on(&on).await?;
            let list = session.get(&["variables"]).answer::<api::VariableList>().await?;
            context.output.answer(&list.json, |output| table(&list.it.variables, output));
        }
        Variable::Get { on, name, reveal } => {
            let session = context.session_on(&on).await?;
            let call = session.get(&["variables", name.as_str()]);
            let call = if reveal { call.query("reveal", true) } else { call };
            let variable = call.answer::<api::VariableValue>().await?;
            context.output.answer(&variable.json, |output| output.line(variable.it.value.get()));
        }
        Variable::Set(args) => set(context, args).await?,
        Variable::Clear { on, name, all: _, reason } => {
            let session = context.session_on(&on).await?;
            let path: Vec<_> = ["variables"].into_iter().chain(name.as_ref().map(VariableName::as_str)).collect();
            session.call(Method::DELETE, &path).query("reason", reason.reason).done().await?;
            let cleared = name.as_ref().map_or("all variables", VariableName::as_str);
            context.output.answer(&json!({"cleared": name}), |output| output.line(format!("cleared {cleared}")));
        }
    }
    Ok(())
}

async fn set(context: &Context, args: VariableSet) -> Result<(), Failure> {
    let VariableSet { on, name, value, file, text, secret, origins, reason } = args;
    let value = match (value, file) {
        (_, Some(path)) => read_value(without_line_end(terminal::file(&path)?), text)?,
        (Some(value), None) if value != "-" => read_value(value, text)?,
        _ => read_value(without_line_end(terminal::all()?), text)?,
    };
    let session = context.session_on(&on).await?;
    let origins = (!origins.is_empty()).then_some(origins);
    let put = api::PutVariable { value, reason: reason.reason.into(), secret, origins };
    let call = session.call(Method::PUT, &["variables", name.as_str()]).json(&put);
    let variable = call.answer::<api::VariableAfter>().await?;
    context.output.answer(&variable.json, |output| {
        let api::VariableAfter { variable, rewritten, forks, searched } = &variable.it;
        output.line(format!("{} = {}", variable.name, variable.display));
        if let Some(rewritten) = rewritten.filter(|rewritten| *rewritten > 0) {
            output.note(format!("hidden in {} that said it before", counted(rewritten, "entry")));
        }
        if *searched == Some(false) {
            output.note("a value of fewer than six characters is not looked for in texts");
        }
        forks.iter().for_each(|id| output.note(format!("{id} still has it: it was forked or copied before")));
    });
    Ok(())
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
pub(super) fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    if text.ends_with('\r') {
        text.pop();
    }
    text
}

fn table(variables: &[api::Variable], output: Output) {
    let row = |variable: &api::Variable| {
        vec![variable.name.to_string(), output.time(variable.updated_at), variable.display.to_string()]
    };
    output.list(&["VARIABLE", "UPDATED", "VALUE"], &variables.iter().map(row).collect::<Vec<_>>(), "variables");
}
