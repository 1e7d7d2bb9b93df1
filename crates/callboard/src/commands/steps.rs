//! `callboard steps`.

use std::sync::Arc;

use callboard_api as api;
use callboard_engine::core::{id::StepName, session::Ttl};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::Context;
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, counted},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Steps {
    /// Show the team's current step and progress
    #[command(after_help = "Example:\n  callboard steps show")]
    Show(On),
    /// Record the use of a tool, which advances the sequence and may change the step
    #[command(after_help = "Example:\n  callboard steps use look_up")]
    Use {
        #[command(flatten)]
        on: On,
        /// The tool
        tool: String,
    },
    /// Skip the next tool of the sequence
    #[command(after_help = "Example:\n  callboard steps advance")]
    Advance(On),
    /// Set the team's step or its progress in it
    #[command(
        after_help = "Examples:\n  callboard steps set --step draft\n  callboard steps set --default --index 1 --ttl never"
    )]
    Set(StepsSet),
    /// Reset to the default step, with no tools used and no tokens counted
    #[command(after_help = "Example:\n  callboard steps reset")]
    Reset(On),
    /// Add the tokens that a model used
    #[command(after_help = "Example:\n  callboard steps usage --prompt 1200 --completion 300")]
    Usage {
        #[command(flatten)]
        on: On,
        /// The tokens of the prompt
        #[arg(long, value_name = "TOKENS", required_unless_present = "completion", value_parser = crate::parse::number, allow_negative_numbers = true)]
        prompt: Option<u64>,
        /// The tokens of the answer
        #[arg(long, value_name = "TOKENS", value_parser = crate::parse::number, allow_negative_numbers = true)]
        completion: Option<u64>,
    },
    /// Check which of these tools may be used now
    #[command(after_help = "Example:\n  callboard steps allowed look_up note publish")]
    Allowed {
        #[command(flatten)]
        on: On,
        /// The tools
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
}

/// Set the team's step or its progress in it
#[derive(Args, Debug)]
#[group(id = "position", required = true, multiple = true, args = ["step", "default", "index", "ttl"])]
pub(crate) struct StepsSet {
    #[command(flatten)]
    pub(crate) on: On,
    /// The step to enter; its sequence starts from the beginning
    #[arg(long, value_name = "NAME", conflicts_with = "default")]
    pub(crate) step: Option<StepName>,
    /// Enter the default step
    #[arg(long)]
    pub(crate) default: bool,
    /// The number of tools already used in the step's sequence
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<usize>,
    /// How long the session lives without being used: 90d, 36h, 15m, seconds, or never
    #[arg(long, value_name = "TIME")]
    pub(crate) ttl: Option<Ttl>,
}

/// The path below a session.
const STATE: &str = "orchestration";

pub(super) async fn execute(context: &Context, command: Steps) -> Result<(), Failure> {
    let call = match command {
        Steps::Show(on) => context.get(&on, &[STATE]).await?,
        Steps::Use { on, tool } => context.post(&on, &[STATE, "tools"], &api::UsedTool { tool: tool.into() }).await?,
        Steps::Advance(on) => context.post(&on, &[STATE, "advance"], &json!({})).await?,
        Steps::Set(StepsSet { on, step, default, index, ttl }) => {
            let active_step = step.map(Some).or(default.then_some(None));
            let position = api::OrchestrationPatch { active_step, sequence_index: index, ttl_seconds: ttl };
            context.call(&on, Method::PATCH, &[STATE]).await?.json(&position)
        }
        Steps::Reset(on) => context.post(&on, &[STATE, "reset"], &json!({})).await?,
        Steps::Usage { on, prompt, completion } => {
            let (prompt_tokens, completion_tokens) = (prompt.unwrap_or_default(), completion.unwrap_or_default());
            let used = api::ReportedUsage { prompt_tokens, completion_tokens };
            context.post(&on, &[STATE, "usage"], &used).await?
        }
        Steps::Allowed { on, tools } => {
            let call = context.post(&on, &[STATE, "allowed-tools"], &api::Tools { tools }).await?;
            return call.print(context.output, table).await;
        }
    };
    call.print(context.output, show).await
}

/// How many recently used tools are shown to people.
const SHOWN: usize = 10;

fn show(state: &api::Orchestration, output: Output) {
    let step = state.active_step.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    output.line(format!("step       {step}"));
    output.line(format!("sequence   {} done", counted(state.sequence_index, "tool")));
    output.line(format!("used       {}", used(&state.recently_used_tools)));
    if let Some(usage) = &state.cumulative_token_usage {
        let (read, wrote, all) = (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens);
        output.line(format!("tokens     {all}: {read} read, {wrote} written"));
    }
    output.line(format!("last used  {}", state.last_accessed));
    let expires = match state.ttl_seconds {
        ttl @ Ttl::Seconds(_) => format!("{ttl} after its last use"),
        Ttl::Never => "never".to_owned(),
    };
    output.line(format!("expires    {expires}"));
}

fn used(tools: &[Arc<str>]) -> String {
    let shown = tools.get(tools.len().saturating_sub(SHOWN)..).unwrap_or_default();
    match (shown.is_empty(), tools.len() - shown.len()) {
        (true, _) => "no tool yet".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{more} more, then {}", shown.join(", ")),
    }
}

fn table(offer: &api::Offer, output: Output) {
    let allowed = offer.allowed.iter().map(|tool| vec![tool.clone(), "yes".to_owned(), String::new()]);
    let denied = offer.denied.iter().map(|denied| vec![denied.tool.clone(), "no".to_owned(), denied.reason.clone()]);
    output.table(&["TOOL", "ALLOWED", ""], allowed.chain(denied));
}
