//! Callboard's own tools, for those who drive models themselves.

use callboard_api as api;
use callboard_core::{
    agent::Tool,
    browser::scout::DEPLOY_SCOUT,
    entry::Actor,
    id::AgentName,
    prompt::{Format, default_agent},
    tool::{CallTool, Execution, OwnTool, own_tool},
    view::View,
};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{CallTools, ReadTools, Right},
};

impl Authorized<ReadTools> {
    pub(crate) async fn list_tools(&self, query: api::ToolsQuery) -> Result<Answer<api::ToolList>, CallError> {
        let viewer = using(self, query.agent).await?.into();
        // A scout needs a model, which whoever drives models itself has.
        let can_do = |tool: &&OwnTool| self.app.outside.serves(tool) && tool.name != DEPLOY_SCOUT;
        let described = |view: View<'_>| Ok(view.own_tools().filter(can_do).map(OwnTool::described).collect());
        let tools: Vec<Tool> = self.session.view(&viewer, described).await?;
        Ok(Answer::ok(api::ToolList { tools: Format::from(query.format).tools(&tools) }))
    }
}

impl Authorized<CallTools> {
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        body: api::ToolCallBody,
        options: WriteOptions,
    ) -> Result<Answer<api::ToolCallResult>, CallError> {
        let api::ToolCallBody { agent, arguments } = body;
        let by = using(self, agent).await?;
        match own_tool(name)?.execution {
            Execution::Command(_) => {
                let call = CallTool { name: name.to_owned(), arguments };
                let receipt = self.execute_as(by, options, call).await?;
                Ok(Answer::ok(api::ToolCallResult { result: receipt.answer.0 }).at(receipt.head))
            }
            Execution::Read(read) => {
                self.expect(&options).await?;
                // One of them executes a node, and the lease on that is to be renewed.
                self.app.drivers.keep();
                let result =
                    self.session.read_with(&by.into(), |view| read(view, &arguments), &self.app.outside).await?;
                Ok(Answer::ok(api::ToolCallResult { result }))
            }
        }
    }
}

/// Who uses a tool. An agent uses it itself. The user uses it as the named agent, else as the manager or the only agent, else
/// as the user.
async fn using<R: Right>(caller: &Authorized<R>, named: Option<AgentName>) -> Result<Actor, CallError> {
    if let Some(own) = caller.agent() {
        return match named {
            Some(named) if named != *own => Err(caller.forbidden("use the tools of another agent")),
            _ => Ok(Actor::Agent(own.clone())),
        };
    }
    let by = |view: View<'_>| match &named {
        Some(named) => Ok(Actor::Agent(view.state.team.agent(named)?.name.clone())),
        None => Ok(default_agent(&view.state.team).map_or(Actor::User, |agent| Actor::Agent(agent.name.clone()))),
    };
    Ok(caller.session.view(&caller.viewer(), by).await?)
}
