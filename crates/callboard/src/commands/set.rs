//! `callboard set`.

use std::sync::Arc;

use callboard_engine::{
    SetInfo,
    core::{
        command::{Answer, Command},
        context_set::{Outcome, PutSet},
        viewer::Viewer,
    },
};
use serde_json::{Value, json};

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
            let sets = context.session(&which).await?.sets(&eyes.viewer()).await?;
            context.output.answer(&json!({"context_sets": sets}), |output| table(&sets, output));
        }
        Set::Show { which, eyes, name } => {
            let set = context.session(&which).await?.set(&eyes.viewer(), &name).await?;
            context.output.answer(&set, |output| show(&set, output));
        }
        Set::Put(args) => put(context, args).await?,
        Set::Delete { which, eyes, name } => {
            let session = context.session(&which).await?;
            session.execute(eyes.viewer(), Command::DeleteSet(name.clone())).await?;
            context.output.answer(&json!({"deleted": name}), |output| output.line(format!("{name} is deleted")));
        }
    }
    Ok(())
}

async fn put(context: &Context, args: SetPut) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let viewer = args.eyes.viewer();
    let content: Option<Arc<str>> = match (&args.content, &args.file) {
        (Some(content), _) => Some(terminal::text(content)?.into()),
        (None, Some(path)) => Some(terminal::file(path)?.into()),
        (None, None) => session.set(&viewer, &args.name).await.ok().and_then(|set| set.content),
    };
    let content = content.ok_or_else(|| {
        Failure::usage("invalid", format!("there is no context set {}, so say its content", args.name))
            .hint("give a text, - for the standard input, or --file PATH")
    })?;
    let put = PutSet { name: args.name.clone(), content, visible_to: args.visible_to, enabled: args.enabled };
    let receipt = session.execute(viewer.clone(), Command::PutSet(put)).await?;
    let outcome = match receipt.answer {
        Answer::Directed(directed) => directed.outcomes.into_iter().next().map(|set| set.outcome),
        _ => None,
    };
    // Whoever hid it from itself no longer sees it.
    let set = session.set(&viewer, &args.name).await.ok();
    let set = match set {
        Some(set) => set,
        None => session.set(&Viewer::User, &args.name).await?,
    };
    let mut answer = json!(set);
    if let (Value::Object(fields), Some(outcome)) = (&mut answer, outcome) {
        fields.insert("outcome".to_owned(), json!(outcome));
    }
    context.output.answer(&answer, |output| {
        output.line(format!("{} is {}: {}", set.name, outcome.map_or("there", word), summary(&set)));
    });
    Ok(())
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

fn table(sets: &[SetInfo], output: Output) {
    let row = |set: &SetInfo| {
        let form = set.form.as_ref().map(|form| if form.answered { "form, answered" } else { "form, open" });
        let off = (!set.enabled).then_some("switched off");
        let notes = form.into_iter().chain(off).collect::<Vec<_>>().join(", ");
        vec![set.name.to_string(), set.tokens.to_string(), set.visible_to.to_string(), notes]
    };
    output.table(&["SET", "TOKENS", "VISIBLE TO", ""], &sets.iter().map(row).collect::<Vec<_>>());
}

fn show(set: &SetInfo, output: Output) {
    output.note(format!("{}: {}", set.name, summary(set)));
    match &set.content {
        Some(content) => output.line(&**content),
        None => output.note("its content is hidden from this agent"),
    }
}

fn summary(set: &SetInfo) -> String {
    let off = if set.enabled { "" } else { ", switched off" };
    format!("{} tokens, visible to {}{off}", set.tokens, set.visible_to)
}
