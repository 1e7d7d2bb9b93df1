//! What can happen on the way through the steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::progress::Move;
use crate::{
    audience::Audience,
    count::Usage,
    entry::Header,
    fact::{Description, Fact, Seen},
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
    ($fact:ty, $type:literal, $in_charge:literal, $apply:expr) => {
        impl Fact for $fact {
            const TYPE: &'static str = $type;

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

step_fact!(ToolUsed, "tool.used", false, |used, progress| {
    progress.log(used.tool);
    progress.go(used.step);
});

step_fact!(SequenceAdvanced, "sequence.advanced", false, |advanced, progress| progress.go(advanced.step));

step_fact!(StepEntered, "step.entered", false, |entered, progress| {
    if let Some(name) = &entered.step {
        progress.finished.remove_mut(name);
    }
    (progress.entered, progress.index) = (entered.step, entered.sequence_index);
});

step_fact!(StepsReset, "steps.reset", false, |_, progress| *progress = super::Progress::default());

step_fact!(UsageReported, "usage.reported", true, |reported, progress| progress.count(reported.usage));
