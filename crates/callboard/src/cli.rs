//! Options that many commands take.

use std::path::PathBuf;

use callboard_engine::core::{
    id::{AgentName, RunId, SessionId, ThreadId},
    limits::Limits,
};
use callboard_server::{BrowserSettings, Rules};
use callboard_store::Durability;
use clap::Args;

use crate::failure::Failure;

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The store: sqlite:PATH, postgres://…, redis://… or memory: (default: CALLBOARD_STORE, or a file in the user's data folder)
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The server to call instead of opening a store, as `callboard serve` prints it (default: CALLBOARD_URL)
    #[arg(long, global = true, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// A file with the access token for the server (default: CALLBOARD_TOKEN)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// What acknowledged writes survive: a crash of the process (normal), or a power failure too (full)
    #[arg(long, global = true, value_name = "normal|full", default_value = "normal", hide_possible_values = true, value_parser = crate::parse::durability())]
    pub(crate) durability: Durability,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print exact times at a terminal, too
    #[arg(long, global = true)]
    pub(crate) utc: bool,
}

/// The agent that a command acts as.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ActingAs {
    /// Act as this agent: see what it sees, with its rights
    #[arg(id = "as", short, long = "as", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
}

/// Where a command works, and as whom.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct On {
    /// The session (default: CALLBOARD_SESSION, else the one chosen with `callboard use`, else the only one)
    #[arg(short, long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
}

/// The session that a command is about: named behind the command, or as for any other command.
#[derive(Args, Clone, Debug)]
pub(crate) struct NamedSession {
    /// The session (default: as with --session)
    #[arg(value_name = "ID", conflicts_with = "session")]
    pub(crate) named: Option<SessionId>,
    #[command(flatten)]
    pub(crate) on: On,
}

impl NamedSession {
    /// Where the command works, wherever the session was named.
    pub(crate) fn on(self) -> On {
        On { session: self.named.or(self.on.session), acting_as: self.on.acting_as }
    }
}

/// The thread that a command works on: named behind the command, or as an option.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadArg {
    #[command(flatten)]
    pub(crate) on: On,
    /// The thread (default: main)
    #[arg(value_name = "THREAD", conflicts_with = "thread")]
    pub(crate) named_thread: Option<ThreadId>,
    /// The thread
    #[arg(short, long, value_name = "THREAD", hide = true)]
    pub(crate) thread: Option<ThreadId>,
}

impl ThreadArg {
    /// The thread that is named, or `main`.
    pub(crate) fn thread(&self) -> ThreadId {
        self.named_thread.clone().or_else(|| self.thread.clone()).unwrap_or_else(ThreadId::main)
    }
}

/// How the browsers of sessions are started, and which hosts their pages may reach.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct BrowserArgs {
    /// The DevTools address of a running browser, which all sessions use in place of a Chromium of their own; what its pages reach is not guarded
    #[arg(long, value_name = "URL")]
    pub(crate) browser: Option<String>,
    /// Show the windows of browsers
    #[arg(long, conflicts_with = "browser")]
    pub(crate) browser_window: bool,
    /// A folder in which the browser profile of each session is kept; without it a profile goes with its browser
    #[arg(long, value_name = "DIR", conflicts_with = "browser")]
    pub(crate) browser_profiles: Option<PathBuf>,
    /// A host that pages in browsers may reach, and no others: `example.com`, or `*.example.com` for all below it; repeatable
    #[arg(long = "browser-host", value_name = "HOST")]
    pub(crate) browser_hosts: Vec<String>,
    /// A host that pages in browsers never reach; repeatable
    #[arg(long = "browser-deny", value_name = "HOST")]
    pub(crate) browser_denied: Vec<String>,
}

impl BrowserArgs {
    /// Whether any of them is given.
    pub(crate) fn are_given(&self) -> bool {
        *self != Self::default()
    }

    /// These settings, as the options change them.
    pub(crate) fn over(&self, settings: BrowserSettings) -> BrowserSettings {
        let (allow_hosts, deny_hosts) = (self.browser_hosts.clone(), self.browser_denied.clone());
        BrowserSettings {
            attach: self.browser.clone(),
            headless: !self.browser_window,
            profiles: self.browser_profiles.clone(),
            rules: Rules { allow_hosts, deny_hosts, ..settings.rules },
            ..settings
        }
    }

    /// What is to be known of the browser that is attached to, if one is.
    pub(crate) fn warning(&self) -> Option<String> {
        let browser = self.browser.as_ref()?;
        Some(format!(
            "note: the browser at {browser} is not guarded: its pages reach what they like, and its downloads are kept"
        ))
    }
}

/// The limits of a run.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunLimits {
    /// Pause the run after this many turns
    #[arg(long, value_name = "N", value_parser = crate::parse::room, allow_negative_numbers = true)]
    pub(crate) limit_turns: Option<u64>,
    /// Pause the run after this many tokens, prompts and answers together
    #[arg(long, value_name = "N", value_parser = crate::parse::room, allow_negative_numbers = true)]
    pub(crate) limit_tokens: Option<u64>,
    /// Pause the run after this many seconds of waiting for models
    #[arg(long, value_name = "N", value_parser = crate::parse::room, allow_negative_numbers = true)]
    pub(crate) limit_seconds: Option<u64>,
    /// Pause the run after this many pages that tools are told to open
    #[arg(long, value_name = "N", value_parser = crate::parse::room, allow_negative_numbers = true)]
    pub(crate) limit_pages: Option<u64>,
}

impl RunLimits {
    fn are_given(&self) -> bool {
        self.limit_turns.or(self.limit_tokens).or(self.limit_seconds).or(self.limit_pages).is_some()
    }

    /// The session's limits, overridden by these; `None` where none are given.
    pub(crate) fn over(&self, session: &Limits) -> Option<Limits> {
        self.are_given().then(|| Limits {
            turns: self.limit_turns.or(session.turns),
            tokens: self.limit_tokens.or(session.tokens),
            seconds: self.limit_seconds.or(session.seconds),
            pages: self.limit_pages.or(session.pages),
        })
    }

    /// Refuses limits for a run that was started before.
    pub(crate) fn check_new(&self, run: &RunId) -> Result<(), Failure> {
        if !self.are_given() {
            return Ok(());
        }
        Err(Failure::usage("usage", format!("the limits of the run {run} were set when it started"))
            .hint("leave the limits out: a resumed run may use as much again"))
    }
}
