//! The course of one execution.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use callboard_core::{
    error::Error as Refusal,
    id::{ExecutionId, NodeId},
    workflow::{
        GivenResult, Node, NodeStatus, PutResult, Workflow,
        execution::{
            Execution, ExecutionLimits, ExecutionStatus, FinishExecution, FinishNode, StartNode,
            walk::{Next, Walk},
        },
    },
};
use serde_json::{Map, Value, json};

use super::{
    Executor, ended,
    node::{Done, Repeat},
};
use crate::Error;

/// An execution that is under way.
pub(super) struct Course<'a> {
    executor: &'a Executor,
    workflow: &'a Workflow,
    id: &'a ExecutionId,
    limits: ExecutionLimits,
    walk: Walk,
    node_runs: u64,
    /// What the nodes that repeat others have gathered.
    loops: BTreeMap<NodeId, Gathered>,
}

/// What a node that repeats others has gathered.
struct Gathered {
    over: Vec<Value>,
    collect: Option<Arc<str>>,
    collected: Vec<Value>,
}

/// Why the course ends here, if it does.
type Step = Result<Option<FinishExecution>, Error>;

impl<'a> Course<'a> {
    pub(super) fn new(executor: &'a Executor, workflow: &'a Workflow, execution: &'a Execution) -> Self {
        let Execution { id, from, nodes, limits, .. } = execution;
        let walk = Walk::new(workflow, *from, nodes.as_deref());
        Self { executor, workflow, id, limits: *limits, walk, node_runs: 0, loops: BTreeMap::new() }
    }

    /// Goes on to the end.
    pub(super) async fn run(mut self) -> Result<FinishExecution, Error> {
        loop {
            let step = match self.walk.step() {
                Next::Node(id) => self.node(id).await?,
                Next::Round { node, round } => match self.collect(node).await? {
                    None => self.round(node, round).await?,
                    failed => failed,
                },
                Next::Leave { node, rounds, whole } => {
                    let failed = if whole { self.collect(node).await? } else { None };
                    match failed {
                        None => self.leave(node, rounds).await?,
                        failed => failed,
                    }
                }
                Next::Done => {
                    let (execution, status) = (self.id.clone(), ExecutionStatus::Completed);
                    let (reason, failed, skipped) = (None, None, self.walk.skipped());
                    return Ok(FinishExecution { execution, status, reason, failed, skipped });
                }
            };
            if let Some(ended) = step {
                return Ok(ended);
            }
        }
    }

    /// Executes a node.
    async fn node(&mut self, id: NodeId) -> Step {
        let Some(held) = self.workflow.get(id) else { return Ok(None) };
        if self.node_runs >= self.limits.node_runs {
            let reason = format!(
                "nodes were started {} times, its limit: a loop may have no end; `limits.node_runs` raises it",
                self.node_runs
            );
            return self.ended(reason, None);
        }
        self.node_runs += 1;
        if let Err(refusal) = self.executor.record(StartNode { execution: self.id.clone(), node: id }).await? {
            return self.ended(refusal.to_string(), Some(id));
        }
        match self.work(&held.node).await? {
            Ok(Done { repeat: Some(repeat), .. }) => self.repeat(id, repeat).await,
            Ok(Done { result, variables, goal, .. }) => {
                if let Some(goal) = goal {
                    self.walk.go_to(goal);
                }
                self.result(id, NodeStatus::Success, result, variables).await
            }
            Err(refusal) => self.fail(id, &refusal).await,
        }
    }

    async fn work(&self, node: &Node) -> Result<Result<Done, Refusal>, Error> {
        let seconds = self.limits.node_seconds;
        match tokio::time::timeout(Duration::from_secs(seconds), self.executor.work(node)).await {
            Ok(done) => done,
            Err(_) => {
                let what = format!("it took more than {seconds} seconds, the limit of a node");
                Ok(Err(Refusal::Outside { code: "node_timed_out", what }))
            }
        }
    }

