//! Executing the workflow, and what is recorded meanwhile.

use std::sync::Arc;

use super::{
    CancelExecution, Execute, Execution, ExecutionLimits, ExecutionStatus, FinishExecution, FinishNode, StartNode,
    facts::{Finished, NodeStarted, Started},
    walk::Walk,
};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{ConflictKind, Error, Fault},
    id::{ExecutionId, VariableName},
    input::InputVisitor,
    json::pointer_token,
    rights::Right,
    variable::SetVariable,
    workflow::{check::refuse, result},
};

/// How many characters of a reason are kept. The result of the node has the whole.
const REASON_CHARS: usize = 1000;

impl KeptAnswer for ExecutionId {
    const NAME: &'static str = "execution";
}

/// Begins an execution, and sets what it is given.
impl Command for Execute {
    type Answer = ExecutionId;

    const RIGHT: Right = Right::manager("execute the workflow");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<ExecutionId, Undecided> {
        let Self { from, nodes, inputs, limits } = self;
        let limits = limits.unwrap_or_default();
        let workflow = decision.state.workflow.clone();
        at_rest(workflow.at_work())?;
        let mut faults = limits.faults();
        if from.is_some() && nodes.is_some() {
            faults.push(Fault { pointer: "/from".into(), problem: "give `from` or `nodes`, not both".into() });
        }
        let named = from.iter().map(|id| ("/from".to_owned(), id));
        let each = nodes.iter().flatten().enumerate().map(|(at, id)| (format!("/nodes/{at}"), id));
        for (pointer, id) in named.chain(each).filter(|(_, id)| workflow.get(**id).is_none()) {
            faults.push(Fault { pointer, problem: format!("there is no {id}") });
        }
        if faults.is_empty() {
            Walk::check(&workflow, *from, nodes.as_deref(), &mut faults);
        }
        refuse(faults)?;
        let execution = ExecutionId::of_seq(decision.next_seq());
        let (from, nodes) = (*from, nodes.clone());
        decision.record(Started { execution: execution.clone(), from, nodes, limits });
        for (name, value) in inputs {
            let at = format!("/inputs/{}", pointer_token(name));
            let reason: Arc<str> = format!("given to the execution {execution}").into();
            let named: Result<VariableName, _> = name.parse();
            let name = named.map_err(|error| Error::invalid(&*at, error.to_string()))?;
            SetVariable::new(name, value.clone(), None, reason)
                .map_err(Undecided::from)
                .and_then(|set| set.perform(decision))
                .map_err(|undecided| result::moved(undecided, &at))?;
        }
        Ok(execution)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        for (name, value) in &mut self.inputs {
            let at = pointer_token(name);
            visitor.name(format_args!("/inputs/{at}"), name);
            visitor.keys(format_args!("/inputs/{at}"), value);
            let known = name.parse().map_or_else(|_| name.clone(), |name: VariableName| name.to_string());
            visitor.variable(&known, None, value);
        }
    }

    fn items(&self) -> usize {
        1 + result::items(self.inputs.values())
    }
}

/// Records that a node is started.
impl Command for StartNode {
    type Answer = ();

    const RIGHT: Right = Right::system("record what happens in an execution");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        running(decision, &self.execution)?;
        decision.state.workflow.get(self.node).ok_or_else(|| Error::not_found("node", self.node))?;
        decision.record(NodeStarted { execution: self.execution.clone(), id: self.node });
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records what a node gave.
impl Command for FinishNode {
    type Answer = ();

    const RIGHT: Right = Right::system("record what happens in an execution");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        running(decision, &self.execution)?;
        let is_started = |execution: &Execution| execution.running.contains(&self.result.id);
        if !decision.state.workflow.at_work().is_some_and(is_started) {
            return Err(Error::not_found("node under way", self.result.id).into());
        }
        result::record(decision, &self.result)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.result.input(visitor);
    }

    fn items(&self) -> usize {
        self.result.items()
    }
}

/// Records how an execution ended.
impl Command for FinishExecution {
    type Answer = ();

    const RIGHT: Right = Right::system("record what happens in an execution");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        running(decision, &self.execution)?;
        let Self { execution, status, reason, failed, skipped } = self.clone();
        let reason = reason.map(shortened);
        decision.record(Finished { execution, status, reason, failed, skipped });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.reason);
    }
}

/// Ends an execution. Whoever executes it stops.
impl Command for CancelExecution {
    type Answer = ();

    const RIGHT: Right = Right::manager("cancel an execution of the workflow");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        running(decision, &self.0)?;
        let reason = Some(format!("{} cancelled it", decision.by).into());
        let (execution, status) = (self.0.clone(), ExecutionStatus::Cancelled);
        decision.record(Finished { execution, status, reason, failed: None, skipped: Vec::new() });
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Refuses what cannot be done while the workflow is executed.
pub(in crate::workflow) fn at_rest(at_work: Option<&Execution>) -> Result<(), Error> {
    let Some(execution) = at_work else { return Ok(()) };
    let what = format!("the execution {} of the workflow is under way", execution.id);
    Err(Error::conflict(ConflictKind::ExecutionUnfinished, what, "wait for it, or cancel it"))
}

/// Refuses an execution that is not there, or has ended.
fn running(decision: &DecisionBuilder<'_>, id: &ExecutionId) -> Result<(), Error> {
    let workflow = &decision.state.workflow;
    let execution = workflow.execution(id).ok_or_else(|| Error::not_found("execution", id))?;
    if execution.is_running() {
        return Ok(());
    }
    let what = format!("the execution {id} is {}", execution.status.as_str());
    Err(Error::conflict(ConflictKind::ExecutionEnded, what, "start another one"))
}

impl ExecutionLimits {
    fn faults(self) -> Vec<Fault> {
        let limits = [
            ("node_runs", self.node_runs, 10_000),
            ("node_seconds", self.node_seconds, 3_600),
            ("seconds", self.seconds, 86_400),
        ];
        let wrong = limits.into_iter().filter(|(_, given, most)| !(1..=*most).contains(given));
        let fault = |(name, _, most)| Fault { pointer: format!("/limits/{name}"), problem: format!("use 1 to {most}") };
        wrong.map(fault).collect()
    }
}

/// The beginning of a long reason, which says so.
fn shortened(reason: Arc<str>) -> Arc<str> {
    match reason.char_indices().nth(REASON_CHARS) {
        None => reason,
        Some((end, _)) => {
            format!("{}… [cut: the result of the node has the whole]", reason.get(..end).unwrap_or_default()).into()
        }
    }
}
