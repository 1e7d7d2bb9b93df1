//! What was said, as one reader was told it: in groups that belong together, and with the place where its task begins.

use super::{
    Lacking, Request,
    speech::{Kind, Speech},
};
use crate::{agent::Agent, tail::Tail, text::Values, view::View};

/// What is said together: a call with its results, or one thing alone.
pub(super) type Group = Vec<Speech>;

/// How many things may be said between a call and its result, at the most. What comes later stands alone, so that nobody
/// has to read on for a call that there never was.
const REACH: usize = 64;

/// What was said, in groups, and where the task begins.
pub(super) struct Told {
    groups: Vec<Group>,
    /// The group with which the task begins; behind the last one where there is none.
    task: usize,
    /// The first group that stays as it is when older entries are read.
    settled: usize,
}

impl Told {
    /// Reads the tail with the reader's eyes. The task is what the reader has not answered: all from the last message
    /// that is somebody else's; or what `request` gives, which comes after all that was said.
    pub(super) fn read(
        view: &View<'_>,
        agent: &Agent,
        request: &Request<'_>,
        tail: &Tail,
        values: &Values,
    ) -> Result<Self, Lacking> {
        let mut gathered = Gathered::default();
        let mut lacking = Vec::new();
        for item in tail.items.iter().filter(|item| item.is_seen(view)) {
            match Speech::of(item, &agent.name, request.thread, values) {
                Ok(Some(speech)) => gathered.add(speech),
                Ok(None) => {}
                Err(hash) => lacking.push(hash),
            }
        }
        if !lacking.is_empty() {
            return Err(Lacking::Values(lacking));
        }
        let Gathered { groups, unsettled, .. } = gathered;
        let settled = if tail.complete { 0 } else { unsettled };
        let task = match groups.iter().rposition(is_foreign) {
            _ if request.task.is_some() => groups.len(),
            Some(at) if at >= settled => at,
            None if tail.complete => groups.len(),
            _ => return Err(Lacking::Older),
        };
        Ok(Self { groups, task, settled })
    }

    /// All groups, oldest first.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What was said before the task.
    pub(super) fn before(&self) -> &[Group] {
        self.groups.get(..self.task).unwrap_or_default()
    }

    /// What the reader has not answered.
    pub(super) fn task(&self) -> &[Group] {
        self.groups.get(self.task..).unwrap_or_default()
    }

    /// How many groups, from the oldest on, may be others when older entries are read.
    pub(super) fn unsettled(&self) -> usize {
        self.settled
    }
}

/// Whether a group is what somebody else said.
fn is_foreign(group: &Group) -> bool {
    group.first().is_some_and(|first| !first.mine && matches!(first.kind, Kind::Said { .. }))
}

/// Groups in the making.
#[derive(Default)]
struct Gathered {
    groups: Vec<Group>,
    /// How many things had been said before each group.
    starts: Vec<usize>,
    said: usize,
    /// The group behind the last result whose call may be older than what was read.
    unsettled: usize,
}

impl Gathered {
    /// A result joins its call, also where other things were said between them; what else is said stands alone.
    fn add(&mut self, speech: Speech) {
        let place = self.said;
        self.said += 1;
        if let Some(id) = speech.result_of() {
            let near = self.groups.iter_mut().zip(&self.starts).rev().take_while(|(_, start)| place - **start <= REACH);
            let mut calling = near.filter(|(group, _)| waits_for(group, id));
            if let Some((group, _)) = calling.next() {
                group.push(speech);
                return;
            }
            if place < REACH {
                self.unsettled = self.groups.len() + 1;
            }
        }
        self.groups.push(vec![speech]);
        self.starts.push(place);
    }
}

/// Whether a group makes a call of this id that has no result yet.
fn waits_for(group: &Group, id: &str) -> bool {
    let calls = group.first().map(Speech::calls).unwrap_or_default().iter().filter(|call| call.id == id);
    calls.count() > group.iter().filter(|speech| speech.result_of() == Some(id)).count()
}
