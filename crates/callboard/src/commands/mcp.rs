//! `callboard mcp`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use callboard_engine::core::id::SessionId;
use callboard_mcp::{Api, Offer, Pieces, Scope};
use callboard_server::ProjectFolder;
use clap::Args;
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderMap, Request, Response};

use super::Context;
use crate::{
    cli::ActingAs,
    client::{Client, OnSession},
    config,
    failure::Failure,
};

/// Answer a client of MCP, such as a coding agent, on standard input and output
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard mcp --session tides --as writer\n  callboard mcp --url http://127.0.0.1:7420 --tools all\n  claude mcp add callboard -- callboard mcp --session tides --as writer\n\nWithout a session each tool takes one as its argument. A server answers at /mcp, too."
)]
pub(crate) struct Mcp {
    /// The session of all requests (default: CALLBOARD_SESSION, or the one of the access token)
    #[arg(short, long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
    /// The tools on offer: all, or names separated by commas (default: a handful)
    #[arg(long, value_name = "all|NAME,…", default_value = "")]
    pub(crate) tools: String,
    /// The folder whose context files it works with (default: the current one; a server has its own)
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) project: PathBuf,
}

impl Mcp {
    /// The context files that it works with. They stay as they are: nothing is swept.
    pub(super) fn project(&self) -> ProjectFolder {
        ProjectFolder { root: self.project.clone(), look_every: Duration::from_secs(2), sweep_every: None }
    }
}

impl Api for Client {
    fn call(&self, request: Request<Pieces>) -> BoxFuture<'_, Result<Response<Pieces>, String>> {
        self.exchange(request).map(|answer| answer.map_err(|failure| failure.problem.detail)).boxed()
    }
}

pub(super) async fn mcp(context: Context, args: Mcp) -> Result<(), Failure> {
    let session = args.session.map_or_else(config::session, |id| Ok(Some(id)))?.or(context.token_session);
    if args.acting_as.agent.is_some() && session.is_none() {
        return Err(Failure::usage("usage", "an agent is one of a session: name the session too")
            .hint("callboard mcp --session ID --as AGENT"));
    }
    if let Some(id) = &session {
        // A session that is not there, or an agent that is not in it, is an error before a client waits for it.
        OnSession::named(&context.client, id.clone(), args.acting_as.agent.clone()).get(&[]).done().await?;
    }
    let offer = match args.tools.as_str() {
        "" => Offer::default(),
        tools => tools.parse().map_err(|why: String| Failure::usage("usage", why))?,
    };
    let scope = Scope { headers: HeaderMap::new(), session, acting_as: args.acting_as.agent, offer };
    let client = Arc::new(context.client);
    let ended = callboard_mcp::serve_stdio(client.clone(), scope, tokio::io::stdin(), tokio::io::stdout()).await;
    client.close().await;
    ended.map_err(|why| Failure::failed("broken_off", format!("the client broke off: {why}")))
}
