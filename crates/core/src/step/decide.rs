//! Going through the steps. Using a tool, advancing and choosing the step are one change.

use std::sync::Arc;

use super::{
    Progress, Steps,
    facts::{SequenceAdvanced, StepEntered, StepsReset, ToolUsed, UsageReported},
    offer::refusal,
    progress::Move,
};
use crate::{
    agent::{TOOL_NAME, is_tool_name},
    command::{Command, DecisionBuilder, Undecided},
    count::Usage,
    error::{ConflictKind, Error},
    id::StepName,
    input::InputVisitor,
    rights::Right,
};

/// A change on the way through the steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepsChange {
    /// A tool was used.
    UseTool(Arc<str>),
    /// Go on in the sequence without using the tool that is due.
    Advance,
    /// Begin anew: nothing used, nothing counted, in the default step.
    Reset,
    /// Add what a model used.
    Report(Usage),
    /// Set where the team is.
    Set(Place),
}

/// Where a team is to be among its steps; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The step; the default one where the inner value is absent. Entering it starts its sequence.
    pub active_step: Option<Option<StepName>>,
    /// How many tools of its sequence were used.
    pub sequence_index: Option<usize>,
}

impl Command for StepsChange {
    type Answer = ();

    const RIGHT: Right = Right::manager("change steps");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        if decision.state.session.settings.steps.is_empty() {
            return Err(Error::NoSteps.into());
        }
        match self {
            Self::UseTool(tool) => use_tool(decision, tool)?,
            Self::Advance => advance(decision),
            Self::Reset => {
                if *decision.state.steps != Progress::default() {
                    decision.record(StepsReset {});
                }
            }
            Self::Report(usage) => decision.record(UsageReported { usage: *usage }),
            Self::Set(place) => set(decision, place)?,
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        match self {
            Self::UseTool(tool) => visitor.name(format_args!("/tool"), tool),
            Self::Set(Place { active_step: Some(Some(step)), .. }) => {
                visitor.name(format_args!("/active_step"), step.as_str());
            }
            Self::Set(_) | Self::Advance | Self::Reset | Self::Report(_) => {}
        }
    }
}

/// Records that a tool was used. Another one than the due one is refused.
pub(crate) fn use_tool(decision: &mut DecisionBuilder<'_>, tool: &Arc<str>) -> Result<(), Error> {
    if !is_tool_name(tool) {
        return Err(Error::invalid("/tool", format!("{tool:?} is no name of a tool: {TOOL_NAME}")));
    }
    let (steps, before) = (&decision.state.session.settings.steps, &decision.state.steps);
    let due = before.due(steps);
    if let Some(due) = due.filter(|due| *due != tool) {
        let what = format!("the tool {tool} is out of turn: {due} is due");
        let hint = "use the tool that is due, advance the sequence, or enter another step";
        return Err(Error::conflict(ConflictKind::ToolOutOfTurn, what, hint));
    }
    let mut after = Progress::clone(before);
    after.log(tool.clone());
    let step = moved(steps, &after, usize::from(due.is_some()));
    decision.record(ToolUsed { tool: tool.clone(), step });
    Ok(())
}

/// Records that a model called a tool, or says why it may not.
pub(crate) fn call(decision: &mut DecisionBuilder<'_>, tool: &Arc<str>) -> Result<(), String> {
    match refusal(&decision.state.session.settings.steps, &decision.state.steps, tool) {
        Some(reason) => Err(reason),
        None => use_tool(decision, tool).map_err(|error| error.to_string()),
    }
}

fn advance(decision: &mut DecisionBuilder<'_>) {
    let (steps, progress) = (&decision.state.session.settings.steps, &decision.state.steps);
    if progress.due(steps).is_some() {
        let step = moved(steps, progress, 1);
        decision.record(SequenceAdvanced { step });
    }
}

/// Where the team is once `by` more tools of the sequence are done.
fn moved(steps: &Steps, progress: &Progress, by: usize) -> Move {
    let Some(active) = progress.active(steps) else {
        let entered = progress.choice(steps).map(|step| step.name.clone());
        return Move { entered, ..Move::default() };
    };
    let index = progress.index.saturating_add(by);
    let is_finished = by > 0 && index >= active.sequence.len();
    let step = Move { finished: is_finished.then(|| active.name.clone()), entered: None, sequence_index: index };
    let mut after = progress.clone();
    after.go(step.clone());
    match after.choice(steps) {
        Some(next) if next.name != active.name => Move { entered: Some(next.name.clone()), sequence_index: 0, ..step },
        _ => step,
    }
}

fn set(decision: &mut DecisionBuilder<'_>, place: &Place) -> Result<(), Error> {
    let (steps, progress) = (&decision.state.session.settings.steps, &decision.state.steps);
    let step = match &place.active_step {
        Some(name) => name.clone(),
        None => progress.entered.clone(),
    };
    let found = match &step {
        Some(name) => Some(steps.get(name).ok_or_else(|| unknown(steps, name))?),
        None => steps.default_step(),
    };
    let length = found.map_or(0, |step| step.sequence.len());
    let index = match place.sequence_index {
        Some(index) if index > length => {
            let problem = format!("the sequence of the step has {length} tools: use 0 to {length}");
            return Err(Error::contradicting(ConflictKind::BeyondSequence, "/sequence_index", problem));
        }
        Some(index) => index,
        None if place.active_step.is_some() => 0,
        None => return Ok(()),
    };
    decision.record(StepEntered { step, sequence_index: index });
    Ok(())
}

fn unknown(steps: &Steps, name: &StepName) -> Error {
    let names = steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(", ");
    Error::contradicting(
        ConflictKind::NoStep,
        "/active_step",
        format!("there is no step {name}; the steps are: {names}"),
    )
}
