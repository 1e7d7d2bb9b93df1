//! Events: every type of entry there is. What each is about, who may see it, what it changes and how it looks is with
//! its noun.

use crate::{
    access_token, agent, context_set, conversation, directive,
    entry::{Entry, Header},
    error::Error,
    fact::{Fact, Seen, read},
    file, idempotency, run, session,
    state::State,
    step,
    view::{Projected, View},
};

/// Lists the types of facts, and with them what every entry can be.
macro_rules! facts {
    ($($fact:ty),* $(,)?) => {
        /// Every type of entry that this program knows.
        pub const TYPES: &[&str] = &[$(<$fact>::TYPE),*];

        /// Takes an entry into the state. Refused where its type or version is not known, or its data is damaged; the
        /// state is then as it was.
        fn apply(state: &mut State, entry: &Entry) -> Result<(), Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => read::<$fact>(entry)?.apply(state, &entry.header),)*
                _ => return Err(unknown(entry)),
            }
            Ok(())
        }

        /// How an entry looks through `view`, before the rule that its audience must hold the viewer.
        fn project(entry: &Entry, view: &View<'_>) -> Result<Option<Seen>, Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => Ok(read::<$fact>(entry)?.project(view, &entry.header)),)*
                _ => Err(unknown(entry)),
            }
        }
    };
}

facts! {
    session::facts::Created,
    session::facts::Updated,
    agent::facts::Added,
    agent::facts::Updated,
    agent::facts::Removed,
    context_set::facts::Updated,
    context_set::facts::Deleted,
    conversation::facts::ThreadUpdated,
    conversation::facts::MessageAdded,
    conversation::facts::MessageChecked,
    directive::facts::Received,
    run::facts::Started,
    run::facts::Claimed,
    run::facts::Paused,
    run::facts::Resumed,
    run::facts::Ended,
    run::facts::TurnRequested,
    run::facts::TurnAnswered,
    run::facts::TurnFailed,
    step::facts::ToolUsed,
    step::facts::SequenceAdvanced,
    step::facts::StepEntered,
    step::facts::StepsReset,
    step::facts::UsageReported,
    file::facts::Added,
    file::facts::Removed,
    access_token::facts::Created,
    access_token::facts::Revoked,
    idempotency::facts::Answered,
    idempotency::record::Begun,
    idempotency::record::Settled,
}

fn unknown(entry: &Entry) -> Error {
    let Header { seq, v, kind, .. } = &entry.header;
    Error::WrittenByNewer { seq: *seq, kind: kind.to_string(), v: *v }
}

impl State {
    /// Takes in the next entry of the journal. Refused where it is not the next one, is newer than this program or
    /// damaged; the state is then as it was.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Error> {
        let seq = entry.header.seq;
        if seq != self.head.seq.next() {
            let detail = format!("it follows on entry {}", self.head.seq);
            return Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail });
        }
        apply(self, entry)?;
        self.head = entry.head();
        self.last_at = entry.header.at;
        Ok(())
    }

    /// The state that `entries` fold to, from the first one of a journal on.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Error> {
        let mut state = Self::default();
        entries.into_iter().try_for_each(|entry| state.apply(entry))?;
        Ok(state)
    }
}

impl View<'_> {
    /// What of an entry the viewer gets: nothing where it was not meant to see it then, or may not see what it is about
    /// now. The user gets all of it.
    pub fn project(&self, entry: &Entry) -> Result<Option<Projected>, Error> {
        let Header { seq, at, by, kind, subject, .. } = &entry.header;
        let projected = |kind: &str, data| Projected {
            seq: *seq,
            at: *at,
            by: by.clone(),
            kind: kind.into(),
            subject: subject.clone(),
            data,
        };
        if self.agent().is_none() {
            return Ok(Some(projected(kind, entry.data.clone())));
        }
        let seen = project(entry, self)?;
        Ok(seen.map(|seen| projected(seen.kind, seen.data.to_string().into())))
    }
}