    /// Begins to repeat the nodes behind a node. Where none of them is on the way, the first element is there for tests of them.
    async fn repeat(&mut self, id: NodeId, repeat: Repeat) -> Step {
        let Repeat { over, last, collect } = repeat;
        let count = over.len();
        let repeats = self.walk.repeat(id, last, count);
        self.loops.insert(id, Gathered { over, collect, collected: Vec::new() });
        if repeats {
            return self.round(id, 0).await;
        }
        let variables = self.element(id, 0);
        self.result(id, NodeStatus::Success, json!({ "count": count }), variables).await
    }

    /// Begins a round: its element is there for the nodes that are repeated.
    async fn round(&mut self, id: NodeId, round: usize) -> Step {
        let variables = self.element(id, round);
        self.result(id, NodeStatus::Running, json!({ "round": round }), variables).await
    }

    fn element(&self, id: NodeId, round: usize) -> Map<String, Value> {
        let item = self.loops.get(&id).and_then(|gathered| gathered.over.get(round));
        let variables = item.map(|item| [("item".to_owned(), item.clone()), ("index".to_owned(), round.into())]);
        variables.into_iter().flatten().collect()
    }

    /// Keeps what a round gave, once it came to its end.
    async fn collect(&mut self, id: NodeId) -> Step {
        let Some(gathered) = self.loops.get_mut(&id) else { return Ok(None) };
        let Some(expression) = gathered.collect.clone() else { return Ok(None) };
        match self.executor.compute(&expression, "/config/collect").await? {
            Ok(value) => {
                gathered.collected.push(value);
                Ok(None)
            }
            Err(refusal) => self.fail(id, &refusal).await,
        }
    }

    async fn leave(&mut self, id: NodeId, rounds: usize) -> Step {
        let gathered = self.loops.remove(&id);
        let collected = gathered.filter(|gathered| gathered.collect.is_some()).map(|gathered| gathered.collected);
        let mut result = Map::from_iter([("count".to_owned(), rounds.into())]);
        result.extend(collected.map(|collected| ("collected".to_owned(), collected.into())));
        self.result(id, NodeStatus::Success, result.clone().into(), result).await
    }

    /// Records what a node gave. A node whose result is refused has failed.
    async fn result(&self, id: NodeId, status: NodeStatus, result: Value, variables: Map<String, Value>) -> Step {
        let result = PutResult { id, given: GivenResult { status, result, variables } };
        match self.executor.record(FinishNode { execution: self.id.clone(), result }).await? {
            Ok(()) => Ok(None),
            Err(refusal) => self.fail(id, &refusal).await,
        }
    }

    /// Records that a node failed, which ends the execution.
    async fn fail(&self, id: NodeId, refusal: &Refusal) -> Step {
        let given = GivenResult { status: NodeStatus::Failed, result: failure(refusal), variables: Map::new() };
        let result = PutResult { id, given };
        // What is refused here, is refused for its words: then the execution says no more than that the node failed.
        let recorded = self.executor.record(FinishNode { execution: self.id.clone(), result }).await?;
        let reason = match recorded {
            Ok(()) => format!("{id} failed: {refusal}"),
            Err(_) => format!("{id} failed, and why cannot be recorded"),
        };
        self.ended(reason, Some(id))
    }

    fn ended(&self, reason: String, failed: Option<NodeId>) -> Step {
        Ok(Some(ended(self.id, ExecutionStatus::Failed, reason, failed)))
    }
}

/// Why a node failed, as its result.
fn failure(refusal: &Refusal) -> Value {
    let mut error = json!({"code": refusal.code(), "detail": refusal.to_string()});
    if let (Refusal::Invalid(faults), Some(fields)) = (refusal, error.as_object_mut()) {
        fields.extend(faults.first().map(|fault| ("pointer".to_owned(), fault.pointer.clone().into())));
    }
    json!({ "error": error })
}
