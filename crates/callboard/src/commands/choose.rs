//! `callboard use`.

use callboard_api as api;
use callboard_engine::core::id::SessionId;
use clap::Args;
use http::Method;
use serde_json::json;

use super::Context;
use crate::{cli::On, failure::Failure};

/// Choose the session that later commands work on
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard use tides\n  callboard use            show which session it is now, and why\n  callboard use --clear\n\nThe choice is kept for you and this store or server. --session and CALLBOARD_SESSION come before it."
)]
pub(crate) struct Use {
    /// The session
    #[arg(value_name = "ID")]
    pub(crate) id: Option<SessionId>,
    /// Choose none
    #[arg(long, conflicts_with = "id")]
    pub(crate) clear: bool,
}

pub(super) async fn choose(context: &Context, args: Use) -> Result<(), Failure> {
    let output = context.output;
    if args.clear {
        let was = context.chosen.clear()?;
        output.answer(&json!({"session": null, "was": was}), |output| match &was {
            Some(id) => output.line(format!("{id} is no longer chosen")),
            None => output.line("no session was chosen"),
        });
        return Ok(());
    }
    let Some(id) = args.id else {
        let session = context.session_on(&On::default()).await?;
        // A session that is gone is an error here too.
        let known = session.get(&[]).answer::<api::Session>().await?.it;
        output.answer(&json!({"session": known.id, "because": session.because}), |output| {
            output.line(format!("{}: {}", titled(&known), session.because));
        });
        return Ok(());
    };
    let known = context.client.call(Method::GET, &["v1", "sessions", id.as_str()]).answer::<api::Session>().await?.it;
    context.chosen.write(&id)?;
    output.answer(&json!({"session": id, "because": "chosen"}), |output| {
        output.line(format!("commands work on {} from now on", titled(&known)));
    });
    if crate::config::session()?.is_some() {
        output.note("note: CALLBOARD_SESSION is set and comes first");
    }
    Ok(())
}

fn titled(session: &api::Session) -> String {
    match &session.title {
        Some(title) => format!("{} ({title})", session.id),
        None => session.id.to_string(),
    }
}
