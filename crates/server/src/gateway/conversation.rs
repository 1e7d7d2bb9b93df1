//! The conversation of a client: what of it is known, and what is new.

use std::cmp::Reverse;

use callboard_core::{
    agent::AgentRole,
    audience::Audience,
    conversation::{
        self, AddClientMessages, AddMessages, MessageView, NewMessage, ToolCall, call_secrets, given, reading,
        reasoning, settings::ThreadPatch, shape::in_shape, thoughts::split_thoughts,
    },
    entry::Actor,
    id::{AgentName, Seq, ThreadId},
    json::value_of,
    state::State,
    viewer::Viewer,
};
use callboard_engine::{Mask, MessageQuery, Session};
use serde_json::{Value, json};

use super::{
    dialect::{Asked, Complaint, Dialect, said, texts},
    known::{Fit, Known, Wanted},
};

/// How many messages are read of the end of a thread to see whether a client goes on with it.
const END: usize = 8;

/// In how many long threads that a client does not go on with it is looked up how much it says of their beginning.
const MAX_LOOKED_UP: usize = 20;

/// How many messages are compared at most to find where a client goes on that leaves out what is old. More are only compared
/// in long conversations that repeat themselves; there it may begin a branch.
const MAX_COMPARED: usize = 1_000_000;

/// How often what is new is looked for at most where others add to the session meanwhile. Then it is added all the same.
const MAX_TRIES: usize = 5;

/// A client's conversations with one agent.
pub(super) struct Conversation<'a> {
    pub(super) session: &'a Session,
    pub(super) agent: &'a AgentName,
    /// Whether it is the user who asks; else the agent itself.
    pub(super) is_user: bool,
    pub(super) dialect: Dialect,
}

/// Where a request belongs.
pub(super) struct Placed {
    pub(super) thread: ThreadId,
    /// The last entry before the answer, where the client asks again what was answered already.
    pub(super) before_answer: Option<Seq>,
    /// How many of its messages are known there.
    pub(super) known: usize,
}

/// What a client sends, in comparison with what is known of all its conversations.
enum Found {
    /// It belongs to a thread.
    There(Placed),
    /// It is a conversation of its own, in the thread `free`: a branch of the one with which it begins, where there is one.
    New { free: ThreadId, parted: Option<(ThreadId, usize)> },
}

