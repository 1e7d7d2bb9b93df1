//! `callboard why`.

use std::process::ExitCode;

use callboard_api as api;
use clap::Args;

use super::Context;
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, Style, indented, joined},
};

/// Trace a text: who wrote it, which agents were shown it, and what replaced it
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard why \"for sailors\"\n  callboard why --as critic \"the second claim\" --json\n\nThe exit status is 1 when the text is not found."
)]
pub(crate) struct Why {
    #[command(flatten)]
    pub(crate) on: On,
    /// The text, exactly as it was written
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

pub(super) async fn why(context: &Context, args: Why) -> Result<ExitCode, Failure> {
    let answer = context.get(&args.on, &["why"]).await?.query("text", args.text).answer::<api::Findings>().await?;
    answer.print(context.output, |it, output| it.findings.iter().for_each(|finding| show(finding, output)));
    if !answer.it.findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    context.output.note("not found in anything visible to you");
    Ok(ExitCode::FAILURE)
}

fn show(finding: &api::Finding, output: Output) {
    let origin = output.paint(Style::Quiet, format!("{}, {}", finding.at, finding.kind));
    let by = output.paint(Style::Name, finding.by.to_string());
    output.line(format!("entry {}: {} by {by} ({origin})", finding.seq, finding.subject));
    output.line(indented(&finding.excerpt, "    "));
    if let Some(audience) = &finding.visible_to {
        output.line(format!("  visible to {audience}"));
    }
    if !finding.hidden_from.is_empty() {
        output.line(format!("  hidden from {}", joined(&finding.hidden_from)));
    }
    for shown in &finding.shown {
        output.line(format!("  shown to {} in turn {}{} (entry {})", shown.agent, shown.turn, of(shown), shown.seq));
    }
    if let Some(gone) = &finding.gone {
        let (by, seq) = (&gone.by, gone.seq);
        output.line(match gone.how {
            api::HowGone::Compressed => format!("  compressed away at entry {seq}"),
            api::HowGone::Replaced => format!("  replaced by {by} in entry {seq}"),
            api::HowGone::Deleted => format!("  deleted by {by} in entry {seq}"),
        });
    }
}

/// The run of a turn, if it is one of a run.
fn of(shown: &api::Shown) -> String {
    shown.run.as_ref().map(|run| format!(" of {run}")).unwrap_or_default()
}
