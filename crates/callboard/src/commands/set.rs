//! `callboard set`.

use std::{path::PathBuf, sync::Arc};

use callboard_api as api;
use callboard_engine::core::{audience::Audience, context_set::Outcome, id::SetName};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::Context;
use crate::{
    cli::{Eyes, Which},
    failure::Failure,
    output::Output,
    parse, terminal,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// List the context sets
    #[command(after_help = "Example:\n  callboard set list --as critic")]
    List {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Show a context set
    #[command(after_help = "Example:\n  callboard set show Article")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
    /// Create or change a context set
    #[command(
        after_help = "Examples:\n  callboard set put Tone \"friendly, short\" --visible-to writer,editor\n  callboard set put Article --file article.md\n  git diff | callboard set put Diff -"
    )]
    Put(SetPut),
    /// Delete a context set
    #[command(after_help = "Example:\n  callboard set delete Tone")]
    Delete {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: SetName,
    },
}

/// Create or change a context set
#[derive(Args, Debug)]
pub(crate) struct SetPut {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// Its name
    pub(crate) name: SetName,
    /// What it says, or - for the standard input; as before, where it is left out
    pub(crate) content: Option<String>,
    /// A file that says it
    #[arg(long, value_name = "PATH", conflicts_with = "content")]
    pub(crate) file: Option<PathBuf>,
    /// Who sees it: all, none, or names with commas between them
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
    /// Whether it stands in prompts
    #[arg(long, value_name = "BOOL")]
    pub(crate) enabled: Option<bool>,
}

pub(super) async fn execute(context: &Context, command: Set) -> Result<(), Failure> {
    match command {
        Set::List { which, eyes } => {
            let session = context.session(&which).await?;
            let sets = session.get(&["context-sets"]).eyes(&eyes).answer::<api::ContextSetList>().await?;
            context.output.answer(&sets.json, |output| table(&sets.it.context_sets, output));
        }
        Set::Show { which, eyes, name } => {
            let session = context.session(&which).await?;
            let set = session.get(&["context-sets", name.as_str()]).eyes(&eyes).answer::<api::ContextSet>().await?;
            context.output.answer(&set.json, |output| show(&set.it, output));
        }
        Set::Put(args) => put(context, args).await?,
        Set::Delete { which, eyes, name } => {
            let session = context.session(&which).await?;
            session.call(Method::DELETE, &["context-sets", name.as_str()]).eyes(&eyes).done().await?;
            context.output.answer(&json!({"deleted": name}), |output| output.line(format!("{name} is deleted")));
        }
    }
    Ok(())
}

async fn put(context: &Context, args: SetPut) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let path = ["context-sets", args.name.as_str()];
    let content: Option<Arc<str>> = match (&args.content, &args.file) {
        (Some(content), _) => Some(terminal::text(content)?.into()),
        (None, Some(path)) => Some(terminal::file(path)?.into()),
        (None, None) => match session.get(&path).eyes(&args.eyes).answer::<api::ContextSet>().await {
            Ok(set) => set.it.content,
            Err(failure) if is_no_set(&failure) => None,
            Err(failure) => return Err(failure),
        },
    };
    let content = content.ok_or_else(|| {
        Failure::usage("invalid", format!("there is no context set {}, so say its content", args.name))
            .hint("give a text, - for the standard input, or --file PATH")
    })?;
    let put = api::PutContextSet { content, visible_to: args.visible_to, enabled: args.enabled };
    let put = session.call(Method::PUT, &path).json(&put).eyes(&args.eyes).answer::<api::PutContextSetAnswer>().await?;
    context.output.answer(&put.json, |output| {
        let api::PutContextSetAnswer { set, outcome } = &put.it;
        output.line(format!("{} is {}: {}", set.name, outcome.map_or("there", word), summary(set)));
    });
    Ok(())
}

/// Whether a session is there, and has no such set.
fn is_no_set(failure: &Failure) -> bool {
    failure.problem.status == Some(404) && failure.problem.detail.starts_with("there is no context set ")
}

/// How an update of a set came out, for people.
pub(super) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Created => "created",
        Outcome::Updated => "updated",
        Outcome::Unchanged => "unchanged",
        Outcome::Deleted => "deleted",
        Outcome::CreatedEmpty => "created empty",
        Outcome::Conflict => "in conflict",
        Outcome::Rejected => "rejected",
    }
}

fn table(sets: &[api::ContextSet], output: Output) {
    let row = |set: &api::ContextSet| {
        let form = set.form.as_ref().map(|form| if form.answered { "form, answered" } else { "form, open" });
        let off = (!set.enabled).then_some("switched off");
        let notes = form.into_iter().chain(off).collect::<Vec<_>>().join(", ");
        vec![set.name.to_string(), set.tokens.to_string(), set.visible_to.to_string(), notes]
    };
    output.table(&["SET", "TOKENS", "VISIBLE TO", ""], &sets.iter().map(row).collect::<Vec<_>>());
}

fn show(set: &api::ContextSet, output: Output) {
    output.note(format!("{}: {}", set.name, summary(set)));
    match &set.content {
        Some(content) => output.line(&**content),
        None => output.note("its content is hidden from this agent"),
    }
}

fn summary(set: &api::ContextSet) -> String {
    let off = if set.enabled { "" } else { ", switched off" };
    format!("{} tokens, visible to {}{off}", set.tokens, set.visible_to)
}
