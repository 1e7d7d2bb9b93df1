//! `callboard session`.

use std::path::PathBuf;

use callboard_engine::core::{
    agent::Agent,
    audience::Audience,
    id::{Seq, SessionId},
    session::Ttl,
};
use clap::{Args, Subcommand};

use super::{Eyes, Which};
use crate::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Make a session
    #[command(
        after_help = "Examples:\n  callboard session new TEAM.toml\n  callboard session new --agent lead:manager --agent critic:worker"
    )]
    New(SessionNew),
    /// List the sessions, the one used last first
    #[command(after_help = "Example:\n  callboard session list --json")]
    List,
    /// Show a session
    #[command(after_help = "Example:\n  callboard session show --session 20250118-143022-a4f2")]
    Show(Which),
    /// Change a session's settings or its team
    #[command(
        after_help = "Examples:\n  callboard session update --title Review --ttl never\n  callboard session update --team TEAM.toml"
    )]
    Update(SessionUpdate),
    /// Delete all there is of a session
    #[command(after_help = "Example:\n  callboard session delete --session 20250118-143022-a4f2")]
    Delete {
        /// The session
        #[arg(long, value_name = "ID", required = true)]
        session: SessionId,
    },
    /// Make a session whose journal is the beginning of another's
    #[command(after_help = "Example:\n  callboard session fork --at 12")]
    Fork {
        #[command(flatten)]
        which: Which,
        /// The last entry that is taken along; all, where it is left out
        #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
        at: Option<Seq>,
        /// The id of the new session
        #[arg(long, value_name = "ID")]
        id: Option<SessionId>,
    },
    /// Read the journal
    #[command(
        after_help = "Examples:\n  callboard session journal --after 40\n  callboard session journal --types message.added,context_set.updated --as critic --follow"
    )]
    Journal(Journal),
}

/// Make a session
#[derive(Args, Debug)]
pub(crate) struct SessionNew {
    /// The team's file
    #[arg(value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// An agent, a worker where the role is left out
    #[arg(long = "agent", value_name = "NAME[:ROLE]", value_parser = parse::agent)]
    pub(crate) agents: Vec<Agent>,
    /// The id of the session
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<SessionId>,
    /// What people call it
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees a new context set that does not say so
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// The seconds without use after which it expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
}

/// Change a session's settings or its team
#[derive(Args, Debug)]
pub(crate) struct SessionUpdate {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// What people call it
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who sees a new context set that does not say so
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) default_visibility: Option<Audience>,
    /// The seconds without use after which it expires, or never
    #[arg(long, value_name = "SECONDS", value_parser = parse::ttl)]
    pub(crate) ttl: Option<Ttl>,
    /// A file whose team this session's is to be, and whose steps, where it has some
    #[arg(long, value_name = "TEAM.toml")]
    pub(crate) team: Option<PathBuf>,
    /// What a prompt has to fit in
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// How long an answer in a run may be
    #[arg(long, value_name = "TOKENS")]
    pub(crate) answer_tokens: Option<u64>,
}

/// Read the journal
#[derive(Args, Debug)]
pub(crate) struct Journal {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// Only entries after this one
    #[arg(long, value_name = "SEQ", default_value = "0", value_parser = parse::seq)]
    pub(crate) after: Seq,
    /// At most so many entries
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) limit: Option<usize>,
    /// Only entries of these types
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(crate) types: Vec<String>,
    /// Go on as entries come, until Ctrl-C
    #[arg(long)]
    pub(crate) follow: bool,
}
