//! What can happen to turns: those of runs, and those that are taken outside of runs by whoever drives models itself.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    calibration::Report,
    conversation::MessageReceipt,
    count::{Counted, Usage},
    entry::Header,
    fact::{Description, Fact, Seen, Sentence, TextField, json, text},
    id::{AgentName, RunId, Seq, ThreadId},
    prompt::{Format, LayoutName, PromptSpec, observed::Observed},
    rights::Share,
    run::{Asked, Due, Origin, Pending, PromptRecord, facts::subject},
    state::State,
    view::View,
};

/// A model is about to be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRequested {
    /// The run, if it is a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The number of the turn in its run, from 1. Outside of runs it is the number of this entry.
    pub turn: u64,
    /// Whose model it is.
    pub agent: AgentName,
    /// The thread in which the agent speaks. In a run it follows from what is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// What it is asked for in a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Due>,
    /// The model. Outside of runs it need not be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Callboard's own tools that were offered besides those of the agent.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<Arc<str>>,
    /// The prompt.
    pub prompt: PromptRecord,
    /// The server that asks the model itself for a program, outside of runs. Where it is gone, there will be no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Arc<str>>,
}

/// A model answered. What it said is here only where it did not become a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswered {
    /// The run, if it is a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<crate::text::Text>,
    /// What it used. Outside of runs it need not be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the usage teaches about the tokens of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Whether it was cut off at the length it may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// What is due now in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Due>,
    /// Whether nothing came of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
    /// The message that it became outside of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageReceipt>,
}

/// A model gave no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// The run, if it is a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The turn.
    pub turn: u64,
    /// Whose model it was.
    pub agent: AgentName,
    /// Why.
    pub error: String,
    /// What it used, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// The words of a turn: what was said in it, and what is due.
const WORDS: &[TextField] = &[
    text("said"),
    text("due.said"),
    text("due.faults.*.pointer"),
    text("due.faults.*.problem"),
    text("due.then.said"),
    text("due.then.faults.*.pointer"),
    text("due.then.faults.*.problem"),
    text("due.request"),
    text("due.criteria"),
    json("due.calls.*.arguments"),
    json("prompt.observed"),
    json("due.own.*.arguments"),
];

impl TurnRequested {
    /// The thread in which the agent speaks, where it is known.
    pub fn speaks_in(&self) -> Option<ThreadId> {
        self.thread.clone().or_else(|| self.due.as_ref()?.turn().map(|turn| turn.thread))
    }

    /// What it is asked to do, where that is not the last message of the thread.
    pub fn task(&self) -> Option<String> {
        self.due.as_ref()?.turn()?.task
    }

    /// The prompt that was sent, as a wish: made again it is the same, unless words were erased since, or this program
    /// lays prompts out otherwise. `None` where this program does not know its format, or its thread.
    pub fn prompt_spec(&self) -> Option<PromptSpec> {
        let record = &self.prompt;
        Some(PromptSpec {
            agent: Some(self.agent.clone()),
            thread: Some(self.speaks_in()?),
            layout: LayoutName::named(&record.layout),
            model: self.model.clone(),
            budget: Some(record.budget),
            counted: Some(Counted { vocabulary: record.vocabulary.clone(), factor: record.factor }),
            at: Some(record.at),
            format: Format::named(&record.format)?,
            task: self.task(),
            // What was not looked for then is not looked for now.
            recall: Some(false),
            observed: record.observed.clone(),
            tools: self.tools.clone(),
            ..PromptSpec::default()
        })
    }
}

/// What the entries of a turn are about: its run, or the turn itself outside of runs.
fn about(run: Option<&RunId>, turn: u64) -> String {
    run.map_or_else(|| turn_key(Seq(turn)), |run| subject(run).to_string())
}

/// The key that the answer to a turn outside of runs claims, so that there is one.
pub(super) fn turn_key(turn: Seq) -> String {
    format!("turn:{turn}")
}

/// Implements what the facts of turns have in common. Those of runs are about the run, for the user and the manager. Those
/// outside of runs are for the agent too.
macro_rules! turn_fact {
    ($type:ty, $name:literal, $sentence:expr, $texts:expr, $is_shared:literal, $is_answer:literal) => {
        impl Fact for $type {
            const TYPE: &'static str = $name;

            const SENTENCE: Sentence = $sentence;

            const DESCRIPTION: Description = Description::of($texts);

            fn subject(&self) -> String {
                about(self.run.as_ref(), self.turn)
            }

            fn audience(&self, before: &State) -> Audience {
                match &self.run {
                    Some(_) if $is_shared => before.audience_of(Share::Runs),
                    Some(_) => before.team.managers(),
                    None => before.team.managers().or(&Audience::of([self.agent.clone()])),
                }
            }

            fn keys(&self, _: &State) -> Vec<String> {
                let is_only_answer = $is_answer && self.run.is_none();
                is_only_answer.then(|| turn_key(Seq(self.turn))).into_iter().collect()
            }

            fn apply(self, state: &mut State, header: &Header) {
                self.change(state, header);
            }

            fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
                let may = match &self.run {
                    Some(_) if $is_shared => view.may_see(Share::Runs),
                    Some(_) => view.is_in_charge(),
                    None => view.is_in_charge() || view.agent() == Some(&self.agent),
                };
                if may && view.was_meant(header) { Seen::fact(&self.seen(view)) } else { None }
            }
        }
    };
}

