//! Which session a command works on that names none.

use callboard_api as api;
use callboard_engine::core::id::SessionId;
use http::Method;

use crate::{because::Because, chosen::Chosen, client::Client, config, failure::Failure};

/// How many sessions an error lists.
const LISTED: usize = 5;

/// The session that a command works on where its command line names none.
pub(crate) async fn session(
    client: &Client,
    chosen: &Chosen,
    token: Option<&SessionId>,
) -> Result<(SessionId, Because), Failure> {
    if let Some(id) = config::session()? {
        return Ok((id, Because::Environment));
    }
    if let Some(id) = token {
        return Ok((id.clone(), Because::Token));
    }
    if let Some(id) = chosen.read()? {
        return Ok((id, Because::Chosen));
    }
    // As many as an error lists, and one more.
    let list = client.call(Method::GET, &["v1", "sessions"]).query("order", "recent").query("limit", LISTED + 1);
    let newest = list.answer::<api::SessionList>().await?.it.sessions;
    match newest.as_slice() {
        [] => Err(Failure::failed("not_found", "there are no sessions")
            .hint("create one with `callboard session new` or `callboard run TEAM.toml`")),
        [only] => Ok((only.id.clone(), Because::Only)),
        several => Err(not_clear(several)),
    }
}

fn not_clear(sessions: &[api::Session]) -> Failure {
    let line = |session: &api::Session| {
        let title = session.title.as_ref().map(|title| format!("  {title}")).unwrap_or_default();
        format!("\n  {}{title}", session.id)
    };
    let shown: String = sessions.iter().take(LISTED).map(line).collect();
    let more = if sessions.len() > LISTED { "\n  …: `callboard session list` lists them all" } else { "" };
    Failure::usage("which_session", "there are several sessions, and none is named or chosen").hint(format!(
        "name one with --session ID, or choose one with `callboard use ID`. The newest are:{shown}{more}"
    ))
}
