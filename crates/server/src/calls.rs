//! What calls do: functions of a caller and typed input, which know no HTTP. Handlers, tools and tests use the same ones.
//!
//! A call is a method of [`Authorized`] with the right that it needs, so that nothing is looked up for a caller without
//! that right. It takes input and gives an [`Answer`] of the crate `callboard_api`, or a [`CallError`]. A long list is
//! given as [`Pages`]. There is a file for each resource; what they share comes first.

mod answer;
mod caller;
mod cursor;
mod error;
pub(crate) mod feed;
mod idempotency;
mod login;
mod options;
mod right;

mod browser;
mod collection;
mod compression;
pub(crate) mod context_set;
mod directive;
mod document;
mod file;
mod form;
pub(crate) mod journal;
pub(crate) mod message;
mod orchestration;
mod plan;
mod prompt;
mod recall;
mod run;
mod session;
mod thread;
mod token;
mod tool;
mod transfer;
mod turn;
mod variable;
mod workflow;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    answer::{Answer, Pages},
    caller::{Authorized, AuthorizedIfThere, AuthorizedOnServer, AuthorizedToAdd, Caller, Credentials},
    error::CallError,
    options::WriteOptions,
};

/// One table says who may make which call. A call without the right is refused before anything is looked up.
pub(crate) mod rights {
    use callboard_core::session::{Grant, Share};

    use super::right::rights;
    pub(crate) use super::right::{Rank, Right, Who};

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
        EraseEntries,   "entries",          "erase",    Who::User;
        RestoreSecrets, "secrets",          "restore",  Who::User;
        AskWhy,         "the journal",      "search",   Who::Worker;
        ReadSets,       "context sets",     "read",     Who::Worker;
        WriteSets,      "context sets",     "write",    Who::Granted(Grant::ContextSets);
        ReadDocuments,  "documents",        "read",     Who::Worker;
        WriteDocuments, "documents",        "write",    Who::Granted(Grant::Documents);
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
        WriteFiles,     "context files",    "write",    Who::Granted(Grant::Files);
        ReadSteps,      "steps",            "read",     Who::Worker;
        GoThroughSteps, "steps",            "change",   Who::Manager;
        ReadPlan,       "the plan",         "read",     Who::Worker;
        ChangePlan,     "the plan",         "change",   Who::Manager;
        ReadWorkflow,   "the workflow",     "read",     Who::Worker;
        ChangeWorkflow, "the workflow",     "change",   Who::Manager;
        ExecuteWorkflow, "the workflow",    "execute",  Who::Manager;
        BuildPrompt,    "prompts",          "build",    Who::Worker;
        ReadTurns,      "turns",            "read",     Who::Worker;
        AnswerTurns,    "turns",            "answer",   Who::Worker;
        Recall,         "the session",      "search",   Who::Worker;
        StartRun,       "runs",             "start",    Who::Manager;
        ReadRuns,       "runs",             "read",     Who::Shared(Share::Runs);
        SteerRun,       "runs",             "pause, resume or cancel", Who::Manager;
        BringResults,   "results of tools", "send",     Who::Manager;
        ReadVariables,  "variables",        "read",     Who::Shared(Share::Variables);
        SetVariables,   "variables",        "set",      Who::Manager;
        ReadBrowser,    "the browser",      "read",     Who::Shared(Share::Browser);
        UseBrowser,     "the browser",      "use",      Who::Manager;
        ReadTools,      "tools",            "list",     Who::Worker;
        CallTools,      "tools",            "call",     Who::Worker;
        ListCollections, "collections",     "list",     Who::User;
        ReadCollection, "collections",      "read",     Who::User;
        MakeCollections, "collections",     "make or delete", Who::User;
        ReadMetrics,    "metrics",          "read",     Who::User;
        KeepTokens,     "access tokens",    "manage",     Who::User;
    }
}
