//! `callboard steps`.

use std::sync::Arc;

use callboard_api as api;
use callboard_engine::core::{id::StepName, session::Ttl};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::Context;
use crate::{
    cli::{Eyes, Which},
    client::Answer,
    failure::Failure,
    output::Output,
    parse,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Steps {
    /// Show where the team is among its steps
    #[command(after_help = "Example:\n  callboard steps show")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Note that a tool was used: it advances the sequence, and may lead to another step
    #[command(after_help = "Example:\n  callboard steps use look_up")]
    Use {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        tool: String,
    },
    /// Go on in the sequence without using the tool that is due
    #[command(after_help = "Example:\n  callboard steps advance")]
    Advance {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Set where the team is among its steps
    #[command(
        after_help = "Examples:\n  callboard steps set --step draft\n  callboard steps set --default --index 1 --ttl never"
    )]
    Set(StepsSet),
    /// Begin anew: nothing used, nothing counted, in the default step
    #[command(after_help = "Example:\n  callboard steps reset")]
    Reset {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Add what a model used
    #[command(after_help = "Example:\n  callboard steps usage --prompt 1200 --completion 300")]
    Usage {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// How many tokens it read
        #[arg(long, value_name = "TOKENS", required_unless_present = "completion")]
        prompt: Option<u64>,
        /// How many tokens it wrote
        #[arg(long, value_name = "TOKENS")]
        completion: Option<u64>,
    },
    /// Say which of some tools may be used now
    #[command(after_help = "Example:\n  callboard steps allowed look_up note publish")]
    Allowed {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Their names
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
}

/// Set where the team is among its steps
#[derive(Args, Debug)]
#[group(id = "place", required = true, multiple = true, args = ["step", "default", "index", "ttl"])]
pub(crate) struct StepsSet {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// The step that is to be active; entering it starts its sequence
    #[arg(long, value_name = "NAME", conflicts_with = "default")]
    pub(crate) step: Option<StepName>,
    /// The default step is to be active
    #[arg(long)]
    pub(crate) default: bool,
    /// How many tools of the step's sequence were used
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<usize>,
    /// The seconds without use after which the session expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
}

/// Where all of it is, below a session.
const STATE: &str = "orchestration";

pub(super) async fn execute(context: &Context, command: Steps) -> Result<(), Failure> {
    let state = match command {
        Steps::Show { which, eyes } => context.session(&which).await?.get(&[STATE]).eyes(&eyes).answer().await?,
        Steps::Use { which, eyes, tool } => {
            let session = context.session(&which).await?;
            session.post(&[STATE, "tools"], &api::UsedTool { tool: tool.into() }).eyes(&eyes).answer().await?
        }
        Steps::Advance { which, eyes } => {
            let session = context.session(&which).await?;
            session.post(&[STATE, "advance"], &json!({})).eyes(&eyes).answer().await?
        }
        Steps::Set(args) => set(context, args).await?,
        Steps::Reset { which, eyes } => {
            let session = context.session(&which).await?;
            session.post(&[STATE, "reset"], &json!({})).eyes(&eyes).answer().await?
        }
        Steps::Usage { which, eyes, prompt, completion } => {
            let session = context.session(&which).await?;
            let (prompt_tokens, completion_tokens) = (prompt.unwrap_or_default(), completion.unwrap_or_default());
            let used = api::ReportedUsage { prompt_tokens, completion_tokens };
            session.post(&[STATE, "usage"], &used).eyes(&eyes).answer().await?
        }
        Steps::Allowed { which, eyes, tools } => {
            let session = context.session(&which).await?;
            let call = session.post(&[STATE, "allowed-tools"], &api::Tools { tools }).eyes(&eyes);
            let offer = call.answer::<api::Offer>().await?;
            context.output.answer(&offer.json, |output| table(&offer.it, output));
            return Ok(());
        }
    };
    print(&state, context.output);
    Ok(())
}

async fn set(context: &Context, args: StepsSet) -> Result<Answer<api::Orchestration>, Failure> {
    let session = context.session(&args.which).await?;
    let active_step = args.step.map(Some).or(args.default.then_some(None));
    let place = api::OrchestrationPatch { active_step, sequence_index: args.index, ttl_seconds: args.ttl };
    session.call(Method::PATCH, &[STATE]).json(&place).eyes(&args.eyes).answer().await
}

/// How many of the tools that were used are shown to people.
const SHOWN: usize = 10;

fn print(state: &Answer<api::Orchestration>, output: Output) {
    let Answer { json, it } = state;
    output.answer(json, |output| {
        let step = it.active_step.as_ref().map_or_else(|| "none is active".to_owned(), ToString::to_string);
        output.line(format!("step       {step}"));
        output.line(format!("sequence   {} done", counted(it.sequence_index, "tool")));
        output.line(format!("used       {}", used(&it.recently_used_tools)));
        if let Some(usage) = &it.cumulative_token_usage {
            let (read, wrote, all) = (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens);
            output.line(format!("tokens     {all}: {read} read, {wrote} written"));
        }
        output.line(format!("last used  {}", it.last_accessed));
        let expires = match it.ttl_seconds {
            Ttl::Seconds(seconds) => format!("{seconds} s after its last use"),
            Ttl::Never => "never".to_owned(),
        };
        output.line(format!("expires    {expires}"));
    });
}

fn used(tools: &[Arc<str>]) -> String {
    let shown = tools.get(tools.len().saturating_sub(SHOWN)..).unwrap_or_default();
    match (shown.is_empty(), tools.len() - shown.len()) {
        (true, _) => "no tool yet".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{more} more, then {}", shown.join(", ")),
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn table(offer: &api::Offer, output: Output) {
    let allowed = offer.allowed.iter().map(|tool| vec![tool.clone(), "yes".to_owned(), String::new()]);
    let denied = offer.denied.iter().map(|denied| vec![denied.tool.clone(), "no".to_owned(), denied.reason.clone()]);
    output.table(&["TOOL", "ALLOWED", ""], &allowed.chain(denied).collect::<Vec<_>>());
}
