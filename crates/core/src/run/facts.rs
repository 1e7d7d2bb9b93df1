//! What can happen to runs.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    entry::Header,
    fact::{Description, Fact, MeantFor, Seen, Sentence, text},
    id::{AgentName, RunId, ThreadId},
    limits::Limits,
    rights::Share,
    run::{Halt, Origin, Run, RunKind, Status, Used, sight::no_answer},
    state::State,
    view::View,
};

/// A run was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub(super) run: RunId,
    pub(super) kind: RunKind,
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub(super) limits: Limits,
}

/// A run was taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    pub(super) run: RunId,
    pub(super) node: Arc<str>,
    pub(super) epoch: u64,
}

/// A run was paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paused {
    pub(super) run: RunId,
    pub(super) reason: String,
    /// Whose turn it was, where the reason is what came of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<AgentName>,
}

/// A paused run was resumed.
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

/// One of Callboard's own tools is about to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolStarted {
    /// The run.
    pub run: RunId,
    /// The agent that called it.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// The call.
    pub tool_call_id: String,
}

/// One of Callboard's own tools was done, or could not be. Its result is the message that follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFinished {
    /// The run.
    pub run: RunId,
    /// The agent that called it.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// The call.
    pub tool_call_id: String,
    /// What it used of models and pages.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub used: Used,
}

/// Implements what the facts of runs have in common. Their subject is the run. Their audience is the user and the manager; if
/// the session shares runs, all agents see the course of a run, but never the words of its turns.
macro_rules! run_fact {
    ($type:ty, $name:literal, $sentence:expr, $meant_for:expr, $texts:expr, $apply:expr) => {
        impl Fact for $type {
            const TYPE: &'static str = $name;

            const SENTENCE: Sentence = $sentence;

            const DESCRIPTION: Description = Description::of($texts);

            const MEANT_FOR: MeantFor = $meant_for;

            fn subject(&self) -> String {
                subject(&self.run).to_string()
            }

            fn apply(self, state: &mut State, header: &Header) {
                let apply: fn(Self, &mut State, &Header) = $apply;
                apply(self, state, header);
            }

            fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
                let may = Self::MEANT_FOR.has(view) && view.was_meant(header);
                if may { Seen::fact(&self.seen(view)) } else { None }
            }
        }
    };
}

/// What the entries of a run are about.
pub fn subject(run: &RunId) -> Arc<str> {
    format!("run:{run}").into()
}

/// For whom the course of a run is.
const SHARED: MeantFor = MeantFor::Shared(Share::Runs);

/// A fact as an agent sees it, without the words that it may not see.
trait SeenBy: Sized {
    fn seen(self, _: &View<'_>) -> Self {
        self
    }
}

impl SeenBy for Started {}
impl SeenBy for Resumed {}

impl SeenBy for Claimed {
    fn seen(self, view: &View<'_>) -> Self {
        if view.is_in_charge() { self } else { Self { node: "".into(), ..self } }
    }
}

impl SeenBy for Paused {
    fn seen(self, view: &View<'_>) -> Self {
        let Self { run, reason, agent } = self;
        let reason = match &agent {
            _ if !view.is_in_charge() => String::new(),
            Some(agent) if view.agent().is_some_and(|viewer| viewer != agent) => no_answer(agent),
            _ => reason,
        };
        Self { run, reason, agent: None }
    }
}

impl SeenBy for Ended {
    fn seen(self, view: &View<'_>) -> Self {
        let reason = self.halt.reason.filter(|_| view.is_in_charge());
        Self { halt: Halt { reason, ..self.halt }, ..self }
    }
}

impl SeenBy for ToolStarted {
    fn seen(self, view: &View<'_>) -> Self {
        let tool_call_id = if view.agent().is_none() { self.tool_call_id } else { String::new() };
        Self { tool_call_id, ..self }
    }
}

impl SeenBy for ToolFinished {
    fn seen(self, view: &View<'_>) -> Self {
        let tool_call_id = if view.agent().is_none() { self.tool_call_id } else { String::new() };
        Self { tool_call_id, ..self }
    }
}

const STARTED: Sentence = |it| format!("{} started run {}", it.by, it.text("run"));
run_fact!(Started, "run.started", STARTED, SHARED, &[], |started, state, header| {
    let run = Run {
        id: started.run.clone(),
        kind: started.kind,
        halt: None,
        halt_origin: None,
        due: started.kind.first(),
        due_origin: None,
        limits: started.limits,
        used: Used::default(),
        used_in_all: Used::default(),
        turns: 0,
        pending: None,
        tools_started: BTreeMap::new(),
        idle: 0,
        node: None,
        epoch: 0,
        started_at: header.at,
    };
    state.runs.newest = Some(Arc::new(run));
});

const CLAIMED: Sentence = |it| format!("{} drives run {}", it.text("node"), it.text("run"));
run_fact!(Claimed, "run.claimed", CLAIMED, SHARED, &[], |claimed, state, header| {
    state.runs.change(&claimed.run, |run| {
        (run.node, run.epoch) = (Some(claimed.node), claimed.epoch);
        // The time without a driver does not count as waiting for a model.
        if let Some(pending) = &mut run.pending {
            pending.at = header.at;
        }
    });
});

const PAUSED: Sentence = |it| format!("run {} was paused{}", it.text("run"), it.about("reason"));
run_fact!(Paused, "run.paused", PAUSED, SHARED, &[text("reason")], |paused, state, header| {
    let halt = Halt { status: Status::Paused, reason: Some(paused.reason) };
    let origin = paused.agent.map(|by| Origin::of(by.clone(), &ThreadId::of_agent(&by), header, state));
    state.runs.change(&paused.run, |run| (run.halt, run.halt_origin) = (Some(halt), origin));
});

const RESUMED: Sentence = |it| format!("{} resumed run {}", it.by, it.text("run"));
run_fact!(Resumed, "run.resumed", RESUMED, SHARED, &[], |resumed, state, _| {
    state
        .runs
        .change(&resumed.run, |run| (run.halt, run.halt_origin, run.used, run.idle) = (None, None, Used::default(), 0));
});

const ENDED: Sentence = |it| match (it.text("run"), &*it.text("status"), it.about("reason")) {
    (run, "completed", reason) => format!("run {run} is completed{reason}"),
    (run, status, reason) => format!("run {run} {status}{reason}"),
};
run_fact!(Ended, "run.ended", ENDED, SHARED, &[text("reason")], |ended, state, _| {
    state.runs.change(&ended.run, |run| (run.halt, run.halt_origin, run.pending) = (Some(ended.halt), None, None));
});

const TOOL_STARTED: Sentence = |it| format!("{} began to use {}", it.text("agent"), it.text("tool"));
run_fact!(ToolStarted, "tool.started", TOOL_STARTED, MeantFor::Manager, &[], |started, state, header| {
    let (call, seq) = (started.tool_call_id, header.seq);
    state.runs.change(&started.run, |run| {
        run.tools_started.insert(call, seq);
    });
});

const TOOL_FINISHED: Sentence = |it| format!("{} used {}", it.text("agent"), it.text("tool"));
run_fact!(ToolFinished, "tool.finished", TOOL_FINISHED, MeantFor::Manager, &[], |finished, state, _| {
    state.runs.change(&finished.run, |run| {
        run.tools_started.remove(&finished.tool_call_id);
        run.add(finished.used);
    });
});
