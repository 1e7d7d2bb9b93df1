//! States of earlier entries, so that looking at one place of a long journal after the other does not fold it from its
//! start each time.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, OnceLock},
};

use callboard_core::{id::Seq, state::State};

use crate::lock::lock;

/// How many entries are between two states at least.
const APART: u64 = 1024;

/// Folding so many entries takes no longer than looking for a snapshot.
pub(crate) const NEAR: u64 = 2 * APART;

/// The most states in memory. With one more, every second one goes, and they are twice as far apart from then on.
const MOST: usize = 128;

/// Some earlier states of a session. Boxed, since nobody looks back at most sessions.
#[derive(Default)]
pub(crate) struct PastStates(OnceLock<Box<Mutex<Past>>>);

struct Past {
    /// The entry that last changed what older ones say. States of before are not true any more.
    erased: Seq,
    apart: u64,
    states: BTreeMap<Seq, State>,
}

impl PastStates {
    /// The newest known state up to the entry `at`, as of the present state `now`.
    pub(crate) fn up_to(&self, at: Seq, now: &State) -> Option<State> {
        let past = self.past(now);
        past.states.range(..=at).next_back().map(|(_, state)| state.clone())
    }

    /// Collects states while a journal is folded, as far apart as they are kept.
    pub(crate) fn collect(&self, now: &State) -> Collected {
        Collected { apart: self.past(now).apart, states: Vec::new() }
    }

    /// Keeps what was collected.
    pub(crate) fn keep(&self, collected: Collected, now: &State) {
        let mut past = self.past(now);
        past.states.extend(collected.states.into_iter().map(|state| (state.head.seq, state)));
        while past.states.len() > MOST {
            let mut is_odd = false;
            past.states.retain(|_, _| {
                is_odd = !is_odd;
                !is_odd
            });
            past.apart = past.apart.saturating_mul(2);
        }
    }

    fn past(&self, now: &State) -> MutexGuard<'_, Past> {
        let none = |erased| Past { erased, apart: APART, states: BTreeMap::new() };
        let past = self.0.get_or_init(|| Box::new(Mutex::new(none(now.erased))));
        let mut past = lock(past);
        if past.erased != now.erased {
            *past = none(now.erased);
        }
        past
    }
}

/// States that were folded on the way to another one.
pub(crate) struct Collected {
    apart: u64,
    states: Vec<State>,
}

impl Collected {
    /// Whether there is nothing to keep.
    pub(crate) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Takes a state, unless it is near the one before.
    pub(crate) fn take(&mut self, state: &State) {
        let before = self.states.last().map_or(Seq::ZERO, |state| state.head.seq);
        if state.head.seq.0.saturating_sub(before.0) >= self.apart {
            self.states.push(state.clone());
        }
    }
}
