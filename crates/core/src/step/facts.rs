//! What can happen on the way through the steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::progress::Move;
use crate::{
    count::Usage,
    entry::Header,
    fact::{Description, Fact, MeantFor, Sentence},
    id::StepName,
    state::State,
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
    ($fact:ty, $type:literal, $sentence:expr, $meant_for:ident, $apply:expr) => {
        impl Fact for $fact {
            const TYPE: &'static str = $type;

            const SENTENCE: Sentence = $sentence;

            const DESCRIPTION: Description = Description::of(&[]);

            const MEANT_FOR: MeantFor = MeantFor::$meant_for;

            fn subject(&self) -> String {
                SUBJECT.to_owned()
            }

            fn apply(self, state: &mut State, _: &Header) {
                let apply: fn(Self, &mut super::Progress) = $apply;
                apply(self, Arc::make_mut(&mut state.steps));
            }
        }
    };
}

const TOOL_USED: Sentence = |it| format!("{} used {}", it.by, it.text("tool"));
step_fact!(ToolUsed, "tool.used", TOOL_USED, All, |used, progress| {
    progress.log(used.tool);
    progress.go(used.step);
});

const ADVANCED: Sentence = |_| "the sequence of the step went on".to_owned();
step_fact!(SequenceAdvanced, "sequence.advanced", ADVANCED, All, |advanced, progress| progress.go(advanced.step));

const STEP_ENTERED: Sentence = |it| format!("the step {} began", it.text("step"));
step_fact!(StepEntered, "step.entered", STEP_ENTERED, All, |entered, progress| {
    if let Some(name) = &entered.step {
        progress.finished.remove_mut(name);
    }
    (progress.entered, progress.index) = (entered.step, entered.sequence_index);
});

const STEPS_RESET: Sentence = |it| format!("{} began the steps anew", it.by);
step_fact!(StepsReset, "steps.reset", STEPS_RESET, All, |_, progress| *progress = super::Progress::default());

const USAGE_REPORTED: Sentence = |it| {
    let sum = it.number("/prompt_tokens").saturating_add(it.number("/completion_tokens"));
    format!("{} reported {sum} tokens", it.by)
};
step_fact!(UsageReported, "usage.reported", USAGE_REPORTED, Manager, |reported, progress| {
    progress.count(reported.usage);
});