const TURN_REQUESTED: Sentence =
    |it| format!("{} was asked, with {} tokens", it.text("agent"), it.number("/prompt/tokens"));
turn_fact!(TurnRequested, "turn.requested", TURN_REQUESTED, WORDS, false, false);
const TURN_ANSWERED: Sentence = |it| match it.data.get("usage").filter(|usage| usage.is_object()) {
    Some(_) => format!("{} answered, {} tokens", it.text("agent"), it.number("/usage/completion_tokens")),
    None => format!("{} answered", it.text("agent")),
};
turn_fact!(TurnAnswered, "turn.answered", TURN_ANSWERED, WORDS, false, true);
const TURN_FAILED: Sentence = |it| format!("{} gave no answer{}", it.text("agent"), it.about("error"));
turn_fact!(TurnFailed, "turn.failed", TURN_FAILED, &[text("error")], true, true);

impl TurnRequested {
    fn change(self, state: &mut State, header: &Header) {
        let thread = self.speaks_in();
        let (turn, agent, model) = (self.turn, self.agent, self.model.map(Arc::<str>::from));
        state.runs.requested.insert_mut(agent.clone(), header.seq);
        if let Some(thread) = thread {
            state.runs.note_model(&agent, &thread, model.clone(), header.seq);
        }
        let asked = Asked { model, tokens: self.prompt.tokens };
        state.runs.asked.insert_mut(agent.clone(), asked);
        let Some(run) = self.run else {
            state.runs.open.insert_mut(agent, header.seq);
            state.runs.asking.extend(self.asker.map(|asker| (header.seq, asker)));
            return;
        };
        let pending = Pending { agent, turn, requested: header.seq, at: header.at };
        state.runs.change(&run, |run| (run.turns, run.pending) = (turn, Some(pending)));
    }

    fn seen(self, view: &View<'_>) -> Self {
        let mut prompt = self.prompt;
        if !view.may_see(Share::Browser) {
            prompt.observed.tabs = Observed::Absent;
        }
        // Passages may be hidden from whoever sees only that there was a turn, and from a worker by now.
        if view.agent().is_some_and(|viewer| *viewer != self.agent || !view.is_in_charge()) {
            prompt.observed.recall = Observed::Absent;
            prompt.observed.recall_notes.clear();
            prompt.observed.elsewhere.clear();
        }
        let thread = self.thread.filter(|thread| names(view, thread));
        Self { due: seen_due(self.due, view, &self.agent), thread, prompt, ..self }
    }
}

impl TurnAnswered {
    fn change(self, state: &mut State, header: &Header) {
        let usage = self.usage.unwrap_or_default();
        state.runs.count(&self.agent, usage);
        if self.run.is_none() {
            state.runs.close(&self.agent, self.turn);
        }
        if !state.session.settings.steps.is_empty() {
            Arc::make_mut(&mut state.steps).count(usage);
        }
        if let Some(report) = &self.report {
            state.calibration.learn(report);
        }
        let (Some(run), Some(due)) = (self.run, self.due) else { return };
        let origin = Origin::of_due(&due, self.agent, header, state);
        state.runs.change(&run, |run| {
            run.count(usage, header.at);
            run.due = due;
            run.tools_started.clear();
            run.due_origin = Some(origin);
            run.idle = match (self.idle, &run.due) {
                (true, _) => run.idle.saturating_add(1),
                // Whether anything comes of a directive shows when it was mended.
                (false, Due::Repair { .. }) => run.idle,
                (false, _) => 0,
            };
        });
    }

    fn seen(self, view: &View<'_>) -> Self {
        Self { said: None, due: seen_due(self.due, view, &self.agent), ..self }
    }
}

impl TurnFailed {
    fn change(self, state: &mut State, header: &Header) {
        state.runs.count(&self.agent, self.usage.unwrap_or_default());
        if self.run.is_none() {
            state.runs.close(&self.agent, self.turn);
        }
        match (self.run, self.usage) {
            (Some(run), usage) => state.runs.change(&run, |run| run.count(usage.unwrap_or_default(), header.at)),
            (None, Some(usage)) if !state.session.settings.steps.is_empty() => {
                Arc::make_mut(&mut state.steps).count(usage);
            }
            (None, _) => {}
        }
    }

    fn seen(self, view: &View<'_>) -> Self {
        let is_own = view.agent().is_none_or(|viewer| *viewer == self.agent);
        let may = is_own && (view.is_in_charge() || self.run.is_none());
        Self { error: if may { self.error } else { String::new() }, ..self }
    }
}

/// Whether the viewer may know the name of a thread: it sees it, or everybody knows that there is one of that name.
fn names(view: &View<'_>, thread: &ThreadId) -> bool {
    let is_known = |agent: &AgentName| *thread == ThreadId::main() || *thread == ThreadId::of_agent(agent);
    view.agent().is_none_or(is_known) || view.thread(thread).is_ok()
}

/// What is due, without the words of threads. Viewers who see a thread find them in its messages.
fn seen_due(due: Option<Due>, view: &View<'_>, by: &AgentName) -> Option<Due> {
    match view.agent() {
        Some(agent) => due.map(|due| due.seen_by(agent, Some(&Origin::own(by.clone())), &view.state.threads)),
        None => due,
    }
}
