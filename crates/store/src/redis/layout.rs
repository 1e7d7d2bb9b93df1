//! The names of the keys, and what they contain.
//!
//! The braces in a key make a cluster keep a whole namespace in one slot. A session has three keys. An append writes the
//! first; with every hundredth entry it also writes the index, for a block of a hundred entries:
//!
//! | key | kind | what |
//! | --- | --- | --- |
//! | `{NAMESPACE}:SESSION:journal` | hash | everything that an append reads and writes, see below |
//! | `{…}:…:index` | sorted set | which entries of a block have a type, a subject or both; for entries with a time, also their positions by type, subject and time; in byte order |
//! | `{…}:…:snapshots` | hash | by number: the tag and the state |
//!
//! The fields of a journal:
//!
//! | field | what |
//! | --- | --- |
//! | `row` | separated by spaces: number and tag of the head, when it expires (`-` is never), the last activity, the first tag, the last entry in the index, and the number of words |
//! | `rewritten` | the head of the last batch that rewrote entries, if there was one: no older snapshot is kept |
//! | NUMBER | an entry: tag, header and data, see `entry.rs` |
//! | `w` and a number | type, subject and time of an entry that is not in the index yet |
//! | `t` and a type, `s` and a subject | its id in the index |
//! | `c` and a key | the number of the entry that claimed it |
//! | `v` and a hash | a large text |
//!
//! All sessions share these keys: `{NAMESPACE}:sessions` (all journals, sorted by id), `:listed` (those of sessions, sorted
//! by id), `:used` (all journals by last activity; for requests it is negative, so that they come after all sessions),
//! `:expiry` (journals that expire, by when), `:leases` (sessions with a lease, by when it expires), `:holders` (a hash: who
//! holds each lease), `:changes` (a stream of the newest changes, about ten thousand), `:count` (the number of the newest
//! change), and `:format` (the format of the namespace).

use callboard_core::id::SessionId;

/// The shared keys that scripts take, in their order.
const SHARED: [&str; 8] = ["sessions", "expiry", "changes", "count", "leases", "holders", "listed", "used"];

/// The keys of one session, in the order in which scripts take them.
const OF_SESSION: [&str; 3] = ["journal", "index", "snapshots"];

/// The field with the row.
pub(super) const ROW: &str = "row";

/// The prefix of fields with large values.
pub(super) const VALUE: &str = "v";

/// The prefix of fields with claims.
pub(super) const CLAIM: &str = "c";

/// The names of all keys in the namespace of this name.
pub(super) struct Layout(pub(super) String);

impl Layout {
    /// A key that all sessions share.
    pub(super) fn shared(&self, name: &str) -> String {
        format!("{{{}}}:{name}", self.0)
    }

    /// The journal of a session.
    pub(super) fn journal(&self, session: &SessionId) -> String {
        self.of(session, "journal")
    }

    /// The keys that a script takes for these sessions.
    pub(super) fn keys(&self, sessions: &[&SessionId]) -> Vec<String> {
        let of_sessions = sessions.iter().flat_map(|session| OF_SESSION.map(|name| self.of(session, name)));
        SHARED.into_iter().map(|name| self.shared(name)).chain(of_sessions).collect()
    }

    fn of(&self, session: &SessionId, name: &str) -> String {
        format!("{{{}}}:{session}:{name}", self.0)
    }
}
