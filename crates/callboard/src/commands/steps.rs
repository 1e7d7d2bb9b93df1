//! `callboard steps`.

use std::sync::Arc;

use callboard_api as api;
use callboard_engine::core::session::Ttl;
use http::Method;
use serde_json::json;

use super::Context;
use crate::{
    cli::{Steps, StepsSet},
    client::Answer,
    failure::Failure,
    output::Output,
};

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
