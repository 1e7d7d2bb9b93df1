//! `callboard why`.

use std::process::ExitCode;

use callboard_api as api;
use clap::Args;

use super::Context;
use crate::{
    cli::On,
    failure::Failure,
    output::{Output, Style, indented},
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
    let session = context.session_on(&args.on).await?;
    let answer = session.get(&["why"]).query("text", args.text).answer::<api::Findings>().await?;
    context.output.answer(&answer.json, |output| {
        let findings = &answer.it.findings;
        findings.iter().for_each(|finding| show(finding, output));
    });
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
        let names: Vec<_> = finding.hidden_from.iter().map(ToString::to_string).collect();
        output.line(format!("  hidden from {}", names.join(", ")));
    }
    for shown in &finding.shown {
        output.line(format!("  shown to {} in turn {}{} (entry {})", shown.agent, shown.turn, of(shown), shown.seq));
    }
    if let Some(gone) = &finding.gone {
        let how = match gone.how {
            api::HowGone::Replaced => "replaced",
            api::HowGone::Deleted => "deleted",
            api::HowGone::Compressed => "compressed away",
        };
        match gone.how {
            api::HowGone::Compressed => output.line(format!("  {how} at entry {}", gone.seq)),
            api::HowGone::Replaced | api::HowGone::Deleted => {
                output.line(format!("  {how} by {} in entry {}", gone.by, gone.seq));
            }
        }
    }
}

/// The run of a turn, if it is one of a run.
fn of(shown: &api::Shown) -> String {
    shown.run.as_ref().map(|run| format!(" of {run}")).unwrap_or_default()
}
