//! A call of one of Callboard's own tools: it is noted, done, and its result brought.

use callboard_core::{
    entry::Actor,
    error::Error as Refusal,
    run::{FinishTool, Run, StartTool, Status, next::Call},
    tool::own_tool,
};

use callboard_engine::Error as Engine;

use crate::{Driver, Error};

/// What a model is told of a call that somebody began and did not finish.
const INTERRUPTED: &str = "[interrupted: the outcome is unknown]";

impl Driver {
    /// Does a call, and says how the run stands then. One that was cut off is done again only where that does no harm.
    pub(crate) async fn call_tool(&self, run: &Run, call: Call) -> Result<Status, Error> {
        let may_be_done = own_tool(&call.call.name).is_ok_and(|tool| call.may_be_done(tool));
        let Call { agent, call, was_started } = call;
        let (run, epoch, tool_call_id) = (run.id.clone(), run.epoch, call.id);
        if !was_started {
            let start = StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() };
            if self.bring(start).await? != Status::Running {
                return Ok(Status::Running);
            }
        }
        let result = match may_be_done {
            false => INTERRUPTED.to_owned(),
            true => match self.session.call_tool(Actor::Agent(agent), &call.name, &call.arguments).await {
                Ok(result) => result,
                Err(Engine::Refused(refusal)) => not_done(&refusal),
                Err(error) => return Err(error.into()),
            },
        };
        let finish = FinishTool { run, epoch, tool_call_id, result: result.into() };
        match self.bring(finish.clone()).await {
            // What was read is more than a journal takes, for instance.
            Err(Error::Engine(Engine::Refused(refusal))) => {
                self.bring(FinishTool { result: not_done(&refusal).into(), ..finish }).await
            }
            brought => brought,
        }
    }
}

fn not_done(refusal: &Refusal) -> String {
    format!("[not done: {refusal}]")
}
