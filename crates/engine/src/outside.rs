//! What is outside of the journals: context files, browsers, and what executes workflows. An engine knows neither. Whoever calls tools for agents, or
//! makes prompts, gives what works with them.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    browser::{BrowserCall, BrowserStep, Extract},
    conversation::ToolResult,
    entry::Actor,
    error::Error as Refusal,
    id::NodeId,
    prompt::observed::{Observed, Tab},
    tool::{FileCall, OwnTool, own_tool},
};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{error::Error, session::Session};

/// Does what agents ask for with context files.
pub trait ContextFiles: Send + Sync {
    /// Does it with the files of `session`, and gives what the agent's model is told. What became of the files is recorded
    /// before it is answered.
    fn call<'a>(&'a self, session: &'a Session, call: FileCall) -> BoxFuture<'a, Result<String, Error>>;
}

/// Does what agents ask for in browsers.
pub trait Browsers: Send + Sync {
    /// Does it in the browser of `session`, and gives what the agent's model is told.
    fn call<'a>(&'a self, session: &'a Session, call: BrowserCall) -> BoxFuture<'a, Result<ToolResult, Error>>;

    /// Does, one after the other, what a node of the workflow does in a tab, and says what the tab shows then: `url` and `title`.
    fn act<'a>(
        &'a self,
        session: &'a Session,
        tab_name: Option<&'a str>,
        steps: &'a [BrowserStep],
    ) -> BoxFuture<'a, Result<Map<String, Value>, Error>>;

    /// Reads from the page in a tab what a node of the workflow asks for, by the names of the fields.
    fn extract<'a>(
        &'a self,
        session: &'a Session,
        tab_name: Option<&'a str>,
        fields: &'a [(Arc<str>, Extract)],
    ) -> BoxFuture<'a, Result<Map<String, Value>, Error>>;

    /// The tabs of the session's browser as they are now. Starts none.
    fn tabs<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Observed<Vec<Tab>>>;
}

/// Executes workflows.
pub trait Workflows: Send + Sync {
    /// Executes one node of the workflow of `session` for `by`, and gives what the agent's model is told.
    fn test_node<'a>(&'a self, session: &'a Session, by: Actor, node: NodeId) -> BoxFuture<'a, Result<String, Error>>;
}

/// All that is outside, as far as it is there.
#[derive(Clone, Default)]
pub struct Outside {
    /// The context files.
    pub files: Option<Arc<dyn ContextFiles>>,
    /// The browsers.
    pub browsers: Option<Arc<dyn Browsers>>,
    /// What executes workflows.
    pub workflows: Option<Arc<dyn Workflows>>,
}

impl Outside {
    /// Those of Callboard's own tools with these names, by which models know them, that could do anything.
    pub fn served(&self, names: impl IntoIterator<Item: AsRef<str>>) -> BTreeSet<Arc<str>> {
        let tools = names.into_iter().filter_map(|name| own_tool(name.as_ref()).ok());
        tools.filter(|tool| self.serves(tool)).map(|tool| tool.name.into()).collect()
    }

    /// Whether this tool could do anything: without a folder those for files cannot, and without browsers those for browsers.
    pub fn serves(&self, tool: &OwnTool) -> bool {
        (self.files.is_some() || !tool.is_of_files()) && (self.browsers.is_some() || !tool.is_of_browser())
    }

    /// The browsers, or why there are none.
    pub fn browsers(&self) -> Result<&Arc<dyn Browsers>, Refusal> {
        self.browsers.as_ref().ok_or_else(|| Refusal::not_found("browser", ""))
    }

    pub(crate) fn files(&self) -> Result<&Arc<dyn ContextFiles>, Refusal> {
        self.files.as_ref().ok_or_else(|| Refusal::not_found("folder with context files", ""))
    }

    pub(crate) fn workflows(&self) -> Result<&Arc<dyn Workflows>, Refusal> {
        self.workflows.as_ref().ok_or_else(|| Refusal::not_found("server that executes workflows", ""))
    }
}