impl Conversation<'_> {
    /// Appends what is new, and says to which thread. What a client sends that does not go on with what is known begins a branch:
    /// a thread of its own, so that nothing is lost. Where another server adds something meanwhile, which may be the same, what is
    /// known is looked at again.
    pub(super) async fn append(&self, asked: &Asked) -> Result<Placed, Complaint> {
        for _ in 0..MAX_TRIES {
            let state = self.session.state().await?;
            match self.append_at(Some(state.head.seq), &state, asked).await {
                Err(complaint) if complaint.is_stale() => {}
                appended => return appended,
            }
        }
        let state = self.session.state().await?;
        self.append_at(None, &state, asked).await
    }

    /// The same, where the head of the session is `expected`.
    async fn append_at(&self, expected: Option<Seq>, state: &State, asked: &Asked) -> Result<Placed, Complaint> {
        match self.find(state, asked).await? {
            Found::There(placed) => {
                // In items of the Responses API, what is known are messages.
                let (objects, messages) = match self.dialect {
                    Dialect::Responses => (0, placed.known),
                    Dialect::OpenAi | Dialect::Anthropic => (placed.known, 0),
                };
                let mut new = self.read(asked.messages.get(objects..).unwrap_or_default())?;
                let new = new.split_off(messages.min(new.len()));
                self.add(expected, state, &placed.thread, asked, new).await?;
                Ok(placed)
            }
            Found::New { free, parted } => {
                let mut messages = self.read(&asked.messages)?;
                if let (Some(first), Some((of, common))) = (messages.first_mut(), parted) {
                    let note = json!({"of": of, "common_messages": common});
                    first.metadata.get_or_insert_default().insert("branch".to_owned(), note);
                }
                self.add(expected, state, &free, asked, messages).await?;
                Ok(Placed { thread: free, before_answer: None, known: 0 })
            }
        }
    }

    /// The thread with which a request goes on, and how many of its messages are known there. Nothing is added.
    pub(super) async fn known_of(&self, asked: &Asked) -> Result<Option<Placed>, Complaint> {
        let state = self.session.state().await?;
        Ok(match self.find(&state, asked).await? {
            Found::There(placed) => Some(placed),
            Found::New { .. } => None,
        })
    }

    /// Looks for the thread of which the client sends most; of several, for the one that was used last.
    ///
    /// Of long threads only the end is read, unless what was asked there last is among what the client sends. With which of
    /// them another conversation begins, is looked up in a few.
    async fn find(&self, state: &State, asked: &Asked) -> Result<Found, Complaint> {
        // What is known has placeholders for secrets, also where the client sends them.
        let mask = self.session.mask_of_input().await?;
        let mut essences = self.wanted(asked)?;
        for essence in &mut essences {
            mask.mask_json(essence);
        }
        let wanted = Wanted::of(essences);
        let (there, mut free) = self.there(state)?;
        let mut best: Option<Placed> = None;
        let mut parted: Option<(ThreadId, usize)> = None;
        let (mut effort, mut looked_up) = (MAX_COMPARED, 0);
        for thread in there {
            let (end, is_whole) = self.known(&thread, &wanted, &mask, Some(END)).await?;
            let known = if is_whole {
                end
            } else {
                if !wanted.may_fit(&end) {
                    let common = parted.as_ref().map_or(0, |(_, count)| *count);
                    if best.is_some() || common == wanted.count() || looked_up == MAX_LOOKED_UP {
                        continue;
                    }
                    looked_up += 1;
                }
                self.known(&thread, &wanted, &mask, None).await?.0
            };
            if known.is_empty() {
                // Nothing was said in it yet.
                free = Some(thread);
                continue;
            }
            let (_, common) = wanted.common(&known);
            if common > parted.as_ref().map_or(0, |(_, count)| *count) {
                parted = Some((thread.clone(), common));
            }
            let is_unchanged = || self.patch(state, &thread, asked) == ThreadPatch::default();
            let Some(Fit { count, before_answer }) = wanted.fit(&known, &mut effort, is_unchanged) else { continue };
            // The prompt of that time may show what an agent may not see any more: its program asks again in a branch.
            if before_answer.is_some() && !self.is_user {
                continue;
            }
            if best.as_ref().is_none_or(|best| best.known < count) {
                best = Some(Placed { thread, before_answer, known: count });
                // What is left is new.
                if wanted.has_all_answers_in(count) {
                    break;
                }
            }
        }
        if let Some(placed) = best {
            return Ok(Found::There(placed));
        }
        // There is always a free one.
        let none = || Complaint::new(http::StatusCode::CONFLICT, "there are too many branches");
        Ok(Found::New { free: free.ok_or_else(none)?, parted })
    }

    /// The threads of this agent's conversations, first the one that was used last, and a free one.
    fn there(&self, state: &State) -> Result<(Vec<ThreadId>, Option<ThreadId>), Complaint> {
        let mut there = Vec::new();
        let mut free = None;
        for thread in self.threads() {
            let thread = thread?;
            match state.threads.get(&thread) {
                // What the agent may not see any more is not its conversation.
                Some(known) if !known.sight.audience.contains(self.agent) => {}
                Some(known) => there.push((Reverse(known.size().last_at), thread)),
                None => {
                    free = Some(thread);
                    break;
                }
            }
        }
        // Those with the same time stay in the order of their numbers.
        there.sort_by_key(|(last_at, _)| *last_at);
        Ok((there.into_iter().map(|(_, thread)| thread).collect(), free))
    }

    /// The threads that this agent's conversations may have, in their order.
    fn threads(&self) -> impl Iterator<Item = Result<ThreadId, Complaint>> {
        let agent = self.agent;
        (1..10_000).map(move |number| {
            let name = if number == 1 { format!("chat:{agent}") } else { format!("chat:{agent}:{number}") };
            ThreadId::try_from(name).map_err(|error| Complaint::new(http::StatusCode::BAD_REQUEST, error.to_string()))
        })
    }

    /// What counts of what a client sends.
    fn wanted(&self, asked: &Asked) -> Result<Vec<Value>, Complaint> {
        if self.dialect != Dialect::Responses {
            return Ok(asked.messages.iter().map(|message| self.essence(message)).collect());
        }
        let essence = |message: NewMessage| {
            let content = value_of(&message.content);
            essence_of(message.role, &content, &message.tool_calls, message.tool_call_id.as_deref())
        };
        Ok(self.read(&asked.messages)?.into_iter().map(essence).collect())
    }

    /// What is known of a conversation, and whether that is all of it: with a limit, only so much of its end as so many messages
    /// say whole.
    async fn known(
        &self,
        thread: &ThreadId,
        wanted: &Wanted,
        mask: &Mask,
        limit: Option<usize>,
    ) -> Result<(Vec<Known>, bool), Complaint> {
        let viewer = if self.is_user { Viewer::User } else { Viewer::Agent(self.agent.clone()) };
        let query = MessageQuery { limit, ..MessageQuery::default() };
        let page = self.session.messages(&viewer, thread, query).await?;
        let (messages, is_whole) = (page.messages, page.next.is_none());
        let shape = self.dialect.shape();
        // Names in it were not searched for the secrets that were found in calls.
        let masked = |seq, mut essence: Value| {
            mask.mask_json(&mut essence);
            wanted.known(seq, &essence)
        };
        if self.dialect == Dialect::Responses {
            let essence = |message: &MessageView| {
                essence_of(message.role, &message.content, &message.tool_calls, message.tool_call_id.as_deref())
            };
            let known = messages.iter().map(|message| masked(message.seq, essence(message)));
            return Ok((known.collect(), is_whole));
        }
        let is_joined =
            |next: &MessageView| next.as_given.as_ref().is_some_and(|given| given.joined && given.shape == shape);
        let mut known = Vec::new();
        // The first may go on from one that was not read.
        for object in messages.chunk_by(|_, next| is_joined(next)).skip(usize::from(!is_whole)) {
            let Some(seq) = object.first().map(|message| message.seq) else { continue };
            let objects = match object {
                // Anthropic's shape has no role for the system, and clients of newer models have.
                [message] if message.role == conversation::Role::System => {
                    vec![json!({"role": "system", "content": message.content})]
                }
                _ => in_shape(shape, object),
            };
            known.extend(objects.iter().map(|message| masked(seq, self.essence(message))));
        }
        Ok((known, is_whole))
    }

    /// What changes in a thread: the client's instructions and tools hold in it.
    fn patch(&self, state: &State, thread: &ThreadId, asked: &Asked) -> ThreadPatch {
        let settings = state.threads.settings(thread).cloned().unwrap_or_default();
        let mut patch = ThreadPatch::default();
        let instructions = asked.instructions.as_deref().filter(|text| !text.is_empty());
        if settings.instructions.as_deref() != instructions {
            patch.instructions = Some(instructions.map(Into::into));
        }
        let tools = (!asked.tools.is_empty()).then(|| asked.tools.clone());
        if settings.tools != tools {
            patch.tools = Some(tools);
        }
        patch
    }

    /// Adds messages, and sees to it that the thread is for this agent and the managers, with the client's instructions and tools. What
    /// the user said is added as the user's, and so is what the user's program says; what the agent said and was told by tools as the
    /// agent's.
    async fn add(
        &self,
        expected: Option<Seq>,
        state: &State,
        thread: &ThreadId,
        asked: &Asked,
        messages: Vec<NewMessage>,
    ) -> Result<(), Complaint> {
        let mut patch = self.patch(state, thread, asked);
        patch.visible_to = state.threads.get(thread).is_none().then(|| {
            let managers =
                state.team.agents().filter(|agent| agent.role == AgentRole::Manager).map(|agent| agent.name.clone());
            Audience::of(managers.chain([self.agent.clone()]))
        });
        if patch == ThreadPatch::default() && messages.is_empty() {
            return Ok(());
        }
        let agent = self.agent.clone();
        let by = if self.is_user { Actor::User } else { Actor::Agent(agent.clone()) };
        let add = AddMessages { thread: thread.clone(), messages };
        self.session.execute_at(by, expected, AddClientMessages { agent, patch, add }).await?;
        Ok(())
    }

    /// Reads messages of the client.
    fn read(&self, messages: &[Value]) -> Result<Vec<NewMessage>, Complaint> {
        let given = messages.iter().map(|message| serde_json::from_value(said(message)));
        let list = format!("/{}", self.dialect.list());
        let given = given
            .collect::<Result<Vec<given::GivenMessage>, _>>()
            .map_err(|error| Complaint::new(http::StatusCode::BAD_REQUEST, format!("{list}: {error}")))?;
        Ok(reading::read_at(&list, given)?)
    }

    /// What counts of a message where it is compared: clients add and leave out fields that say nothing.
    fn essence(&self, message: &Value) -> Value {
        let field = |name: &str| message.get(name).cloned().unwrap_or_default();
        // Roles are taken in capitals, too.
        let role = match field("role").as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("developer") => json!("system"),
            Some("ai") => json!("assistant"),
            role => json!(role),
        };
        let said_by = role.as_str().unwrap_or_default();
        match self.dialect {
            Dialect::OpenAi | Dialect::Responses => {
                let calls = field("tool_calls");
                let calls: Vec<_> = calls.as_array().into_iter().flatten().map(call).collect();
                json!([role, parts(message.get("content"), said_by), calls, field("tool_call_id")])
            }
            Dialect::Anthropic => json!([role, parts(message.get("content"), said_by)]),
        }
    }
}

