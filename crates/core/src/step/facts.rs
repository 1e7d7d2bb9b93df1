//! What can happen on the way through the steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::progress::Move;
use crate::{
    audience::Audience,
    count::Usage,
    entry::Header,
    fact::{Description, Fact, Seen, Sentence},
    id::StepName,
    state::State,
    view::View,
};

/// What all of these are about.
const SUBJECT: &str = "steps";

/// A tool was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUsed {
    pub(super) tool: Arc<str>,
    #[serde(flatten)]
    pub(super) step: Move,
}

/// The sequence was advanced without a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceAdvanced {
    #[serde(flatten)]
    pub(super) step: Move,
}

/// A step was entered by hand; the default one where it has no name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepEntered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<StepName>,
    pub(super) sequence_index: usize,
}

/// All of it began anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepsReset {}

/// What a model used was reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageReported {
    #[serde(flatten)]
    pub(super) usage: Usage,
}

/// Declares a fact about steps. The whole team sees its way through them; what models used is for those in charge.
macro_rules! step_fact {
    ($fact:ty, $type:literal, $sentence:expr, $in_charge:literal, $apply:expr) => {
        impl Fact for $fact {
            const TYPE: &'static str = $type;

            const SENTENCE: Sentence = $sentence;

            const DESCRIPTION: Description = Description::of(&[]);

            fn subject(&self) -> String {
                SUBJECT.to_owned()
            }

            fn audience(&self, before: &State) -> Audience {
                if $in_charge { before.team.managers() } else { Audience::All }
            }

            fn apply(self, state: &mut State, _: &Header) {
                let apply: fn(Self, &mut super::Progress) = $apply;
                apply(self, Arc::make_mut(&mut state.steps));
            }

            fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
                let may = !$in_charge || view.is_in_charge();
                if may && view.was_meant(header) { Seen::fact(&self) } else { None }
            }
        }
    };
}

const TOOL_USED: Sentence = |it| format!("{} used {}", it.by, it.text("tool"));
step_fact!(ToolUsed, "tool.used", TOOL_USED, false, |used, progress| {
    progress.log(used.tool);
    progress.go(used.step);
});

const ADVANCED: Sentence = |_| "the sequence of the step went on".to_owned();
step_fact!(SequenceAdvanced, "sequence.advanced", ADVANCED, false, |advanced, progress| progress.go(advanced.step));

const STEP_ENTERED: Sentence = |it| format!("the step {} began", it.text("step"));
step_fact!(StepEntered, "step.entered", STEP_ENTERED, false, |entered, progress| {
    if let Some(name) = &entered.step {
        progress.finished.remove_mut(name);
    }
    (progress.entered, progress.index) = (entered.step, entered.sequence_index);
});

const STEPS_RESET: Sentence = |it| format!("{} began the steps anew", it.by);
step_fact!(StepsReset, "steps.reset", STEPS_RESET, false, |_, progress| *progress = super::Progress::default());

const USAGE_REPORTED: Sentence = |it| {
    let sum = it.number("/prompt_tokens").saturating_add(it.number("/completion_tokens"));
    format!("{} reported {sum} tokens", it.by)
};
step_fact!(UsageReported, "usage.reported", USAGE_REPORTED, true, |reported, progress| progress.count(reported.usage));
