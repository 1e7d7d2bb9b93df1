//! `callboard directive`.

use std::{path::PathBuf, process::ExitCode};

use callboard_engine::core::{context_set::Outcome, directive::Directed, json::in_words};
use clap::Args;
use serde_json::{Value, json};

use super::{Context, set};
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, Style},
    terminal,
};

/// Apply a manager's directive and print the result
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard directive directive.json\n  echo 'Context update: Tone\nfriendly' | callboard directive -\n  callboard directive --schema\n\nWhere a context set is rejected or in conflict, it does the rest, and ends with status 1."
)]
pub(crate) struct Directive {
    #[command(flatten)]
    pub(crate) on: On,
    /// A file with the directive, as JSON or text, or - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Print the JSON Schema of this team's directives
    #[arg(long, conflicts_with = "file")]
    pub(crate) schema: bool,
}

pub(super) async fn directive(context: &Context, args: Directive) -> Result<ExitCode, Failure> {
    let session = context.session_on(&args.on).await?;
    let Some(path) = args.file else {
        let people = |schema: &Value, output: Output| output.line(format!("{schema:#}"));
        session.get(&["directives", "schema"]).print(context.output, people).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let directed = session.post(&["directives"], &read(terminal::text_in(&path)?)?).answer::<Directed>().await?;
    directed.print(context.output, show);
    let is_refused = |outcome| matches!(outcome, Outcome::Conflict | Outcome::Rejected);
    let is_whole = !directed.it.outcomes.iter().any(|set| is_refused(set.outcome));
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A text that begins with `{` has to be JSON; anything else is in the fallback's text grammar.
fn read(text: String) -> Result<Value, Failure> {
    if !text.trim_start().starts_with('{') {
        return Ok(json!({ "text": text }));
    }
    serde_json::from_str(&text).map_err(|error| {
        Failure::failed("invalid", format!("the directive is not JSON: {}", in_words(&error.to_string())))
            .hint("`callboard directive --schema` prints its JSON Schema")
    })
}

fn show(directed: &Directed, output: Output) {
    for outcome in &directed.outcomes {
        let reason = outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        output.line(format!("{}{reason}", set::outcome_line(outcome.outcome, &outcome.name)));
    }
    if let Some(form) = &directed.form {
        let name = form.name.as_deref().unwrap_or_default();
        output.line(format!("the user is asked with the form {name}: answer it with `callboard form answer`"));
    }
    for line in &directed.unparsed {
        output.line(format!("{} {line}", output.paint(Style::Bad, "not understood:")));
    }
    if directed.outcomes.is_empty() && directed.form.is_none() && directed.unparsed.is_empty() {
        output.line("accepted; no context set changed");
    }
}
