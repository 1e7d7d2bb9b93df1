//! Callboard's own tools, done for an agent: one function for runs, for HTTP and for whatever else calls them.

use callboard_core::{
    context_set::SetView,
    conversation::MessageView,
    entry::Actor,
    id::{AgentName, ThreadId},
    tool::{CallTool, Execution, Read, own_tool},
    viewer::Viewer,
};
use serde_json::{Value, json};

use crate::{error::Error, read::message::MessageQuery, session::Session};

impl Session {
    /// Does what `agent` asks of Callboard's own tool `name`, with the agent's own rights, and says what its model is
    /// told.
    pub async fn call_tool(&self, agent: &AgentName, name: &str, arguments: &Value) -> Result<String, Error> {
        match own_tool(name)?.execution {
            Execution::Command(_) => {
                let call = CallTool { name: name.to_owned(), arguments: arguments.clone() };
                Ok(self.execute(Actor::Agent(agent.clone()), call).await?.answer)
            }
            Execution::Read(read) => self.read_for(agent, read(arguments)?).await,
        }
    }

    async fn read_for(&self, agent: &AgentName, what: Read) -> Result<String, Error> {
        let viewer = Viewer::Agent(agent.clone());
        match what {
            Read::ContextSet(name) => {
                let content = self.view(&viewer, |view| match view.set(&name)? {
                    SetView::Whole(held) => Ok(Some(held.set.content.clone())),
                    SetView::Outline(_) => Ok(None),
                });
                let Some(content) = content.await? else { return Ok(format!("[{name} is hidden from you]")) };
                let values = self.values(content.stored()).await?;
                Ok(content.whole(&values).map(|text| text.to_string()).unwrap_or_default())
            }
            Read::Messages(thread, limit) => {
                let thread = thread.unwrap_or_else(|| ThreadId::of_agent(agent));
                let query = MessageQuery { limit: Some(limit), ..MessageQuery::default() };
                let page = self.messages(&viewer, &thread, query).await?;
                let messages: Vec<_> = page.messages.iter().map(in_short).collect();
                Ok(Value::from(messages).to_string())
            }
        }
    }
}

/// A message as a model is told of it.
fn in_short(message: &MessageView) -> Value {
    json!({"from": message.agent.as_ref().map_or_else(|| json!(message.role), |agent| json!(agent)),
        "content": message.content, "timestamp": message.timestamp})
}
