//! Whether there is a model for each agent of a team.

use callboard_api as api;
use callboard_engine::core::{
    agent::{Agent, AgentRole},
    id::ThreadId,
};
use callboard_model::{Endpoints, ModelName};

use super::super::Context;
use crate::{client::Client, config, failure::Failure};

/// Refuses a team without a usable model before anything happens. The model of the thread in which an agent works comes
/// before its own. Only a server knows which models it has.
pub(in crate::commands) fn check(context: &Context, agents: &[Agent], threads: &[api::Thread]) -> Result<(), Failure> {
    if matches!(context.client, Client::Remote(_)) {
        return Ok(());
    }
    let (endpoints, default): (Endpoints, _) = (config::endpoints(), config::default_model());
    for agent in agents {
        let thread = match agent.role {
            AgentRole::Manager => ThreadId::main(),
            AgentRole::Worker => ThreadId::of_agent(&agent.name),
        };
        let of_thread = threads.iter().find(|it| it.name == thread).and_then(|it| it.model.as_deref());
        let model = of_thread.or(agent.model.as_deref()).or(default.as_deref()).ok_or_else(|| {
            Failure::failed("no_model", format!("{} has no model", agent.name))
                .hint("set CALLBOARD_MODEL=openai:NAME, and OPENAI_BASE_URL or OPENAI_API_KEY")
        })?;
        let model: ModelName = model.parse()?;
        endpoints.check(model.provider())?;
    }
    Ok(())
}
