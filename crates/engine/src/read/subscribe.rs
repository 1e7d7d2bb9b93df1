//! Streams: every later entry that a viewer may see, once, in order.

use std::collections::VecDeque;

use callboard_core::{
    entry::{Entry, Head},
    error::Error as Refusal,
    id::Seq,
    rewriting::changed_by,
    state::State,
    view::{Projected, View},
    viewer::Viewer,
};
use tokio::sync::watch;

use crate::{
    error::Error,
    journal::PAGE,
    live::job::{EndReason, Published},
    read::filter::Filter,
    session::Session,
    sizes::sizes,
};

/// A stream of entries that stays open. It reads at its own pace: who is slow holds up nobody and misses nothing. As
/// long as it is open, its session is in use and does not expire.
pub struct Subscription {
    session: Session,
    viewer: Viewer,
    filter: Filter,
    /// The last entry that was looked at.
    looked_at: Head,
    published: watch::Receiver<Published>,
    ready: VecDeque<Projected>,
}

impl Session {
    /// Reads on after `after`, or after the head where it is absent, and goes on as entries come. `after` may not be
    /// beyond the head.
    pub async fn subscribe(&self, viewer: Viewer, after: Option<Seq>, filter: Filter) -> Result<Subscription, Error> {
        // From now on what others write is looked for, too.
        let published = self.live.published();
        let state = self.state().await?;
        View::new(&state, &viewer, sizes())?;
        let looked_at = self.head_at(&state, after.unwrap_or(state.head.seq)).await?;
        Ok(Subscription { session: self.clone(), viewer, filter, looked_at, published, ready: VecDeque::new() })
    }

    /// Whether an entry after `after` up to `through` changed what an older one says of which the viewer sees all words. Where it
    /// sees only some of them, the change may be in the others, and it must not learn of that.
    pub async fn sees_change(&self, viewer: &Viewer, after: Seq, through: Seq) -> Result<bool, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        for entry in self.changing(after, through).await? {
            let changed: Vec<_> = changed_by(&entry)?.iter().map(|changed| changed.seq).collect();
            for seqs in changed.chunks(PAGE) {
                for older in self.live.store.read_each(self.id(), seqs).await? {
                    if view.sees_all_words(&older)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// The head of the journal when `seq` was its last entry.
    async fn head_at(&self, state: &State, seq: Seq) -> Result<Head, Error> {
        let head = state.head.seq;
        if seq > head {
            return Err(Refusal::beyond_head(seq, head).into());
        }
        if seq == head {
            return Ok(state.head);
        }
        if seq == Seq::ZERO {
            return Ok(Head::default());
        }
        let entry = self.entry(seq).await?;
        self.live.confirm(state).await?;
        entry.as_ref().map(Entry::head).ok_or_else(|| self.live.gone())
    }
}

impl Subscription {
    /// The next entry; `None` once the session is gone: deleted, expired, or another one under its name. Dropping the
    /// future loses nothing. After an error it goes on where it was.
    pub async fn next(&mut self) -> Result<Option<Projected>, Error> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            let state = match self.published.borrow_and_update().clone() {
                Ok(state) => state,
                Err(EndReason::Gone) => return Ok(None),
                Err(EndReason::Closed) => return Err(Error::Closed),
            };
            if self.looked_at.seq < state.head.seq {
                if !self.read_on(&state).await? {
                    return Ok(None);
                }
            } else if self.published.changed().await.is_err() {
                return Err(Error::Closed);
            }
        }
    }

    /// The last entry that was looked at, whether or not it was given: reading on from here misses nothing.
    pub fn cursor(&self) -> Seq {
        self.ready.front().map_or(self.looked_at.seq, |entry| entry.seq.previous())
    }

    /// Reads a page of what follows. There is none where the journal has gone, though nobody has said so yet.
    async fn read_on(&mut self, state: &State) -> Result<bool, Error> {
        let entries = self.session.live.entries(self.looked_at, state.head.seq).await?;
        let Some(last) = entries.last() else {
            return match self.session.live.refresh().await {
                Ok(_) => {
                    let what = format!("the entry after {}", self.looked_at.seq);
                    Err(Error::damaged(what, "it does not follow on the one before"))
                }
                Err(Error::NoSession { .. }) => Ok(false),
                Err(error) => Err(error),
            };
        };
        let view = View::new(state, &self.viewer, sizes())?;
        let mut ready = VecDeque::new();
        for entry in &entries {
            ready.extend(self.filter.project(&view, entry)?);
        }
        (self.ready, self.looked_at) = (ready, last.head());
        Ok(true)
    }
}
