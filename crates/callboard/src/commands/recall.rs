//! `callboard recall` and `callboard search`.

use std::process::ExitCode;

use callboard_api as api;
use callboard_engine::core::{
    conversation::Role,
    id::{AgentName, Seq, ThreadId},
    recall::Source,
};
use clap::Args;

use super::Context;
use crate::{
    cli::On,
    client::Answer,
    failure::Failure,
    output::{Output, Style, counted, indented, joined},
    parse,
};

/// Whose words are searched.
const ROLES: [(&str, &str); 3] = [("user", "The user's"), ("assistant", "An agent's"), ("any", "Anybody's")];

/// Find passages that answer a question, in everything that was ever said
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard recall \"When did Ana move to Lisbon?\"\n  callboard recall --as critic --thread main --limit 3 \"the second claim\" --json\n\nThe exit status is 1 when nothing is found."
)]
pub(crate) struct Recall {
    #[command(flatten)]
    pub(crate) on: On,
    /// The question
    #[arg(value_name = "QUESTION")]
    pub(crate) query: String,
    /// At most this many passages
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: usize,
    /// Search what this agent may see
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) whose: Option<AgentName>,
    /// Only what was said in this thread
    #[arg(short, long, value_name = "THREAD")]
    pub(crate) thread: Option<ThreadId>,
    /// Whose words to search (default: as the question suggests)
    #[arg(long, value_name = "ROLE", value_parser = parse::one_of::<api::RecallRole>(parse::explained(ROLES)))]
    pub(crate) role: Option<api::RecallRole>,
    #[arg(long, value_name = "SOURCES", value_delimiter = ',', help = sources_help())]
    pub(crate) sources: Vec<String>,
    /// As of this entry (default: as of now)
    #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
    pub(crate) at: Option<Seq>,
}

/// Find exact words and phrases, the newest first
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard search '\"the second claim\" from:critic'\n  callboard search 'bergamot in:main before:2025-03-01 type:message'\n\nAll words must be there. The exit status is 1 when nothing is found."
)]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) on: On,
    /// Words, "quoted phrases", and the filters from:NAME, in:THREAD, before:TIME, after:TIME, type:SOURCE
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    /// At most this many
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: usize,
}

fn sources_help() -> String {
    let own = Source::ALL.map(Source::as_str).join(", ");
    format!("Only from these sources, separated by commas: {own}, and those elsewhere that the server has")
}

pub(super) async fn recall(context: &Context, args: Recall) -> Result<ExitCode, Failure> {
    let on = args.on;
    let body = api::RecallBody {
        query: args.query,
        limit: Some(args.limit),
        agent: args.whose,
        thread: args.thread,
        role: args.role,
        sources: (!args.sources.is_empty()).then_some(args.sources),
        at: args.at,
    };
    let answer = context.post(&on, &["recall"], &body).await?.answer::<api::Recalled>().await?;
    Ok(show(context.output, &answer, true))
}

pub(super) async fn search(context: &Context, args: Search) -> Result<ExitCode, Failure> {
    let call = context.get(&args.on, &["search"]).await?;
    let call = call.query("q", args.words.join(" ")).query("limit", args.limit);
    let answer = call.answer::<api::Recalled>().await?;
    Ok(show(context.output, &answer, false))
}

/// Prints what was found, with its scores where they say how well it fits. The exit status is 1 where nothing was found.
fn show(output: Output, answer: &Answer<api::Recalled>, with_scores: bool) -> ExitCode {
    let api::Recalled { hits, behind, note, embedder, sources } = &answer.it;
    for api::AskedSource { name, error } in sources {
        if let Some(error) = error {
            output.note(format!("{name} gave nothing: {error}"));
        }
    }
    if let Some(why) = embedder.as_ref().and_then(|embedder| embedder.strip_prefix("unavailable: ")) {
        output.note(format!("only words count, not what they mean: {why}"));
    }
    if let Some(behind) = behind {
        let entries = counted(behind, "entry");
        output.note(format!("{entries} not searched yet: ask again in a moment"));
    }
    output.answer(&answer.json, |output| {
        hits.iter().for_each(|hit| match hit {
            api::FoundPassage::Here(hit) => line(hit, with_scores, output),
            api::FoundPassage::Elsewhere(hit) => foreign_line(hit, output),
        })
    });
    if !hits.is_empty() {
        return ExitCode::SUCCESS;
    }
    output.note("nothing was found");
    if let Some(note) = note {
        output.note(format!("hint: {note}"));
    }
    ExitCode::FAILURE
}

fn foreign_line(hit: &api::ForeignHit, output: Output) {
    let what = [Some(&hit.source), hit.title.as_ref(), hit.url.as_ref()];
    output.painted(Style::Name, joined(what.into_iter().flatten()));
    output.line(indented(&hit.text, "    "));
}

fn line(hit: &api::RecallHit, with_score: bool, output: Output) {
    let what = match (&hit.thread, &hit.name) {
        (Some(thread), _) => format!("{} in {thread}", who(hit)),
        (None, Some(name)) => format!("{} {name}", hit.source.as_str().replace('_', " ")),
        (None, None) => hit.source.as_str().replace('_', " "),
    };
    let score = if with_score { format!(", score {:.1}", hit.score) } else { String::new() };
    let place = output.paint(Style::Quiet, format!("{}, entry {}{score}", hit.timestamp, hit.seq));
    output.line(format!("{} ({place})", output.paint(Style::Name, what)));
    output.line(indented(&hit.text, "    "));
}

/// Who said it.
fn who(hit: &api::RecallHit) -> &str {
    hit.agent.as_ref().map_or_else(|| hit.role.map_or("user", Role::as_str), AgentName::as_str)
}
