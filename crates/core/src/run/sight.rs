//! Who sees which words of a run. What is due, why a run is paused, and why a model gave no answer may contain words of a
//! thread. Only viewers who see that thread see them.

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    conversation::{Criteria, Threads, facts::audience_of},
    entry::Header,
    error::Error,
    id::{AgentName, Seq, ThreadId},
    run::{Due, Run},
    state::State,
    view::View,
};

/// The turn in which something was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The agent whose turn it was.
    pub by: AgentName,
    /// The entry with the words.
    pub seq: Seq,
    /// Who could see the thread of the words at that time.
    pub audience: Audience,
}

impl Origin {
    /// Something that was said in an unknown turn of `by`. Others see none of its words.
    pub(super) fn own(by: AgentName) -> Self {
        Self { by, seq: Seq::ZERO, audience: Audience::None }
    }

    /// Words of `thread` in the entry `header`.
    pub(super) fn of(by: AgentName, thread: &ThreadId, header: &Header, state: &State) -> Self {
        Self { by, seq: header.seq, audience: audience_of(state, thread) }
    }

    /// The origin of the words in `due`, which became due by a turn of `by` in the entry `header`.
    pub(super) fn of_due(due: &Due, by: AgentName, header: &Header, state: &State) -> Self {
        let Some(thread) = due.words_of() else { return Self { seq: header.seq, ..Self::own(by) } };
        match state.threads.get(&thread).and_then(|thread| thread.criteria.clone()) {
            Some(Criteria { seq, audience, .. }) if matches!(due, Due::Check { .. }) => Self { by, seq, audience },
            _ => Self::of(by, &thread, header, state),
        }
    }

    /// Whether `agent` sees the words of `thread`.
    fn shows(&self, agent: &AgentName, thread: &ThreadId, threads: &Threads) -> bool {
        self.audience.contains(agent) && threads.reach(thread, agent, self.seq)
    }
}

impl Run {
    /// The agent whose turn is due, and what is due as that gets it in its task; none if the run waits. What another agent said
    /// wrong is not for it to mend.
    pub(super) fn asked(&self, state: &State) -> Result<Option<(AgentName, Due)>, Error> {
        let Some(turn) = self.due.turn() else { return Ok(None) };
        let (agent, origin) = (turn.agent(&state.team)?, self.due_origin.as_ref());
        let due = match &self.due {
            Due::Repair { .. } if origin.is_none_or(|origin| origin.by != agent) => Due::Directive,
            due => due.without_hidden(&agent, origin, &state.threads),
        };
        Ok(Some((agent, due)))
    }
}

impl Due {
    /// The same without what `agent` may not see. An agent is not shown its own words again, since they may be in sets that
    /// are hidden from it now.
    pub(super) fn seen_by(&self, agent: &AgentName, origin: Option<&Origin>, threads: &Threads) -> Self {
        let mut seen = self.without_hidden(agent, origin, threads);
        seen.keep_outcome(origin.is_some_and(|origin| origin.by == *agent));
        seen
    }

    /// Removes what its author said, and its faults unless the viewer is the author.
    fn keep_outcome(&mut self, is_author: bool) {
        if let Self::Repair { said, faults } = self {
            *said = "".into();
            faults.retain(|_| is_author);
        } else if let Self::Tools { then: Some(then), .. } = self {
            then.keep_outcome(is_author);
        }
    }

    /// The thread whose words it contains, if any.
    fn words_of(&self) -> Option<ThreadId> {
        match self {
            Self::Form { .. } => Some(ThreadId::main()),
            Self::Check { thread, .. } => Some(thread.clone()),
            Self::Tools { agent, thread, .. } => Some(Self::called_in(agent, thread.as_ref())),
            Self::Directive | Self::Answered { .. } | Self::Repair { .. } | Self::Work { .. } => None,
            Self::Build | Self::User { .. } => None,
        }
    }

    /// The same without words of a thread that `agent` does not see.
    fn without_hidden(&self, agent: &AgentName, origin: Option<&Origin>, threads: &Threads) -> Self {
        let mut due = self.clone();
        let Some(thread) = self.words_of() else { return due };
        if origin.is_some_and(|origin| origin.shows(agent, &thread, threads)) {
            return due;
        }
        if let Self::Tools { calls, own, then, .. } = &mut due {
            (*calls, *own, *then) = Default::default();
        } else if let Self::Form { request: words } | Self::Check { criteria: words, .. } = &mut due {
            *words = "".into();
        }
        due
    }
}

impl View<'_> {
    /// What is due in `run`, as far as the viewer may see it. Workers see nothing of it.
    pub fn due(&self, run: &Run) -> Option<Due> {
        if !self.is_in_charge() || run.has_ended() {
            return None;
        }
        Some(match self.agent() {
            Some(agent) => run.due.seen_by(agent, run.due_origin.as_ref(), &self.state.threads),
            None => run.due.clone(),
        })
    }

    /// Why `run` is paused or has ended, as far as the viewer may see it. Workers see nothing of it.
    pub fn reason(&self, run: &Run) -> Option<String> {
        let reason = run.halt.as_ref().filter(|_| self.is_in_charge())?.reason.clone()?;
        Some(match &run.halt_origin {
            Some(origin) if !self.sees_turn(origin) => no_answer(&origin.by),
            _ => reason,
        })
    }

    /// Whether the viewer gets the pieces of the answers of `agent`'s model.
    pub fn hears(&self, agent: &AgentName) -> bool {
        let audience = || audience_of(self.state, &ThreadId::of_agent(agent));
        self.is_in_charge() && self.agent().is_none_or(|viewer| viewer == agent || audience().contains(viewer))
    }

    /// Whether the viewer sees what was said in a turn.
    pub(super) fn sees_turn(&self, origin: &Origin) -> bool {
        let own = ThreadId::of_agent(&origin.by);
        let sees = |viewer: &AgentName| *viewer == origin.by || origin.shows(viewer, &own, &self.state.threads);
        self.is_in_charge() && self.agent().is_none_or(sees)
    }
}

/// Why a run is paused, without the words of the model's endpoint.
pub(super) fn no_answer(agent: &AgentName) -> String {
    format!("{agent} got no answer")
}
