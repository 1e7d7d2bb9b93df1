//! Tools: Callboard's own, as models have them in runs, and those that make other calls.

use std::sync::Arc;

use callboard_core::{
    browser::scout::DEPLOY_SCOUT,
    tool::{OWN_TOOLS, OwnTool, ToolExecution, own_tool},
};
use http::Method;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::{
    Scope,
    call::{ApiCall, Asker, Caller, Refusal, object},
    extra::{EXTRAS, Effect, Extra, Given, named},
    form,
    resources::items,
};

/// The argument that names the session where the connection does not.
const SESSION: &str = "session";
/// Those of Callboard's own tools that do something outside of the journal, or may: a picture of a page is kept as a file.
const DOING: &[&str] = &[
    "add_file",
    "inspect_tab",
    "debug_navigate",
    "debug_action",
    "debug_open_tab",
    "debug_close_tab",
    "test_single_node",
];
/// Those that take something away, or may.
const DESTRUCTIVE: &[&str] = &[
    "write_context_set",
    "memory",
    "clear_variable",
    "clear_all_variables",
    "delete_node",
    "debug_action",
    "debug_close_tab",
];

impl Caller {
    /// The tools that the caller may use, of those that are offered.
    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, Refusal> {
        let session = self.scope.session.as_ref().map(ToString::to_string);
        let asker = self.asker(session.as_deref().unwrap_or_default()).await?;
        let own = match &session {
            Some(session) => self.own_tools(session).await?,
            // A scout needs a model, which only a run of a director has.
            None => {
                OWN_TOOLS.iter().map(|tool| tool.name).filter(|name| *name != DEPLOY_SCOUT).map(str::to_owned).collect()
            }
        };
        let names_session = session.is_none();
        let own = own.iter().filter_map(|name| own_tool(name).ok()).map(own_as_tool);
        let grants = match &session {
            Some(session) if asker.agent.is_some() => self.grants(session).await?,
            _ => Vec::new(),
        };
        // Where each call names its session, who may call it differs from session to session.
        let is_for = |extra: &&Extra| match (extra.callers.are_on_session(), names_session) {
            (true, true) => true,
            (true, false) | (false, true) => extra.callers.have(&asker, &grants),
            (false, false) => false,
        };
        let extras = EXTRAS.iter().filter(is_for).map(|extra| (extra_as_tool(extra), extra.callers.are_on_session()));
        let forms = asker.agent.is_none().then(|| (form::tool(), true));
        let all = own.map(|tool| (tool, true)).chain(extras).chain(forms);
        let offered = all.filter(|(tool, _)| self.scope.offer.has(&tool.name));
        Ok(offered
            .map(|(tool, on_session)| if names_session && on_session { with_session(tool) } else { tool })
            .collect())
    }

    /// The names of Callboard's own tools that the caller may use in this session.
    async fn own_tools(&self, session: &str) -> Result<Vec<String>, Refusal> {
        let list = self.ask(ApiCall::get(session, &["tools"]).query("format", "anthropic")).await?;
        Ok(items(&list, "tools").filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect())
    }

    /// What this session grants, as far as the caller may see it: a worker sees nothing of it.
    async fn grants(&self, session: &str) -> Result<Vec<String>, Refusal> {
        let known = self.ask(ApiCall::get(session, &[])).await?;
        Ok(items(&known, "grant").filter_map(|grant| Some(grant.as_str()?.to_owned())).collect())
    }

    /// Whether there is a tool with this name.
    pub(crate) fn knows_tool(&self, name: &str) -> bool {
        name == form::ANSWER_FORMS || named(name).is_some() || own_tool(name).is_ok()
    }

    /// Calls a tool.
    pub(crate) async fn call_tool(&self, name: &str, mut arguments: JsonObject) -> Result<CallToolResult, Refusal> {
        let extra = named(name);
        if let Some(extra) = extra.filter(|extra| !extra.callers.are_on_session()) {
            self.check_is_of_all(name)?;
            return self.call_extra(extra, &Asker::default(), arguments).await;
        }
        let session = self.session_in(&mut arguments)?;
        match extra {
            Some(extra) => {
                let asker = self.asker(&session).await?;
                self.call_extra(extra, &asker, arguments).await
            }
            None => {
                let call = ApiCall::on(&session, Method::POST, &["tools", name]);
                let answer = self.ask(call.with(json!({"arguments": arguments}))).await?;
                let text = answer.get("result").and_then(Value::as_str).unwrap_or_default().to_owned();
                let content = vec![ContentBlock::text(text)];
                let mut result = match answer.get("is_error") {
                    Some(Value::Bool(true)) => CallToolResult::error(content),
                    _ => CallToolResult::success(content),
                };
                result.structured_content = Some(answer);
                Ok(result)
            }
        }
    }

