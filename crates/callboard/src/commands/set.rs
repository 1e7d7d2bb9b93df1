//! `callboard set`.

use std::sync::Arc;

use callboard_api as api;
use callboard_engine::core::context_set::Outcome;
use http::Method;
use serde_json::json;

use super::Context;
use crate::{
    cli::{Set, SetPut},
    failure::Failure,
    output::Output,
    terminal,
};

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
