//! Which session a command works on, and why that one.

use std::fmt;

use callboard_api as api;
use callboard_engine::core::id::SessionId;
use http::Method;
use serde::Serialize;

use crate::{chosen::Chosen, client::Client, config, failure::Failure};

/// How many sessions an error lists.
const LISTED: usize = 5;

/// Why a command works on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Because {
    /// The command line names it.
    Option,
    /// `CALLBOARD_SESSION` names it.
    Environment,
    /// The access token is one of this session.
    Token,
    /// It was chosen with `callboard use`.
    Chosen,
    /// There is no other session.
    Only,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => "the command line names it",
            Self::Environment => "CALLBOARD_SESSION names it",
            Self::Token => "the access token is for this session only",
            Self::Chosen => "it was chosen with `callboard use`",
            Self::Only => "it is the only session",
        })
    }
}

impl Because {
    /// Says why a session was looked for that is gone, and what to do about it.
    pub(crate) fn explain(self, failure: Failure) -> Failure {
        let (why, hint) = match self {
            Self::Environment => {
                ("CALLBOARD_SESSION names it", "change CALLBOARD_SESSION, or name a session with --session ID")
            }
            Self::Chosen => (
                "it was chosen with `callboard use`",
                "choose another one with `callboard use ID`, or none with `callboard use --clear`",
            ),
            Self::Option | Self::Token | Self::Only => return failure,
        };
        let mut failure = failure.hint(hint);
        failure.problem.detail = format!("{} ({why})", failure.problem.detail);
        failure
    }
}

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
    let newest = newest(client).await?;
    match newest.as_slice() {
        [] => Err(Failure::failed("not_found", "there are no sessions")
            .hint("create one with `callboard session new` or `callboard run TEAM.toml`")),
        [only] => Ok((only.id.clone(), Because::Only)),
        several => Err(not_clear(several)),
    }
}

/// The sessions that were used last: as many as an error lists, and one more.
async fn newest(client: &Client) -> Result<Vec<api::Session>, Failure> {
    let list = client.call(Method::GET, &["v1", "sessions"]).query("order", "recent").query("limit", LISTED + 1);
    Ok(list.answer::<api::SessionList>().await?.it.sessions)
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
