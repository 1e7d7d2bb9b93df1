//! Sharing a budget: who gets how much of what is left when everyone has the least that it needs.

use super::profile::{Allowed, Elastic, Profile};
use crate::count::Tokens;

/// What a part has use for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// What it cannot do without.
    pub(super) least: Tokens,
    /// What it needs to show everything.
    pub(super) whole: Tokens,
}

/// What sets and task get.
pub(super) struct Grants {
    pub(super) sets: Tokens,
    pub(super) task: Tokens,
}

/// What the elastic parts claim.
pub(super) struct Claims {
    pub(super) sets: Claim,
    /// What the history cannot do without; for more than that it takes what it is given.
    pub(super) history: Tokens,
    pub(super) task: Claim,
}

impl Claims {
    /// What they cannot do without together.
    pub(super) fn least(&self) -> Tokens {
        self.sets.least + self.history + self.task.least
    }

    /// Gives everyone its least, and then, in the order of their priorities, what they have use for and may have of
    /// what `available` leaves. `excerpt` says how much of a limit the history uses.
    pub(super) fn grant<E>(
        &self,
        (profile, budget): (&Profile, Tokens),
        available: Tokens,
        mut excerpt: impl FnMut(Tokens) -> Result<Tokens, E>,
    ) -> Result<Grants, E> {
        let mut rest = available.minus(self.least());
        let mut grants = Grants { sets: self.sets.least, task: self.task.least };
        let mut order = [Elastic::Task, Elastic::ContextSets, Elastic::History];
        order.sort_by_key(|part| std::cmp::Reverse(profile.allowed(*part, budget).priority));
        for part in order {
            let Allowed { max, .. } = profile.allowed(part, budget);
            let more = |claim: &Claim| claim.whole.min(max).minus(claim.least).min(rest);
            let taken = match part {
                Elastic::ContextSets => more(&self.sets),
                Elastic::Task => more(&self.task),
                Elastic::History => {
                    let limit = self.history.max(max.min(self.history + rest));
                    excerpt(limit)?.minus(self.history)
                }
            };
            match part {
                Elastic::ContextSets => grants.sets += taken,
                Elastic::Task => grants.task += taken,
                Elastic::History => {}
            }
            rest = rest.minus(taken);
        }
        Ok(grants)
    }
}