    /// Refuses a tool that works on all sessions to a connection that works as an agent, or on one session.
    fn check_is_of_all(&self, tool: &str) -> Result<(), Refusal> {
        let Scope { session, acting_as, .. } = &self.scope;
        let whose = match (acting_as, session) {
            (Some(agent), _) => format!("works as the agent {agent}"),
            (None, Some(session)) => format!("is for the session {session} alone"),
            (None, None) => return Ok(()),
        };
        Err(Refusal::forbidden(format!("{tool} is for the user, on a connection for all sessions: this one {whose}")))
    }

    /// The session of a call, which is taken out of its arguments.
    pub(crate) fn session_in(&self, arguments: &mut JsonObject) -> Result<String, Refusal> {
        match arguments.remove(SESSION) {
            Some(Value::String(session)) => self.session(Some(&session)),
            None => self.session(None),
            Some(other) => Err(Refusal::invalid(format!("`{SESSION}` is {other}, and has to be a text"))),
        }
    }

    async fn call_extra(&self, extra: &Extra, asker: &Asker, arguments: JsonObject) -> Result<CallToolResult, Refusal> {
        let properties = (extra.arguments)();
        if let Some(unknown) = arguments.keys().find(|name| properties.get(name.as_str()).is_none()) {
            let names = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>().join(", ");
            return Err(Refusal::invalid(format!("{} has no argument `{unknown}`; it takes: {names}", extra.name)));
        }
        let answer = self.ask((extra.call)(asker, &Given(arguments))?).await?;
        let Some(name) = extra.text else { return Ok(CallToolResult::structured(answer)) };
        let text = answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(declared(&answer, &(extra.answer)()));
        Ok(result)
    }
}

fn own_as_tool(own: &OwnTool) -> Tool {
    let described = own.described();
    let is_read = matches!(own.execution, ToolExecution::Read(_)) && !DOING.contains(&own.name);
    let annotations = ToolAnnotations::new()
        .read_only(is_read)
        .destructive(DESTRUCTIVE.contains(&own.name))
        .idempotent(own.idempotent)
        .open_world(own.is_of_browser());
    let schema: JsonObject = described.parameters.into_iter().collect();
    let output = json!({"type": "object", "required": ["result"],
    "properties": {
        "result": {"type": "string", "description": "What came of it, as a model is to read it"},
        "is_error": {"type": "boolean", "description": "Whether it failed"},
    }});
    Tool::new(described.name, described.description, Arc::new(schema))
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(object(output)))
}

fn extra_as_tool(extra: &Extra) -> Tool {
    let (properties, required) = ((extra.arguments)(), extra.required);
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let annotations = ToolAnnotations::new()
        .read_only(extra.effect == Effect::None)
        .destructive(false)
        .idempotent(extra.effect != Effect::Adds)
        .open_world(false);
    Tool::new(extra.name, extra.description, Arc::new(object(schema)))
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(object((extra.answer)())))
}

/// What of an answer its schema names.
fn declared(answer: &Value, schema: &Value) -> Value {
    let names = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.filter_map(|name| Some((name.clone(), answer.get(name)?.clone()))).collect::<Map<_, _>>().into()
}

/// The same tool, where each call has to name the session.
fn with_session(mut tool: Tool) -> Tool {
    let mut schema = (*tool.input_schema).clone();
    let named = json!({"type": "string", "description": "The id of the session"});
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(SESSION.to_owned(), named);
    }
    match schema.get_mut("required") {
        Some(Value::Array(required)) => required.push(json!(SESSION)),
        _ => drop(schema.insert("required".to_owned(), json!([SESSION]))),
    }
    tool.input_schema = Arc::new(schema);
    tool
}
