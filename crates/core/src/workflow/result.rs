//! Recording what the execution of a node gave.

use std::sync::Arc;

use serde_json::Value;

use super::{
    GivenResult, NodeStatus, PutResult,
    execution::at_rest,
    facts::ResultRecorded,
    seal::{in_result, sealed},
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    error::{Error, Fault},
    id::{NodeId, VariableName},
    input::InputVisitor,
    json::{self, pointer_token},
    rights::Right,
    text::{self, Text},
    variable::SetVariable,
};

/// A value counts as one item for each of so many bytes.
const ITEM_BYTES: usize = 1024;

/// Records the result of a node, and sets its variables: all or nothing.
impl Command for PutResult {
    type Answer = ();

    const RIGHT: Right = Right::manager("record results of nodes");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        at_rest(decision.state.workflow.at_work())?;
        record(decision, self)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        let GivenResult { result, variables, .. } = &mut self.given;
        visitor.variable(&in_result(self.id), None, result);
        for (name, value) in variables {
            visitor.name(format_args!("/variables/{}", pointer_token(name)), name);
            visitor.keys(format_args!("/variables/{}", pointer_token(name)), value);
            let own = own(self.id, name).map_or_else(|_| name.clone(), |own| own.to_string());
            visitor.variable(&own, None, value);
        }
    }

    fn items(&self) -> usize {
        1 + items(self.given.variables.values().chain([&self.given.result]))
    }
}

/// How many items values count as.
pub(super) fn items<'a>(values: impl IntoIterator<Item = &'a Value>) -> usize {
    let most = text::INLINE_BYTES * 16;
    values.into_iter().map(|value| json::least_bytes(value, most)).sum::<usize>() / ITEM_BYTES
}

/// Records a result, whoever gives it.
pub(super) fn record(decision: &mut DecisionBuilder<'_>, put: &PutResult) -> Result<(), Undecided> {
    let PutResult { id, given: GivenResult { status, result: given, variables } } = put;
    decision.state.workflow.get(*id).ok_or_else(|| Error::not_found("node", id))?;
    if *status == NodeStatus::NotRun {
        let words = NodeStatus::ALL.into_iter().filter(|status| *status != NodeStatus::NotRun);
        let words = words.map(NodeStatus::as_str).collect::<Vec<_>>().join(", ");
        return Err(Error::invalid("/status", format!("use one of {words}")).into());
    }
    if !json::is_shallow(given) {
        let problem = format!("it is nested too deep: use at most {} levels of lists and objects", json::MAX_DEPTH);
        return Err(Error::invalid("/result", problem).into());
    }
    let sealed = sealed(decision, in_result(*id), given, None, "/result")?;
    let text: Arc<str> = json::text_of(given).into();
    let kept = Text::keep(&text, "the result", &mut decision.values)?;
    let is_long = kept.stored().is_some();
    let (result, long_result) = ((!is_long).then(|| given.clone()), is_long.then_some(kept));
    let recorded = decision.next_seq();
    decision.record(ResultRecorded { id: *id, status: *status, result, long_result, sealed });
    for (name, value) in variables {
        let is_of_result = value == given || given.get(name) == Some(value);
        let from = is_of_result.then_some(recorded).into_iter().collect();
        let at = format!("/variables/{}", pointer_token(name));
        let reason = format!("the result of {id}").into();
        let name = own(*id, name).map_err(|problem| Error::invalid(&*at, problem))?;
        SetVariable::new(name, value.clone(), None, reason)
            .map_err(Undecided::from)
            .and_then(|set| decision.copying(from, |decision| set.perform(decision)))
            .map_err(|undecided| moved(undecided, &at))?;
    }
    Ok(())
}

/// The variable `name` of a node: `node7.emails`, also where it is called so already.
fn own(id: NodeId, name: &str) -> Result<VariableName, String> {
    let given = name.parse::<VariableName>().map_err(|error| error.to_string())?;
    match given.node() {
        Some(node) if node == id.0 => Ok(given),
        Some(_) => Err("a node sets no variables of another node".to_owned()),
        None => format!("node{}.{given}", id.0).parse().map_err(|error: crate::id::BadName| error.to_string()),
    }
}

/// The same refusal, with the place of the variable in what was brought.
pub(super) fn moved(undecided: Undecided, at: &str) -> Undecided {
    let Undecided::Refused(Error::Invalid(faults)) = undecided else { return undecided };
    let place = |pointer: &str| format!("{at}{}", pointer.strip_prefix("/value").unwrap_or_default());
    let faults = faults.into_iter().map(|fault| Fault { pointer: place(&fault.pointer), ..fault });
    Undecided::Refused(Error::Invalid(faults.collect()))
}
