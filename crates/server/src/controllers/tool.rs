//! Callboard's own tools, for those who drive models themselves.

use callboard_api as api;
use callboard_core::{
    agent::Tool,
    entry::Actor,
    id::AgentName,
    prompt::{Format, default_agent},
    tool::{CallTool, Execution, OwnTool, own_tool},
    view::View,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    params::{Query, ToolName},
    problem::Problem,
    rights::{CallTools, ReadTools, Right},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(call))
}

/// List the tools of Callboard's own that an agent may use
#[utoipa::path(get, path = "/v1/sessions/{session}/tools", tag = "tools", operation_id = "list_tools",
    params(("session" = api::SessionId, Path, description = "The session"), api::ToolsQuery),
    responses((status = OK, description = "The tools, in the form that the API of the model takes", body = api::ToolList)))]
async fn list(
    caller: Authorized<ReadTools>,
    Query(query): Query<api::ToolsQuery>,
) -> Result<Answer<api::ToolList>, Problem> {
    caller.list_tools(query).await
}

/// Call a tool of Callboard's own as an agent
#[utoipa::path(post, path = "/v1/sessions/{session}/tools/{tool}", tag = "tools", operation_id = "call_tool",
    params(("session" = api::SessionId, Path, description = "The session"), ("tool" = String, Path, description = "The tool")),
    request_body = api::ToolCallBody,
    responses((status = OK, description = "What the model is told", body = api::ToolCallResult)))]
async fn call(
    caller: Authorized<CallTools>,
    ToolName(name): ToolName,
    request: RequestBody<api::ToolCallBody>,
) -> Result<Answer<api::ToolCallResult>, Problem> {
    caller.call_tool(&name, request).await
}

impl Authorized<ReadTools> {
    /// List the tools of Callboard's own that an agent may use
    pub(crate) async fn list_tools(&self, query: api::ToolsQuery) -> Result<Answer<api::ToolList>, Problem> {
        let viewer = using(self, query.agent).await?.into();
        let described = |view: View<'_>| Ok(view.own_tools().map(OwnTool::described).collect());
        let tools: Vec<Tool> = self.session.view(&viewer, described).await?;
        Ok(Answer::ok(api::ToolList { tools: Format::from(query.format).tools(&tools) }))
    }
}

impl Authorized<CallTools> {
    /// Call a tool of Callboard's own as an agent
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        request: RequestBody<api::ToolCallBody>,
    ) -> Result<Answer<api::ToolCallResult>, Problem> {
        let api::ToolCallBody { agent, arguments } = request.body;
        let by = using(self, agent).await?;
        match own_tool(name)?.execution {
            Execution::Command(_) => {
                let call = CallTool { name: name.to_owned(), arguments };
                let receipt = self.execute_as(by, request.options, call).await?;
                Ok(Answer::ok(api::ToolCallResult { result: receipt.answer.0 }).at(receipt.head))
            }
            Execution::Read(read) => {
                self.expect(&request.options).await?;
                let result = self.session.read_with(&by.into(), |view| read(view, &arguments)).await?;
                Ok(Answer::ok(api::ToolCallResult { result }))
            }
        }
    }
}

/// Who uses a tool. An agent does so for itself; the user for the agent that is named, else for the manager or the only
/// agent, else for himself.
async fn using<R: Right>(caller: &Authorized<R>, named: Option<AgentName>) -> Result<Actor, Problem> {
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
