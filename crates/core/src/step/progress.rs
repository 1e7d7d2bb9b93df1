//! Progress: where a team is among its steps. It is derived from the journal and stays small: of the tools that were
//! used it holds the newest one by one, and of each when it was used last.

use std::{collections::VecDeque, sync::Arc};

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use super::{LOG, Step, Steps};
use crate::{count::Usage, id::StepName};

/// Where a team is among its steps, since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The step that was entered; `None` where it is the default one.
    pub(super) entered: Option<StepName>,
    /// How many tools of the active step's sequence were used; as many as it has where it is finished.
    pub index: usize,
    /// The newest tools that were used, at most [`LOG`], oldest first.
    pub log: VecDeque<Arc<str>>,
    /// How many tools were used, also those that are not remembered one by one.
    pub used: u64,
    /// Of each tool, the how-many-th it was when it was used last.
    pub(super) last: RedBlackTreeMapSync<Arc<str>, u64>,
    /// For each step that has finished its sequence since it was entered: how many tools had been used by then.
    pub(super) finished: RedBlackTreeMapSync<StepName, u64>,
    /// What models used.
    pub usage: Usage,
}

/// What a change does to the place of a team among its steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Move {
    /// The step that was active has finished its sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) finished: Option<StepName>,
    /// The step that is entered, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entered: Option<StepName>,
    /// How many tools of the active step's sequence were used then.
    pub(super) sequence_index: usize,
}

impl Progress {
    /// The step that is active, if one is.
    pub fn active<'a>(&self, steps: &'a Steps) -> Option<&'a Step> {
        match &self.entered {
            Some(name) => steps.get(name),
            None => steps.default_step(),
        }
    }

    /// The tool that is due by the sequence of the active step, if there is one that is not finished.
    pub fn due<'a>(&self, steps: &'a Steps) -> Option<&'a Arc<str>> {
        self.active(steps)?.sequence.get(self.index)
    }

    /// The step that is to be active: the first in order whose conditions all hold, else the one that is. One that has
    /// finished its sequence is not entered again by what was used before.
    pub(super) fn choice<'a>(&self, steps: &'a Steps) -> Option<&'a Step> {
        let holds = |step: &Step, since: u64| step.conditions.iter().all(|one| one.holds(step, self, since));
        let is_entered = |step: &&Step| {
            let anew = match self.finished.get(&step.name) {
                None => true,
                Some(finished) => *finished < self.used && holds(step, *finished),
            };
            !step.conditions.is_empty() && anew && holds(step, 0)
        };
        steps.iter().find(is_entered).or_else(|| self.active(steps))
    }

    /// Whether `tool` was used after the first `since`.
    pub(super) fn was_used(&self, tool: &str, since: u64) -> bool {
        self.last.get(tool).is_some_and(|last| *last > since)
    }

    /// Whether the newest tools are those of `sequence`, all used after the first `since`.
    pub(super) fn ends_with(&self, sequence: &[Arc<str>], since: u64) -> bool {
        let fresh = self.used.saturating_sub(since);
        let newest = self.log.iter().rev().take(sequence.len());
        u64::try_from(sequence.len()).is_ok_and(|length| length <= fresh) && newest.eq(sequence.iter().rev())
    }

    /// Records that a tool was used.
    pub(super) fn log(&mut self, tool: Arc<str>) {
        self.used = self.used.saturating_add(1);
        self.last.insert_mut(tool.clone(), self.used);
        self.log.push_back(tool);
        if self.log.len() > LOG {
            self.log.pop_front();
        }
    }

    /// Moves to where the team is now.
    pub(super) fn go(&mut self, step: Move) {
        if let Some(finished) = step.finished {
            self.finished.insert_mut(finished, self.used);
        }
        if let Some(entered) = step.entered {
            self.finished.remove_mut(&entered);
            self.entered = Some(entered);
        }
        self.index = step.sequence_index;
    }

    /// Adds what models used.
    pub(crate) fn count(&mut self, usage: Usage) {
        self.usage.add(usage);
    }

    /// Adapts to changed steps: a step that was removed is no longer active.
    pub(crate) fn adapt(&mut self, steps: &Steps) {
        if steps.is_empty() {
            *self = Self::default();
        }
        if self.entered.as_ref().is_some_and(|name| steps.get(name).is_none()) {
            (self.entered, self.index) = (None, 0);
        }
        self.index = self.active(steps).map_or(0, |step| self.index.min(step.sequence.len()));
    }
}
