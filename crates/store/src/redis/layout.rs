//! What the keys are called.
//!
//! All keys share what stands in braces, so that a cluster has a whole namespace in one place. Of a session there are
//! seven:
//!
//! | key | kind | what |
//! | --- | --- | --- |
//! | `{NAMESPACE}:SESSION:row` | hash | `seq`, `tag`, `expires_at` (empty is never), `last_activity`, `born`: the first tag |
//! | `{…}:…:entries` | hash | by number: tag, header and data, see `entry.rs` |
//! | `{…}:…:index` | sorted set | places of entries by type, subject, both, and both with time, in the order of their bytes |
//! | `{…}:…:words` | hash | numbers for the types and subjects in the index |
//! | `{…}:…:claims` | hash | by key: the number of the entry that claimed it |
//! | `{…}:…:values` | hash | by hash: a large text |
//! | `{…}:…:snapshots` | hash | by number: the tag and the state |
//!
//! Right behind the namespace there is what spans sessions: `{NAMESPACE}:sessions` (sorted by id), `:expiry` (those that
//! expire, by when), `:leases` (sessions with a lease, by when it runs out), `:holders` (a hash: who has it), `:changes`
//! (a stream of what changed, the newest ten thousand or so), `:count` (of changes), and `:format` (of all of this).

use callboard_core::id::SessionId;

/// The keys of one session, in the order in which scripts take them.
const OF_SESSION: [&str; 7] = ["row", "entries", "index", "words", "claims", "values", "snapshots"];

/// Where values are among the keys of a session, counted from 1 as scripts do.
pub(super) const VALUES: &str = "6";

/// Where claims are.
pub(super) const CLAIMS: &str = "5";

/// The names of all keys in one namespace.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    namespace: String,
    pub(super) sessions: String,
    pub(super) expiry: String,
    pub(super) leases: String,
    pub(super) holders: String,
    pub(super) changes: String,
    pub(super) count: String,
    pub(super) format: String,
}

impl Layout {
    pub(super) fn new(namespace: String) -> Self {
        let shared = |name| format!("{{{namespace}}}:{name}");
        let [sessions, expiry, leases, holders, changes, count, format] =
            ["sessions", "expiry", "leases", "holders", "changes", "count", "format"].map(shared);
        Self { sessions, expiry, leases, holders, changes, count, format, namespace }
    }

    /// The row of a session.
    pub(super) fn row(&self, session: &SessionId) -> String {
        self.of(session, "row")
    }

    /// All keys that a script about `session` takes.
    pub(super) fn keys(&self, session: &SessionId) -> Vec<String> {
        let shared = [&self.sessions, &self.expiry, &self.changes, &self.count, &self.leases, &self.holders];
        let shared = shared.map(Clone::clone);
        OF_SESSION.iter().map(|name| self.of(session, name)).chain(shared).collect()
    }

    fn of(&self, session: &SessionId, name: &str) -> String {
        format!("{{{}}}:{session}:{name}", self.namespace)
    }
}
