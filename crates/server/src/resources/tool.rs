//! Callboard's own tools, for those who drive models themselves.

use callboard_core::{
    agent::Tool,
    browser::scout::DEPLOY_SCOUT,
    entry::Actor,
    error::ConflictKind,
    id::AgentName,
    tool::{CallTool, OwnTool, ToolExecution, own_tool},
    view::View,
};
use callboard_prompt::default_agent;

use crate::{
    call::*,
    params::ToolName,
    problem::status,
    rights::{Permission, ReadSession},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_tools)).routes(routes!(call_tool))
}

/// List Callboard's own tools that an agent may use
#[utoipa::path(get, path = "/v1/sessions/{session}/tools", tag = "tools",
    params(api::ToolsQuery),
    responses((status = OK, description = "The tools, in the format of the model's API", body = api::ToolList)))]
async fn list_tools(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::ToolsQuery>,
) -> Result<Answer<api::ToolList>, CallError> {
    let viewer = using(&caller, query.agent).await?.into();
    // A scout needs a model, which only a run of a director has.
    let can_do = |tool: &&OwnTool| caller.app.outside.serves(tool) && tool.name != DEPLOY_SCOUT;
    let described = |view: View<'_>| Ok(view.own_tools().filter(can_do).map(OwnTool::described).collect());
    let tools: Vec<Tool> = caller.session.view(&viewer, described).await?;
    Ok(Answer::ok(api::ToolList { tools: callboard_prompt::tools(query.format.into(), &tools) }))
}

/// Call one of Callboard's own tools as an agent
///
/// A tool that fails is an answer, too: `is_error` is true, and `result` says why, for the model.
#[utoipa::path(post, path = "/v1/sessions/{session}/tools/{tool}", tag = "tools",
    params(InPath<ToolName>),
    request_body = api::ToolCallBody,
    responses((status = OK, description = "The result, as the model is to read it", body = api::ToolCallResult)))]
async fn call_tool(
    caller: Authorized<CallTool>,
    InPath(ToolName(name)): InPath<ToolName>,
    RequestBody { body, options }: RequestBody<api::ToolCallBody>,
) -> Result<Answer<api::ToolCallResult>, CallError> {
    let api::ToolCallBody { agent, arguments } = body;
    let by = using(&caller, agent).await?;
    match own_tool(&name)?.execution {
        ToolExecution::Command(_) => {
            let call = CallTool { name, arguments };
            match caller.execute_as(by, options, call).await {
                Ok(receipt) => Ok(Answer::ok(told(receipt.answer.0)).at(receipt.head)),
                Err(failure) => failed(failure).map(Answer::ok),
            }
        }
        ToolExecution::Read(_) => {
            caller.expect(&options).await?;
            // One of them executes a node, and the lease on that is to be renewed.
            caller.app.drivers.keep();
            match caller.session.read_tool(&by.into(), &name, &arguments, &caller.app.outside).await {
                Ok(result) => Ok(Answer::ok(told(result.text.to_string()))),
                Err(failure) => failed(failure.into()).map(Answer::ok),
            }
        }
    }
}

fn told(result: String) -> api::ToolCallResult {
    api::ToolCallResult { result, is_error: false }
}

/// What a model is told of its call where that failed. What is wrong with the request itself stays a failure of the request.
fn failed(failure: CallError) -> Result<api::ToolCallResult, CallError> {
    let is_of_request =
        failure.resource == Some("session") || failure.code == ConflictKind::IdempotencyKeyReused.code();
    let is_of_tool = matches!(status(failure.code).as_u16(), 403 | 404 | 409 | 422 | 502 | 504)
        || failure.code.starts_with("browser_");
    if is_of_request || !is_of_tool {
        return Err(failure);
    }
    let hint = failure.hint.map(|hint| format!(": {hint}")).unwrap_or_default();
    Ok(api::ToolCallResult { result: format!("[not done: {}{hint}]", failure.detail), is_error: true })
}

/// Who uses a tool. An agent uses it itself. The user uses it as the named agent, else as the manager or the only agent, else
/// as the user.
async fn using<R: Permission>(caller: &Authorized<R>, named: Option<AgentName>) -> Result<Actor, CallError> {
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
