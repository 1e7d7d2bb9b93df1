//! What the keys are called.
//!
//! All keys share what stands in braces, so that a cluster has a whole namespace in one place. Of a session there are
//! three, of which an append writes one, and the index with every hundredth entry, for a block of a hundred at once:
//!
//! | key | kind | what |
//! | --- | --- | --- |
//! | `{NAMESPACE}:SESSION:journal` | hash | all that an append reads and writes, see below |
//! | `{…}:…:index` | sorted set | which entries of a block have a type, a subject or both; and, by both, the place of each entry that has a time; in the order of their bytes |
//! | `{…}:…:snapshots` | hash | by number: the tag and the state |
//!
//! In the journal there are:
//!
//! | field | what |
//! | --- | --- |
//! | `row` | the head's number and tag, when it expires (`-` is never), the last activity, the first tag, the last entry that is in the index, and how many words there are, with spaces between them |
//! | `rewritten` | the head of the last batch that rewrote entries, where one did: no older snapshot is kept |
//! | NUMBER | an entry: tag, header and data, see `entry.rs` |
//! | `w` and a number | type, subject and time of an entry that is not in the index yet |
//! | `t` and a type, `s` and a subject | its number in the index |
//! | `c` and a key | the number of the entry that claimed it |
//! | `v` and a hash | a large text |
//!
//! Right behind the namespace there is what spans sessions: `{NAMESPACE}:sessions` (all journals, sorted by id), `:listed`
//! (those of sessions, sorted by id), `:used` (all by their last activity; those of requests with a minus before it, so
//! that they come behind all sessions), `:expiry` (those that expire, by when), `:leases` (sessions with a lease, by when it runs out), `:holders` (a hash: who has it), `:changes`
//! (a stream of what changed together, the newest ten thousand or so), `:count` (of these), and `:format` (of all of this).

use callboard_core::id::SessionId;

/// The keys of one session, in the order in which scripts take them.
const OF_SESSION: [&str; 3] = ["journal", "index", "snapshots"];

/// The field of a journal in which its row is.
pub(super) const ROW: &str = "row";

/// What begins the fields of a journal in which large values are.
pub(super) const VALUE: &str = "v";

/// What begins those in which claims are.
pub(super) const CLAIM: &str = "c";

/// The names of all keys in one namespace.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    namespace: String,
    pub(super) sessions: String,
    pub(super) listed: String,
    pub(super) used: String,
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
        let [sessions, listed, used, expiry, leases, holders, changes, count, format] =
            ["sessions", "listed", "used", "expiry", "leases", "holders", "changes", "count", "format"].map(shared);
        Self { sessions, listed, used, expiry, leases, holders, changes, count, format, namespace }
    }

    /// The journal of a session.
    pub(super) fn journal(&self, session: &SessionId) -> String {
        self.of(session, "journal")
    }

    /// All keys that a script about these sessions takes.
    pub(super) fn keys(&self, sessions: &[&SessionId]) -> Vec<String> {
        let Self { expiry, leases, holders, changes, count, listed, used, .. } = self;
        let shared = [&self.sessions, expiry, changes, count, leases, holders, listed, used];
        let of_sessions = sessions.iter().flat_map(|session| OF_SESSION.map(|name| self.of(session, name)));
        shared.into_iter().cloned().chain(of_sessions).collect()
    }

    fn of(&self, session: &SessionId, name: &str) -> String {
        format!("{{{}}}:{session}:{name}", self.namespace)
    }
}
