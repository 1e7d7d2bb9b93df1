//! Permissions: what a caller has to be allowed. A call that changes a session names its command, which says who may ask
//! for it; all other calls are in the table. Whoever may read the session reads all that the view shows it. A call without the
//! right is refused before anything is looked up.

use callboard_core::{
    command::Command,
    rights::{Grant, Right, Share},
};

/// A permission, as a type: a call has to name the one that it needs.
pub(crate) trait Permission: Send + Sync + 'static {
    /// The right.
    const RIGHT: Right;
}

impl<C: Command> Permission for C {
    const RIGHT: Right = C::RIGHT;
}

macro_rules! permissions {
    ($($permission:ident: $right:expr;)*) => {
        $(
            pub(crate) struct $permission;

            impl Permission for $permission {
                const RIGHT: Right = $right;
            }
        )*
    };
}

permissions! {
    ListSessions: Right::user("list sessions");
    CreateSession: Right::user("create sessions");
    ImportSession: Right::user("import sessions");
    ReadSession: Right::everyone("read the session");
    DeleteSession: Right::user("delete the session");
    ForkSession: Right::manager_granted(Grant::Fork, "fork the session");
    ExportSession: Right::user("export the session");
    ReadJournal: Right::everyone("read the journal");
    ReadDocuments: Right::everyone("read documents");
    ReadSchema: Right::manager("read the schema of directives");
    WriteFiles: Right::granted(Grant::Files, "write context files");
    ReadRuns: Right::shared(Share::Runs, "read runs");
    ReadVariables: Right::shared(Share::Variables, "read variables");
    ReadBrowser: Right::shared(Share::Browser, "read the browser");
    UseBrowser: Right::manager("use the browser");
    ListCollections: Right::user("list collections");
    ReadCollection: Right::user("read collections");
    MakeCollections: Right::user("make or delete collections");
    ReadMetrics: Right::user("read metrics");
    ListTokens: Right::user("list access tokens");
}
