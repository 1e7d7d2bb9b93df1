//! What can happen to runs.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    entry::Header,
    fact::{Fact, Seen},
    id::{AgentName, RunId},
    run::{Due, Halt, Kind, Limits, Pending, PromptRecord, Run, Status, Usage, Used},
    session::Share,
    state::State,
    view::View,
};

/// A run was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub(super) run: RunId,
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub(super) limits: Limits,
}

/// A run was taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    pub(super) run: RunId,
    pub(super) node: Arc<str>,
    pub(super) epoch: u64,
}

/// A run was held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paused {
    pub(super) run: RunId,
    pub(super) reason: String,
}

/// A held run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    pub(super) run: RunId,
}

/// A run ended: it is `completed`, `failed` or `cancelled`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub(super) run: RunId,
    #[serde(flatten)]
    pub(super) halt: Halt,
}

/// A model is about to be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRequested {
    /// The run.
    pub run: RunId,
    /// The number of the turn in its run, from 1.
    pub turn: u64,
    /// Whose model it is.
    pub agent: AgentName,
    /// What it is asked for.
    pub due: Due,
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt: PromptRecord,
}

/// A model answered. What it said is here only where it did not become a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswered {
    /// The run.
    pub run: RunId,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<crate::text::Text>,
    /// What it used.
    pub usage: Usage,
    /// Whether it was cut off at the length it may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// What is due now.
    pub due: Due,
    /// Whether nothing came of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

/// A model gave no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// The run.
    pub run: RunId,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// Why.
    pub error: String,
}

/// Gives the facts of runs what they have in common: they are about the run, and for the user and the manager, or for
/// all where the session shares runs.
macro_rules! run_fact {
    ($type:ty, $name:literal, $apply:expr) => {
        impl Fact for $type {
            const TYPE: &'static str = $name;

            fn subject(&self) -> String {
                format!("run:{}", self.run)
            }

            fn audience(&self, before: &State) -> Audience {
                let shared = before.session.settings.share.contains(&Share::Runs);
                if shared { Audience::All } else { before.team.managers() }
            }

            fn apply(self, state: &mut State, header: &Header) {
                let apply: fn(Self, &mut State, &Header) = $apply;
                apply(self, state, header);
            }

            fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
                // A run that is shared shows its course to workers, not what was said in it.
                let worded = matches!(Self::TYPE, "turn.answered" | "turn.requested");
                let may = view.is_in_charge() || (view.state.session.settings.share.contains(&Share::Runs) && !worded);
                if may && view.was_meant(header) { Seen::fact(&self.outcome()) } else { None }
            }
        }
    };
}

/// A fact as an agent sees it. The manager sees the outcomes of what it said, not the contents: they may have gone into
/// sets that are hidden from it since.
trait OutcomeOnly: Sized {
    fn outcome(self) -> Self {
        self
    }
}

impl OutcomeOnly for Started {}
impl OutcomeOnly for Claimed {}
impl OutcomeOnly for Paused {}
impl OutcomeOnly for Resumed {}
impl OutcomeOnly for Ended {}
impl OutcomeOnly for TurnFailed {}

impl OutcomeOnly for TurnRequested {
    fn outcome(self) -> Self {
        Self { due: self.due.outcome(), ..self }
    }
}

impl OutcomeOnly for TurnAnswered {
    fn outcome(self) -> Self {
        Self { said: None, due: self.due.outcome(), ..self }
    }
}

impl OutcomeOnly for Due {
    fn outcome(self) -> Self {
        match self {
            Self::Repair { faults, .. } => Self::Repair { said: "".into(), faults },
            due => due,
        }
    }
}

run_fact!(Started, "run.started", |started, state, header| {
    let run = Run {
        id: started.run.clone(),
        kind: started.kind,
        halt: None,
        due: Due::Directive,
        limits: started.limits,
        used: Used::default(),
        used_in_all: Used::default(),
        turns: 0,
        requested: BTreeMap::new(),
        pending: None,
        idle: 0,
        node: None,
        epoch: 0,
        started_at: header.at,
    };
    state.runs.0.insert_mut(started.run, Arc::new(run));
});

run_fact!(Claimed, "run.claimed", |claimed, state, header| {
    state.runs.change(&claimed.run, |run| {
        (run.node, run.epoch) = (Some(claimed.node), claimed.epoch);
        // The time in which nobody drove it is nobody's waiting for a model.
        if let Some(pending) = &mut run.pending {
            pending.at = header.at;
        }
    });
});

run_fact!(Paused, "run.paused", |paused, state, _| {
    let halt = Halt { status: Status::Paused, reason: Some(paused.reason) };
    state.runs.change(&paused.run, |run| run.halt = Some(halt));
});

run_fact!(Resumed, "run.resumed", |resumed, state, _| {
    state.runs.change(&resumed.run, |run| (run.halt, run.used, run.idle) = (None, Used::default(), 0));
});

run_fact!(Ended, "run.ended", |ended, state, _| {
    state.runs.change(&ended.run, |run| (run.halt, run.pending) = (Some(ended.halt), None));
});

run_fact!(TurnRequested, "turn.requested", |requested, state, header| {
    let pending = Pending { turn: requested.turn, requested: header.seq, at: header.at };
    state.runs.change(&requested.run, |run| {
        (run.turns, run.pending) = (requested.turn, Some(pending));
        run.requested.insert(requested.agent, header.seq);
    });
});

run_fact!(TurnAnswered, "turn.answered", |answered, state, header| {
    if !state.session.settings.steps.is_empty() {
        Arc::make_mut(&mut state.steps).count(answered.usage);
    }
    state.runs.change(&answered.run, |run| {
        run.count(answered.usage, header.at);
        run.due = answered.due;
        run.idle = match (answered.idle, &run.due) {
            (true, _) => run.idle.saturating_add(1),
            // Whether anything comes of a directive shows when it was mended.
            (false, Due::Repair { .. }) => run.idle,
            (false, _) => 0,
        };
    });
});

run_fact!(TurnFailed, "turn.failed", |failed, state, header| {
    state.runs.change(&failed.run, |run| run.count(Usage::default(), header.at));
});
