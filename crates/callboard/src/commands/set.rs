//! `callboard set`.

use std::{path::PathBuf, sync::Arc};

use callboard_api as api;
use callboard_engine::core::{audience::Audience, context_set::Outcome, id::SetName};
use clap::{Args, Subcommand};
use http::Method;

use super::Context;
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, counted},
    parse, terminal,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// List the context sets
    #[command(after_help = "Example:\n  callboard set list --as critic")]
    List(On),
    /// Show a context set
    #[command(after_help = "Example:\n  callboard set show Article")]
    Show(NamedSet),
    /// Create or change a context set
    #[command(
        aliases = ["set", "add", "update"],
        after_help = "Examples:\n  callboard set put Tone \"friendly, short\" --visible-to writer,editor\n  callboard set put Article --file article.md\n  git diff | callboard set put Diff -"
    )]
    Put(SetPut),
    /// Delete a context set
    #[command(after_help = "Example:\n  callboard set delete Tone")]
    Delete(NamedSet),
}

/// The set that a command is about.
#[derive(Args, Debug)]
pub(crate) struct NamedSet {
    #[command(flatten)]
    pub(crate) on: On,
    /// The name of the set
    pub(crate) name: SetName,
}

/// Create or change a context set
#[derive(Args, Debug)]
pub(crate) struct SetPut {
    #[command(flatten)]
    pub(crate) set: NamedSet,
    /// The content, or - for the standard input (default: unchanged)
    pub(crate) content: Option<String>,
    /// A file with the content
    #[arg(long, value_name = "PATH", conflicts_with = "content")]
    pub(crate) file: Option<PathBuf>,
    /// Who sees it: all, none, or names separated by commas
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
    /// Whether prompts contain it
    #[arg(long, value_name = "BOOL")]
    pub(crate) enabled: Option<bool>,
}

pub(super) async fn execute(context: &Context, command: Set) -> Result<(), Failure> {
    let output = context.output;
    match command {
        Set::List(on) => context.get(&on, &["context-sets"]).await?.print(output, table).await,
        Set::Show(NamedSet { on, name }) => {
            context.get(&on, &["context-sets", name.as_str()]).await?.print(output, show).await
        }
        Set::Put(args) => put(context, args).await,
        Set::Delete(NamedSet { on, name }) => {
            context.call(&on, Method::DELETE, &["context-sets", name.as_str()]).await?.done().await?;
            output.done("deleted", &name);
            Ok(())
        }
    }
}

async fn put(context: &Context, args: SetPut) -> Result<(), Failure> {
    let NamedSet { on, name } = args.set;
    let session = context.session_on(&on).await?;
    let path = ["context-sets", name.as_str()];
    let content: Option<Arc<str>> = match (&args.content, &args.file) {
        (Some(content), _) => Some(terminal::text(content)?.into()),
        (None, Some(path)) => Some(terminal::file(path)?.into()),
        (None, None) => match session.get(&path).answer::<api::ContextSet>().await {
            Ok(set) => set.it.content,
            Err(failure) if is_no_set(&failure) => None,
            Err(failure) => return Err(failure),
        },
    };
    let content = content.ok_or_else(|| {
        Failure::usage("invalid", format!("there is no context set {name}: a new one needs content"))
            .hint("give a text, - for the standard input, or --file PATH")
    })?;
    let put = api::PutContextSet { content, visible_to: args.visible_to, enabled: args.enabled };
    let call = session.call(Method::PUT, &path).json(&put);
    let people = |api::PutContextSetAnswer { set, outcome }: &api::PutContextSetAnswer, output: Output| {
        let done = outcome.map_or_else(|| set.name.to_string(), |outcome| outcome_line(outcome, set.name.as_str()));
        output.line(format!("{done}: {}", summary(set)));
    };
    call.print(context.output, people).await
}

/// Whether the failure says that the set does not exist; the session does.
fn is_no_set(failure: &Failure) -> bool {
    failure.problem.resource.as_deref() == Some("context_set")
}

/// The outcome of an update of a set, for people.
pub(super) fn outcome_line(outcome: Outcome, name: &str) -> String {
    let verb = match outcome {
        Outcome::Created => "created",
        Outcome::Updated => "updated",
        Outcome::Unchanged => return format!("{name} is unchanged"),
        Outcome::Deleted => "deleted",
        Outcome::CreatedEmpty => return format!("created {name} without content"),
        Outcome::Conflict => "conflict with",
        Outcome::Rejected => "rejected",
    };
    format!("{verb} {name}")
}

fn table(list: &api::ContextSetList, output: Output) {
    let row = |set: &api::ContextSet| {
        let form = set.form.as_ref().map(|form| if form.answered { "form, answered" } else { "form, open" });
        let off = (!set.enabled).then_some("disabled");
        let notes = form.into_iter().chain(off).collect::<Vec<_>>().join(", ");
        vec![set.name.to_string(), set.tokens.to_string(), set.visible_to.to_string(), notes]
    };
    output.list(&["SET", "TOKENS", "VISIBLE TO", ""], list.context_sets.iter().map(row), "context sets");
}

fn show(set: &api::ContextSet, output: Output) {
    output.note(format!("{}: {}", set.name, summary(set)));
    match &set.content {
        Some(content) => output.line(&**content),
        None => output.note("the content is hidden from this agent"),
    }
}

fn summary(set: &api::ContextSet) -> String {
    let off = if set.enabled { "" } else { ", disabled" };
    format!("{}, visible to {}{off}", counted(set.tokens, "token"), set.visible_to)
}
