//! The tools that a client needs besides those that models have in runs: what a program does through other calls.

use http::Method;
use serde_json::{Map, Value, json};

use crate::call::{ApiCall, Asker, Refusal};

/// A tool that makes a call of the API.
pub(crate) struct Extra {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) callers: Callers,
    pub(crate) effect: Effect,
    /// The properties of its arguments, as JSON Schema.
    pub(crate) arguments: fn() -> Value,
    /// Those that must be there.
    pub(crate) required: &'static [&'static str],
    /// The call that it makes.
    pub(crate) call: fn(&Asker, &Given) -> Result<ApiCall, Refusal>,
    /// The field of the answer with the text that the model reads; without one it reads all of it as JSON.
    pub(crate) text: Option<&'static str>,
    /// What is in the answer that a program needs, as JSON Schema.
    pub(crate) answer: fn() -> Value,
}

/// Who may call a tool. It works on a session, but for those of all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callers {
    /// The user, where no session is given.
    UserOfAll,
    /// The user and every agent. A worker without the grant that it needs is told so when it tries: it does not see what the
    /// session grants.
    Everyone,
    /// The user and the manager.
    Manager,
    /// The user, and the manager if the session grants this.
    ManagerGranted(&'static str),
}

impl Callers {
    /// Whether they call it on a session.
    pub(crate) fn are_on_session(self) -> bool {
        self != Self::UserOfAll
    }

    /// Whether one who asks in a session is among them. `grants` are those of the session, as far as it may see them.
    pub(crate) fn have(self, asker: &Asker, grants: &[String]) -> bool {
        match self {
            Self::UserOfAll => asker.agent.is_none(),
            Self::Everyone => true,
            Self::Manager => !asker.is_worker(),
            Self::ManagerGranted(grant) => asker.agent.is_none() || grants.iter().any(|given| given == grant),
        }
    }
}

/// What a tool does to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// It adds something, each time it is called.
    Adds,
    /// It puts something in the place of what was there, and doing it twice does no harm.
    Replaces,
}

/// The arguments of a call.
pub(crate) struct Given(pub(crate) Map<String, Value>);

impl Given {
    fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.maybe(name)?.ok_or_else(|| Refusal::invalid(format!("`{name}` is missing")))
    }

    fn maybe(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(Refusal::invalid(format!("`{name}` is {other}, and has to be a text"))),
        }
    }

    /// The arguments as a body, without that which is in the address.
    fn body(&self, in_address: Option<&str>) -> Value {
        let fields = self.0.iter().filter(|(name, _)| Some(name.as_str()) != in_address);
        fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()
    }
}

