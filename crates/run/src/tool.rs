//! A call of one of Callboard's own tools: its start is recorded, it is executed, and its result is recorded.

use callboard_core::{
    entry::Actor,
    error::Error as Refusal,
    run::{FinishTool, Run, StartTool, Status, next::Call},
    tool::own_tool,
};

use callboard_engine::Error as Engine;

use crate::{Driver, Error};

/// The result of a call that was started and not finished, for the model.
const INTERRUPTED: &str = "[interrupted: the outcome is unknown]";

impl Driver {
    /// Executes a call. Returns the status of the run. An interrupted call is executed again only if the tool is idempotent.
    pub(crate) async fn call_tool(&self, run: &Run, call: Call) -> Result<Status, Error> {
        let may_be_done = own_tool(&call.call.name).is_ok_and(|tool| call.may_be_done(tool));
        let Call { agent, call, was_started } = call;
        let (run, epoch, tool_call_id) = (run.id.clone(), run.epoch, call.id);
        if !was_started {
            let start = StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() };
            if self.record(start).await? != Status::Running {
                return Ok(Status::Running);
            }
        }
        let result = match may_be_done {
            false => INTERRUPTED.to_owned(),
            true => {
                match self.session.call_tool(Actor::Agent(agent), &call.name, &call.arguments, &*self.files).await {
                    Ok(result) => result,
                    Err(Engine::Refused(refusal)) => not_done(&refusal),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let finish = FinishTool { run, epoch, tool_call_id, result: result.into() };
        match self.record(finish.clone()).await {
            // For instance, the result is longer than a journal accepts.
            Err(Error::Engine(Engine::Refused(refusal))) => {
                self.record(FinishTool { result: not_done(&refusal).into(), ..finish }).await
            }
            brought => brought,
        }
    }
}

fn not_done(refusal: &Refusal) -> String {
    format!("[not done: {refusal}]")
}