/// What counts of a message, where the client sends items of the Responses API.
fn essence_of(role: conversation::Role, content: &Value, calls: &[ToolCall], result_of: Option<&str>) -> Value {
    let role = role.as_str();
    let call = |call: &ToolCall| json!([call.id, call.name, as_json(&call.arguments)]);
    let calls: Vec<_> = calls.iter().map(call).collect();
    json!([role, parts(Some(content), role), calls, result_of])
}

/// Arguments that came as a text, as what the text says. What keys in them say to be secret is hidden: so it is in what is known, if
/// it could be sealed.
fn as_json(arguments: &Value) -> Value {
    let text = arguments.as_str();
    let mut json = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| arguments.clone());
    call_secrets::hide(&mut json);
    json
}

/// A call of a tool, with its arguments as JSON. That of one that takes a text is as it is kept.
fn call(call: &Value) -> Value {
    if let Some(custom) = call.get("custom") {
        let arguments = json!({"input": custom.get("input")});
        return json!([call.get("id"), custom.get("name"), as_json(&arguments)]);
    }
    let function = call.get("function").cloned().unwrap_or_default();
    let arguments = function.get("arguments").map(as_json).unwrap_or_default();
    json!([call.get("id"), function.get("name"), arguments])
}

/// The parts of a content; a text is one part, and an empty one none. What a model thought or had searched does not count, and texts
/// that stand behind each other are one. In results of tools and in calls, what keys say to be secret is hidden, as in [`as_json`].
fn parts(content: Option<&Value>, role: &str) -> Vec<Value> {
    let given = match content {
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(parts)) => parts.clone(),
        _ => Vec::new(),
    };
    let mut parts: Vec<Value> = Vec::new();
    for mut part in given {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "thinking" | "redacted_thinking" => continue,
            kind if reasoning::is_of_server(kind) => continue,
            "text" | "input_text" | "output_text" => {
                let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
                let text = match role {
                    "assistant" => split_thoughts(text).1.to_owned(),
                    "tool" => call_secrets::hide_in_text(text.to_owned()),
                    _ => text.to_owned(),
                };
                let before = parts.last_mut().filter(|last| last.get("type") == Some(&json!("text")));
                match before.and_then(|last| last.get_mut("text")) {
                    Some(Value::String(before)) => before.push_str(&text),
                    _ if text.is_empty() => {}
                    _ => parts.push(json!({"type": "text", "text": text})),
                }
                continue;
            }
            _ => {}
        }
        let (is_result, is_call) = (kind == "tool_result", kind == "tool_use");
        if let Some(fields) = part.as_object_mut() {
            fields.remove("cache_control");
            if let Some(input) = fields.get_mut("input").filter(|_| is_call) {
                call_secrets::hide(input);
            }
            if is_result {
                fields.get_mut("content").into_iter().for_each(hide_in_result);
                let text = texts(fields.get("content"));
                fields.insert("content".to_owned(), text.into());
                fields.retain(|name, value| name != "is_error" || *value == json!(true));
            }
        }
        parts.push(part);
    }
    parts
}

/// Hides what keys say to be secret in the result of a tool: a text, or parts with texts.
fn hide_in_result(content: &mut Value) {
    match content {
        Value::Array(parts) => parts.iter_mut().filter_map(|part| part.get_mut("text")).for_each(call_secrets::hide),
        content => call_secrets::hide(content),
    }
}
