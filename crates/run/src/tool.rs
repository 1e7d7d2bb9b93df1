//! Calls of Callboard's own tools: the start of each is recorded, it is executed, and its result is recorded. One that is a
//! command is done and recorded at once.

use callboard_core::{
    conversation::{ToolCall, ToolResult},
    entry::Actor,
    error::Error as Refusal,
    id::{AgentName, Seq},
    run::{DoTool, FinishTool, Run, StartTool, Status, Used, next::Call},
    tool::{
        OwnTool, Read, ToolExecution,
        browser::{opens_page, scout_in},
        own_tool,
    },
    viewer::Viewer,
};

use callboard_engine::Error as Engine;
use futures::future::try_join_all;

use crate::{Driver, Error, turn::is_over};

/// The result of a call that was started and not finished, for the model.
pub(crate) const INTERRUPTED: &str = "[interrupted: the outcome is unknown; look before you do it again]";

/// What came of executing a call.
pub(crate) enum Done {
    /// This is its result.
    Result(ToolResult, Used),
    /// The run was paused before there was one.
    Paused,
}

impl Driver {
    /// Executes calls at the same time. Returns the status of the run.
    pub(crate) async fn call_tools(&self, run: &Run, calls: Vec<Call>) -> Result<Status, Error> {
        let tabs: Vec<_> = calls.iter().map(|call| scout_in(&call.call).and_then(|scout| scout.tab_name)).collect();
        let each = calls.into_iter().enumerate().map(|(at, call)| {
            let taken = tabs.get(at).is_some_and(|tab| tab.is_some() && tabs.iter().take(at).any(|other| other == tab));
            self.call_tool(run, call, taken)
        });
        let over = self.session.when(|state| is_over(state, run));
        tokio::select! {
            done = try_join_all(each) => Ok(done?.pop().unwrap_or(Status::Running)),
            over = over => Err(self.why_over(over).await),
        }
    }

    /// Executes a call. Returns the status of the run. An interrupted call is executed again only if the tool is idempotent.
    async fn call_tool(&self, run: &Run, call: Call, is_tab_taken: bool) -> Result<Status, Error> {
        let Ok(tool) = own_tool(&call.call.name) else {
            let told = format!("[not done: there is no tool {:?} any more]", call.call.name);
            return self.finish_tool(run, &call, Done::Result(told.into(), Used::default())).await;
        };
        if let ToolExecution::Command(_) = tool.execution {
            let command = DoTool { run: run.id.clone(), epoch: run.epoch, call: call.call.clone() };
            return match self.record(command).await {
                // For instance, a secret in it could not be sealed.
                Err(Error::Engine(Engine::Refused(refusal))) => {
                    self.finish_tool(run, &call, Done::Result(not_done(&refusal).into(), Used::default())).await
                }
                done => done,
            };
        }
        let started = match call.started {
            Some(started) => started,
            None => {
                let tool_call_id = call.call.id.clone();
                let start = StartTool { run: run.id.clone(), epoch: run.epoch, tool_call_id };
                if self.record(start).await? != Status::Running {
                    return Ok(Status::Running);
                }
                let state = self.session.state().await?;
                let now = state.runs.get(&run.id).map_err(callboard_engine::Error::from)?;
                let Some(started) = now.tools_started.get(&call.call.id) else { return Ok(Status::Running) };
                *started
            }
        };
        let done = match call.may_be_done(tool) {
            false => Done::Result(INTERRUPTED.into(), Used::default()),
            true if is_tab_taken => {
                let told = "[not done: another scout of the same answer works in this tab: name another tab]";
                Done::Result(told.into(), Used::default())
            }
            true => self.do_call(run, tool, &call, started).await?,
        };
        self.finish_tool(run, &call, done).await
    }

    async fn do_call(&self, run: &Run, tool: &OwnTool, call: &Call, started: Seq) -> Result<Done, Error> {
        let viewer = Viewer::Agent(call.agent.clone());
        if let (Some(_), ToolExecution::Read(read)) = (scout_in(&call.call), tool.execution) {
            return match self.session.view(&viewer, |view| read(&view, &call.call.arguments)).await {
                Ok(Read::Scout(scout)) => Box::pin(self.scout(run, &call.agent, scout, started)).await,
                Err(Engine::Refused(refusal)) => Ok(Done::Result(not_done(&refusal).into(), Used::default())),
                Ok(_) => Ok(Done::Result(INTERRUPTED.into(), Used::default())),
                Err(error) => Err(error.into()),
            };
        }
        let used = Used { pages: u64::from(opens_page(tool.name)), ..Used::default() };
        Ok(Done::Result(self.told(&call.agent, &call.call).await?, used))
    }

    /// What the model of `agent` is told of its call.
    pub(crate) async fn told(&self, agent: &AgentName, call: &ToolCall) -> Result<ToolResult, Error> {
        let by = Actor::Agent(agent.clone());
        match self.session.call_tool(by, &call.name, &call.arguments, &self.outside).await {
            Ok(result) => Ok(result),
            Err(Engine::Refused(refusal)) => Ok(not_done(&refusal).into()),
            Err(error) => Err(error.into()),
        }
    }

    async fn finish_tool(&self, run: &Run, call: &Call, done: Done) -> Result<Status, Error> {
        let Done::Result(result, used) = done else { return Ok(Status::Running) };
        let (run, epoch, tool_call_id) = (run.id.clone(), run.epoch, call.call.id.clone());
        let finish = FinishTool { run, epoch, tool_call_id, result, used };
        match self.record(finish.clone()).await {
            // For instance, the result is longer than a journal accepts.
            Err(Error::Engine(Engine::Refused(refusal))) => {
                self.record(FinishTool { result: not_done(&refusal).into(), ..finish }).await
            }
            brought => brought,
        }
    }
}

pub(crate) fn not_done(refusal: &Refusal) -> String {
    format!("[not done: {refusal}]")
}
