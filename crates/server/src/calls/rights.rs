//! Who may do what: one table. What one may not is refused before anything is looked up, whatever the call names.

use callboard_core::session::{Grant, Share};
use callboard_core::state::State;

/// What a caller is to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// One who does what the manager asks.
    Worker,
    /// The manager.
    Manager,
    /// The user, whose session it is.
    User,
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The user alone.
    User,
    /// The user and the manager.
    Manager,
    /// They, and workers where the session grants it.
    Granted(Grant),
    /// They, and workers where the session shares it.
    Shared(Share),
    /// Everyone in the team, each with its own eyes.
    Worker,
}

/// A right to call something, as a type, so that a call cannot be answered without naming the right to it.
pub(crate) trait Right: Send + Sync + 'static {
    /// What is called.
    const RESOURCE: &'static str;
    /// What is done with it.
    const VERB: &'static str;
    /// Who may.
    const WHO: Who;
}

/// The table: a right, what is called, what is done with it, and who may.
macro_rules! rights {
    ($($right:ident, $resource:literal, $verb:literal, $who:expr;)*) => {
        $(
            #[doc = concat!($verb, " ", $resource)]
            pub(crate) struct $right;

            impl Right for $right {
                const RESOURCE: &'static str = $resource;
                const VERB: &'static str = $verb;
                const WHO: Who = $who;
            }
        )*
    };
}

rights! {
    ListSessions,   "sessions",         "list",     Who::User;
    CreateSession,  "sessions",         "create",   Who::User;
    ImportSession,  "sessions",         "import",   Who::User;
    ReadSession,    "the session",      "read",     Who::Worker;
    ChangeSession,  "the session",      "change",   Who::Manager;
    DeleteSession,  "the session",      "delete",   Who::User;
    ForkSession,    "the session",      "fork",     Who::Manager;
    ExportSession,  "the session",      "export",   Who::User;
    ReadJournal,    "the journal",      "read",     Who::Worker;
    AskWhy,         "the journal",      "search",   Who::Worker;
    ReadSets,       "context sets",     "read",     Who::Worker;
    WriteSets,      "context sets",     "write",    Who::Granted(Grant::ContextSets);
    Direct,         "directives",       "give",     Who::Manager;
    ReadSchema,     "directives",       "describe", Who::Manager;
    AnswerForm,     "forms",            "answer",   Who::User;
    ReadThreads,    "threads",          "read",     Who::Worker;
    ChangeThread,   "threads",          "change",   Who::Manager;
    ReadMessages,   "messages",         "read",     Who::Worker;
    AddMessages,    "messages",         "add",      Who::Worker;
    ReadFiles,      "context files",    "read",     Who::Worker;
    WriteFiles,     "context files",    "write",    Who::Manager;
    ReadSteps,      "steps",            "read",     Who::Worker;
    GoThroughSteps, "steps",            "go through", Who::Manager;
    ReadPlan,       "the plan",         "read",     Who::Worker;
    ChangePlan,     "the plan",         "change",   Who::Manager;
    BuildPrompt,    "prompts",          "build",    Who::Worker;
    StartRun,       "runs",             "start",    Who::Manager;
    ReadRuns,       "runs",             "read",     Who::Shared(Share::Runs);
    SteerRun,       "runs",             "steer",    Who::Manager;
    BringResults,   "results of tools", "bring",    Who::Manager;
    ReadVariables,  "variables",        "read",     Who::Shared(Share::Variables);
    SetVariables,   "variables",        "set",      Who::Manager;
    ReadTools,      "tools",            "list",     Who::Worker;
    CallTools,      "tools",            "call",     Who::Worker;
    ReadMetrics,    "metrics",          "read",     Who::User;
    KeepTokens,     "tokens",           "keep",     Who::User;
}

impl Who {
    /// Whether somebody of this rank may, in a session of this state.
    pub(crate) fn allows(self, rank: Rank, state: &State) -> bool {
        let settings = &state.session.settings;
        match self {
            Self::User => rank == Rank::User,
            Self::Manager => rank >= Rank::Manager,
            Self::Granted(grant) => rank >= Rank::Manager || settings.grant.contains(&grant),
            Self::Shared(share) => rank >= Rank::Manager || settings.share.contains(&share),
            Self::Worker => true,
        }
    }

    /// Whom to ask instead.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::User | Self::Worker => "ask the user",
            Self::Manager | Self::Granted(_) | Self::Shared(_) => "ask the manager or the user",
        }
    }
}