/// An object with these properties, all of which are there.
fn whole(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// A list under this name.
fn list(name: &str, item: Value) -> Value {
    whole(json!({name: {"type": "array", "items": item}}))
}

fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn session() -> Value {
    let agent = whole(json!({"name": text(), "role": {"enum": ["manager", "worker"]}}));
    let title = json!({"type": ["string", "null"]});
    whole(json!({"id": text(), "title": title, "head": number(), "agents": {"type": "array", "items": agent}}))
}

/// All of them.
pub(crate) static EXTRAS: &[Extra] = &[
    Extra {
        name: "list_sessions",
        description: "List the sessions, the last used first. A session is the place in which one team works.",
        callers: Callers::UserOfAll,
        effect: Effect::None,
        arguments: || {
            json!({
                "q": {"type": "string", "description": "Only sessions whose id or title contains this"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "The most sessions; 20 if absent"},
            })
        },
        required: &[],
        call: |_, given| {
            let limit = given.0.get("limit").map_or_else(|| "20".to_owned(), Value::to_string);
            let call = ApiCall::new(Method::GET, &["v1", "sessions"]).query("order", "recent").query("limit", &limit);
            Ok(match given.maybe("q")? {
                Some(q) => call.query("q", q),
                None => call,
            })
        },
        text: None,
        answer: || list("sessions", session()),
    },
    Extra {
        name: "create_session",
        description: "Create a session for a team. Its answer has the id.",
        callers: Callers::UserOfAll,
        effect: Effect::Adds,
        arguments: || {
            json!({
                "id": {"type": "string", "description": "Its id; a generated one if absent"},
                "title": {"type": "string", "description": "A title for people"},
                "agents": {"type": "array", "description": "The team; each agent has a name and a role",
                    "items": {"type": "object", "required": ["name", "role"], "properties": {
                        "name": {"type": "string"}, "role": {"enum": ["manager", "worker"]}}}},
            })
        },
        required: &[],
        call: |_, given| Ok(ApiCall::new(Method::POST, &["v1", "sessions"]).with(given.body(None))),
        text: None,
        answer: session,
    },
    Extra {
        name: "fork_session",
        description: "Copy a session, up to an entry of its journal or whole, into a new one that goes its own way.",
        callers: Callers::ManagerGranted("fork"),
        effect: Effect::Adds,
        arguments: || {
            json!({
                "at": {"type": "integer", "minimum": 1, "description": "The last entry to copy; all of them if absent"},
                "id": {"type": "string", "description": "The id of the copy; a generated one if absent"},
            })
        },
        required: &[],
        call: |asker, given| Ok(ApiCall::post(&asker.session, &["fork"], given.body(None))),
        text: None,
        answer: session,
    },
    Extra {
        name: "get_prompt",
        description: "What you need to know now, within a budget of tokens: the team and your place in it, the context sets that you may see, the plan, what was said, and what was found for your task. Read it first.",
        callers: Callers::Everyone,
        effect: Effect::None,
        arguments: || {
            json!({
                "agent": {"type": "string", "description": "Whose prompt; your own if absent"},
                "thread": {"type": "string", "description": "The conversation; the agent's own if absent"},
                "budget": {"type": "integer", "minimum": 1, "description": "The most tokens that it may have"},
                "query": {"type": "string", "description": "What to recall passages for; what was said last if absent"},
            })
        },
        required: &[],
        call: |asker, given| Ok(ApiCall::post(&asker.session, &["prompt"], given.body(None))),
        text: Some("text"),
        answer: || whole(json!({"text": text(), "tokens": number(), "budget": number()})),
    },
    Extra {
        name: "list_context_sets",
        description: "List the context sets, the named texts that the team shares, as far as you may see them.",
        callers: Callers::Everyone,
        effect: Effect::None,
        arguments: || json!({}),
        required: &[],
        call: |asker, _| Ok(ApiCall::get(&asker.session, &["context-sets"])),
        text: None,
        answer: || {
            list("context_sets", whole(json!({"name": text(), "tokens": number(), "enabled": {"type": "boolean"}})))
        },
    },
    Extra {
        name: "list_threads",
        description: "List the conversations that you may see.",
        callers: Callers::Everyone,
        effect: Effect::None,
        arguments: || json!({}),
        required: &[],
        call: |asker, _| Ok(ApiCall::get(&asker.session, &["threads"])),
        text: None,
        answer: || list("threads", whole(json!({"name": text(), "messages": number(), "tokens": number()}))),
    },
    Extra {
        name: "send_message",
        description: "Say something in a conversation. All who may see the conversation read it.",
        callers: Callers::Everyone,
        effect: Effect::Adds,
        arguments: || {
            json!({
                "content": {"type": "string", "description": "What you say"},
                "thread": {"type": "string", "description": "The conversation, such as `main`. If absent: a worker's own, `agent:NAME`, else `main`"},
            })
        },
        required: &["content"],
        call: |asker, given| {
            let own = asker.own_thread();
            let (content, thread) = (given.text("content")?, given.maybe("thread")?.unwrap_or(&own));
            let role = if asker.agent.is_some() { "assistant" } else { "user" };
            let message = json!({"role": role, "content": content});
            Ok(ApiCall::post(&asker.session, &["threads", thread, "messages"], json!({"messages": [message]})))
        },
        text: None,
        answer: || {
            let message = whole(json!({"message_id": text(), "seq": number()}));
            whole(json!({"messages": {"type": "array", "items": message}, "head": number()}))
        },
    },
    Extra {
        name: "compress_thread",
        description: "Put a summary in the place of the older messages of a conversation in prompts. Nothing is lost: the messages stay, and can be found.",
        callers: Callers::Manager,
        effect: Effect::Replaces,
        arguments: || {
            json!({
                "thread": {"type": "string", "description": "The conversation"},
                "target_tokens": {"type": "integer", "minimum": 500, "description": "The largest size of the history afterwards"},
                "keep_recent_tokens": {"type": "integer", "minimum": 0, "description": "How many tokens of the newest messages are kept word for word"},
                "method": {"enum": ["model", "extractive"], "description": "Who writes the summary; `extractive` makes it of excerpts"},
                "preview": {"type": "boolean", "description": "Only report what would be done"},
            })
        },
        required: &["thread"],
        call: |asker, given| {
            let path = ["threads", given.text("thread")?, "compress"];
            Ok(ApiCall::post(&asker.session, &path, given.body(Some("thread"))))
        },
        text: None,
        answer: || {
            let sizes = ["through", "messages", "tokens_before", "tokens_after"];
            let mut properties: Map<_, _> = sizes.map(|name| (name.to_owned(), number())).into_iter().collect();
            properties.insert("method".to_owned(), text());
            whole(properties.into())
        },
    },
    Extra {
        name: "add_document",
        description: "Keep a longer text, such as a guide, in which the team can look things up by `recall`. A document with the same name is replaced.",
        callers: Callers::Everyone,
        effect: Effect::Replaces,
        arguments: || {
            json!({
                "name": {"type": "string", "description": "Its name, such as `docs/guide.md`"},
                "text": {"type": "string", "description": "What it says"},
            })
        },
        required: &["name", "text"],
        call: |asker, given| Ok(ApiCall::post(&asker.session, &["documents"], given.body(None))),
        text: None,
        answer: || whole(json!({"name": text(), "tokens": number(), "outcome": text()})),
    },
];

/// The tool with this name.
pub(crate) fn named(name: &str) -> Option<&'static Extra> {
    EXTRAS.iter().find(|extra| extra.name == name)
}
