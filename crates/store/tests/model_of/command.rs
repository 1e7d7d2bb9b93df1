//! What can be asked of a store. The ranges are small, so that commands meet.

use proptest::{collection::vec, option, prelude::*, sample::select};

/// A head that an append expects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// The head that is there.
    Right,
    /// The one that a new session has.
    Nothing,
    /// One entry less.
    Older,
    /// The number that is there with another tag.
    OtherTag,
}

/// An entry to write.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) kind: u8,
    pub(crate) subject: u8,
    pub(crate) by: &'static str,
    pub(crate) audience: &'static str,
    pub(crate) time: Option<i64>,
    pub(crate) keys: Vec<u8>,
    pub(crate) text: String,
}

/// Times are in seconds after the beginning; sessions, types, subjects, keys and values are small numbers.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Append {
        session: u8,
        expected: Expected,
        entries: Vec<Written>,
        values: Vec<u8>,
        rewrites: Vec<u64>,
        drops: Vec<u8>,
        expires_in: Option<i64>,
        lease_change: Option<Option<(u8, u64)>>,
    },
    Lease {
        holder: u8,
        lasts: u64,
        takes: bool,
    },
    Touch {
        session: u8,
        expires_in: Option<i64>,
    },
    Row {
        session: u8,
    },
    Read {
        session: u8,
        from: u64,
        through: u64,
        types: Vec<u8>,
        subjects: Vec<u8>,
        backward: bool,
        limit: usize,
    },
    ReadByTime {
        session: u8,
        filter: TimeFilter,
    },
    Find {
        session: u8,
        key: u8,
    },
    Value {
        session: u8,
        value: u8,
    },
    Sessions {
        after: Option<u8>,
        limit: usize,
    },
    Delete {
        session: u8,
    },
    Sweep {
        limit: usize,
    },
    PutSnapshot {
        session: u8,
        seq: u64,
        state: u8,
    },
    Snapshot {
        session: u8,
        at: u64,
    },
    Advance {
        seconds: i64,
    },
    Reopen,
}

/// A query by time.
#[derive(Clone, Debug)]
pub(crate) struct TimeFilter {
    pub(crate) kind: u8,
    pub(crate) subject: u8,
    pub(crate) after: Option<i64>,
    pub(crate) before: Option<i64>,
    pub(crate) from: Option<(i64, u64)>,
    pub(crate) backward: bool,
    pub(crate) limit: usize,
}

const SESSIONS: u8 = 3;
const WORDS: u8 = 4;
const KEYS: u8 = 24;

/// Any command; those that fill journals more often than those that empty them.
pub(crate) fn command() -> impl Strategy<Value = Command> {
    let session = 0..SESSIONS;
    prop_oneof![
        12 => append(),
        2 => (session.clone(), expires_in()).prop_map(|(session, expires_in)| Command::Touch { session, expires_in }),
        2 => session.clone().prop_map(|session| Command::Row { session }),
        6 => read(),
        4 => (session.clone(), time_filter()).prop_map(|(session, filter)| Command::ReadByTime { session, filter }),
        2 => (session.clone(), 0..KEYS).prop_map(|(session, key)| Command::Find { session, key }),
        1 => (session.clone(), 0..3_u8).prop_map(|(session, value)| Command::Value { session, value }),
        1 => (option::of(session.clone()), limit()).prop_map(|(after, limit)| Command::Sessions { after, limit }),
        1 => session.clone().prop_map(|session| Command::Delete { session }),
        1 => limit().prop_map(|limit| Command::Sweep { limit }),
        2 => (session.clone(), 0..12_u64, any::<u8>())
            .prop_map(|(session, seq, state)| Command::PutSnapshot { session, seq, state }),
        2 => (session, 0..12_u64).prop_map(|(session, at)| Command::Snapshot { session, at }),
        4 => (0..3_u8, lasts(), any::<bool>())
            .prop_map(|(holder, lasts, takes)| Command::Lease { holder, lasts, takes }),
        2 => (0..30_i64).prop_map(|seconds| Command::Advance { seconds }),
        1 => Just(Command::Reopen),
    ]
}

fn append() -> impl Strategy<Value = Command> {
    let expected = prop_oneof![
        12 => Just(Expected::Right),
        1 => Just(Expected::Nothing),
        1 => Just(Expected::Older),
        1 => Just(Expected::OtherTag),
    ];
    let lease_change = option::of(option::of((0..3_u8, lasts())));
    // Most batches rewrite nothing, and of those that do most rewrite what is there.
    let rewrites = prop_oneof![4 => Just(vec![]), 2 => vec(1..6_u64, 1..2), 1 => vec(0..12_u64, 1..3)];
    let drops = prop_oneof![4 => Just(vec![]), 1 => vec(0..3_u8, 1..3)];
    (0..SESSIONS, expected, vec(written(), 0..6), vec(0..3_u8, 0..2), (rewrites, drops), expires_in(), lease_change)
        .prop_map(|(session, expected, entries, values, (rewrites, drops), expires_in, lease_change)| Command::Append {
            session,
            expected,
            entries,
            values,
            rewrites,
            drops,
            expires_in,
            lease_change,
        })
}

/// How many seconds a lease lasts.
fn lasts() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 4 => 1..20_u64]
}

fn written() -> impl Strategy<Value = Written> {
    let by = select(vec!["user", "system", "agent:a", "agent:b c"]);
    let audience = select(vec!["all", "all", "none", "a", "a, b c"]);
    let keys = prop_oneof![3 => Just(vec![]), 1 => vec(0..KEYS, 1..3)];
    let text = prop_oneof![Just(String::new()), ".{0,12}", Just("nul\0 cr\r \u{1f3ad}".to_owned())];
    (0..WORDS, 0..WORDS, by, audience, option::of(0..5_i64), keys, text).prop_map(
        |(kind, subject, by, audience, time, keys, text)| Written { kind, subject, by, audience, time, keys, text },
    )
}

fn read() -> impl Strategy<Value = Command> {
    let words = || prop_oneof![Just(vec![]), vec(0..=WORDS, 1..4)];
    (0..SESSIONS, 0..8_u64, 0..20_u64, words(), words(), any::<bool>(), limit()).prop_map(
        |(session, from, through, types, subjects, backward, limit)| Command::Read {
            session,
            from,
            through,
            types,
            subjects,
            backward,
            limit,
        },
    )
}

fn time_filter() -> impl Strategy<Value = TimeFilter> {
    let bound = || option::of(-1..6_i64);
    (0..WORDS, 0..WORDS, bound(), bound(), option::of((-1..6_i64, 0..12_u64)), any::<bool>(), limit()).prop_map(
        |(kind, subject, after, before, from, backward, limit)| TimeFilter {
            kind,
            subject,
            after,
            before,
            from,
            backward,
            limit,
        },
    )
}

/// An hour, or a time that comes soon, or has come, or never does.
fn expires_in() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![3 => Just(None), 3 => Just(Some(3600)), 2 => (-1..40_i64).prop_map(Some)]
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![0..4_usize, Just(usize::MAX)]
}
