//! Rights: one table says who may make which call. A call without the right is refused before anything is looked up.

use callboard_core::session::{Grant, Share};
use callboard_core::state::State;

/// The rank of a caller in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// A worker.
    Worker,
    /// The manager.
    Manager,
    /// The user.
    User,
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Only the user.
    User,
    /// The user and the manager.
    Manager,
    /// The user, the manager, and workers if the session grants it.
    Granted(Grant),
    /// The user, the manager, and workers if the session shares it.
    Shared(Share),
    /// The user and every agent of the team. Each sees only what it may see.
    Worker,
}

/// A right, as a type: a call has to name the right that it needs.
pub(crate) trait Right: Send + Sync + 'static {
    /// The thing, for messages.
    const RESOURCE: &'static str;
    /// What is done with the thing, for messages.
    const VERB: &'static str;
    /// Who has the right.
    const WHO: Who;
}

/// The table: a right, the thing, what is done with it, and who may do it.
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
    ReadSchema,     "the schema of directives", "read", Who::Manager;
    AnswerForm,     "forms",            "answer",   Who::User;
    ReadThreads,    "threads",          "read",     Who::Worker;
    ChangeThread,   "threads",          "change",   Who::Manager;
    ReadMessages,   "messages",         "read",     Who::Worker;
    AddMessages,    "messages",         "add",      Who::Worker;
    CompressThread, "threads",          "compress", Who::Manager;
    PinMessages,    "messages",         "pin",      Who::Manager;
    ReadFiles,      "context files",    "read",     Who::Worker;
    WriteFiles,     "context files",    "write",    Who::Manager;
    ReadSteps,      "steps",            "read",     Who::Worker;
    GoThroughSteps, "steps",            "change",   Who::Manager;
    ReadPlan,       "the plan",         "read",     Who::Worker;
    ChangePlan,     "the plan",         "change",   Who::Manager;
    BuildPrompt,    "prompts",          "build",    Who::Worker;
    StartRun,       "runs",             "start",    Who::Manager;
    ReadRuns,       "runs",             "read",     Who::Shared(Share::Runs);
    SteerRun,       "runs",             "pause, resume or cancel", Who::Manager;
    BringResults,   "results of tools", "send",     Who::Manager;
    ReadVariables,  "variables",        "read",     Who::Shared(Share::Variables);
    SetVariables,   "variables",        "set",      Who::Manager;
    ReadTools,      "tools",            "list",     Who::Worker;
    CallTools,      "tools",            "call",     Who::Worker;
    ReadMetrics,    "metrics",          "read",     Who::User;
    KeepTokens,     "access tokens",    "manage",     Who::User;
}

impl Who {
    /// Whether a caller of this rank has the right, in a session with this state.
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

    /// Whom to ask for it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::User | Self::Worker => "ask the user",
            Self::Manager | Self::Granted(_) | Self::Shared(_) => "ask the manager or the user",
        }
    }
}
