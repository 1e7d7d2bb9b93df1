//! The conversation of a client: what of it is known, and what is new.

use callboard_core::{
    agent::Role,
    audience::Audience,
    conversation::{AddMessages, NewMessage, PutThread, given, reading, settings::ThreadPatch, shape::in_shape},
    entry::Actor,
    id::{AgentName, ThreadId},
    state::State,
    viewer::Viewer,
};
use callboard_engine::{MessageQuery, Session};
use serde_json::{Value, json};

use super::dialect::{Asked, Complaint, Dialect, texts};

/// A client's conversations with one agent.
pub(super) struct Conversation<'a> {
    pub(super) session: &'a Session,
    pub(super) agent: &'a AgentName,
    /// Whether it is the user who asks; else the agent itself.
    pub(super) is_user: bool,
    pub(super) dialect: Dialect,
}

impl Conversation<'_> {
    /// Appends what is new, and says to which thread. What a client sends that does not go on with what is known begins a branch:
    /// a thread of its own, so that nothing is lost.
    pub(super) async fn append(&self, asked: &Asked) -> Result<ThreadId, Complaint> {
        let state = self.session.state().await?;
        // What is known has placeholders for secrets, also where the client sends them.
        let mask = self.session.mask_of_input().await?;
        let hidden = |mut essence: Value| {
            mask.mask_json(&mut essence);
            essence
        };
        let wanted: Vec<Value> = asked.messages.iter().map(|message| hidden(self.essence(message))).collect();
        let mut best: Option<(ThreadId, usize)> = None;
        let mut free = None;
        for thread in self.threads() {
            let thread = thread?;
            if state.threads.get(&thread).is_none() {
                free = Some(thread);
                break;
            }
            let known: Vec<Value> = self.known(&thread).await?;
            let goes_on = wanted.starts_with(&known) && (!known.is_empty() || best.is_none());
            if goes_on && best.as_ref().is_none_or(|(_, count)| known.len() > *count) {
                best = Some((thread, known.len()));
            }
        }
        let (thread, known) = match (best, free) {
            (Some(best), _) => best,
            (None, Some(free)) => (free, 0),
            // There is always a free one.
            (None, None) => return Err(Complaint::new(http::StatusCode::CONFLICT, "there are too many branches")),
        };
        self.settle(&state, &thread, asked).await?;
        self.add(&thread, asked.messages.get(known..).unwrap_or_default()).await?;
        Ok(thread)
    }

    /// The threads of this agent's conversations, in their order.
    fn threads(&self) -> impl Iterator<Item = Result<ThreadId, Complaint>> {
        let agent = self.agent;
        (1..10_000).map(move |number| {
            let name = if number == 1 { format!("chat:{agent}") } else { format!("chat:{agent}:{number}") };
            ThreadId::try_from(name).map_err(|error| Complaint::new(http::StatusCode::BAD_REQUEST, error.to_string()))
        })
    }

    /// What is known of a conversation, as what counts of each message.
    async fn known(&self, thread: &ThreadId) -> Result<Vec<Value>, Complaint> {
        let page = self.session.messages(&Viewer::User, thread, MessageQuery::default()).await?;
        Ok(in_shape(self.dialect.shape(), &page.messages).iter().map(|message| self.essence(message)).collect())
    }

    /// Sees to it that the thread is for this agent and the managers, with the client's instructions and tools.
    async fn settle(&self, state: &State, thread: &ThreadId, asked: &Asked) -> Result<(), Complaint> {
        let known = state.threads.get(thread);
        let settings = known.map(|thread| thread.settings.clone()).unwrap_or_default();
        let mut patch = ThreadPatch::default();
        let instructions = asked.instructions.as_deref().filter(|text| !text.is_empty());
        if settings.instructions.as_deref() != instructions {
            patch.instructions = Some(instructions.map(Into::into));
        }
        let tools = (!asked.tools.is_empty()).then(|| asked.tools.clone());
        if settings.tools != tools {
            patch.tools = Some(tools);
        }
        let visible_to = known.is_none().then(|| {
            let managers =
                state.team.agents().filter(|agent| agent.role == Role::Manager).map(|agent| agent.name.clone());
            Audience::of(managers.chain([self.agent.clone()]))
        });
        if visible_to.is_some() || patch != ThreadPatch::default() {
            // The caller was let in as this agent, and the thread is its own.
            let put = PutThread { thread: thread.clone(), visible_to, settings: patch };
            self.session.execute(Actor::User, put).await?;
        }
        Ok(())
    }

    /// Adds messages: what the user said as the user, what the agent said and was told by tools as the agent.
    async fn add(&self, thread: &ThreadId, messages: &[Value]) -> Result<(), Complaint> {
        let given = messages.iter().map(|message| serde_json::from_value(said(message)));
        let given = given
            .collect::<Result<Vec<given::GivenMessage>, _>>()
            .map_err(|error| Complaint::new(http::StatusCode::BAD_REQUEST, format!("/messages: {error}")))?;
        let mut new = reading::read(given)?;
        while !new.is_empty() {
            let actor = self.actor(new.first());
            let count = new.iter().take_while(|message| self.actor(Some(message)) == actor).count();
            let rest = new.split_off(count);
            let add = AddMessages { thread: thread.clone(), messages: std::mem::replace(&mut new, rest) };
            self.session.execute(actor, add).await?;
        }
        Ok(())
    }

    fn actor(&self, message: Option<&NewMessage>) -> Actor {
        let is_users = message.is_some_and(|message| message.role == callboard_core::conversation::Role::User);
        if self.is_user && is_users { Actor::User } else { Actor::Agent(self.agent.clone()) }
    }

    /// What counts of a message where it is compared: clients add and leave out fields that say nothing.
    fn essence(&self, message: &Value) -> Value {
        let field = |name: &str| message.get(name).cloned().unwrap_or_default();
        let role = match field("role").as_str() {
            Some("developer") => json!("system"),
            _ => field("role"),
        };
        match self.dialect {
            Dialect::OpenAi => {
                let calls = field("tool_calls");
                let calls: Vec<_> = calls.as_array().into_iter().flatten().map(call).collect();
                json!([role, parts(message.get("content")), calls, field("tool_call_id")])
            }
            Dialect::Anthropic => json!([role, parts(message.get("content"))]),
        }
    }
}

/// A message without fields that say nothing, which clients send of all that there once was.
fn said(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.retain(|name, value| !value.is_null() || name == "content");
    }
    message
}

/// A call of a tool, with its arguments as JSON.
fn call(call: &Value) -> Value {
    let function = call.get("function").cloned().unwrap_or_default();
    let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    json!([call.get("id"), function.get("name"), arguments])
}

/// The parts of a content; a text is one part, and an empty one none.
fn parts(content: Option<&Value>) -> Vec<Value> {
    let parts = match content {
        Some(Value::String(text)) if !text.is_empty() => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(parts)) => parts.clone(),
        _ => Vec::new(),
    };
    let counts =
        |part: &Value| !matches!(part.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"));
    let bare = |mut part: Value| {
        if let Some(fields) = part.as_object_mut() {
            fields.remove("cache_control");
            fields.remove("citations");
            if fields.get("type") == Some(&json!("tool_result")) {
                let text = texts(fields.get("content"));
                fields.insert("content".to_owned(), text.into());
                fields.retain(|name, value| name != "is_error" || *value == json!(true));
            }
        }
        part
    };
    parts.into_iter().filter(counts).map(bare).collect()
}
