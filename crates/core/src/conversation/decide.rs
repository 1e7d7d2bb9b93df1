//! Adding messages, and saying who sees a thread and what holds in it.

use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::{
    audience::Audience,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::call_secrets::{CONTENT, CallJson, CallSecrets, Part, RESULT, TakenSecrets},
    conversation::facts::{AGENTS_THREAD, MessageAdded, ThreadUpdated, audience_of, message_key, own_thread_of},
    conversation::pdf::Pdf,
    conversation::reasoning,
    conversation::settings::{ThreadPatch, ThreadSettings, Whose},
    conversation::{
        AddClientMessages, AddMessages, Content, MAX_MESSAGES, Message, MessageReceipt, NewContent, NewMessage,
        PutThread, Role,
    },
    entry::{Actor, Entry, Hash},
    error::{ConflictKind, Error, Fault},
    fact::{self, Fact},
    id::{AgentName, MessageId, Seq, ThreadId},
    input::InputVisitor,
    json,
    rights::Right,
    state::State,
    text::{MAX_BYTES, Text},
};

/// Says who sees a thread and what holds in it; makes it where there is none.
impl Command for PutThread {
    type Answer = ();

    const RIGHT: Right = Right::manager("change threads");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        self.put(decision, Whose::Agents)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/thread"), self.thread.as_str());
        self.patch.input(visitor);
    }
}

impl PutThread {
    fn put(&self, decision: &mut DecisionBuilder<'_>, whose: Whose) -> Result<(), Undecided> {
        let Self { thread, patch } = self;
        if let Some(visible_to) = &patch.visible_to {
            decision.state.team.check_audience(visible_to, "/visible_to")?;
        }
        if let Some(agent) = decision.agent()
            && !audience_of(&decision.state, thread).contains(agent)
        {
            return Err(Error::not_found("thread", thread).into());
        }
        check_agent(&decision.state, thread)?;
        let known = decision.state.threads.get(thread);
        let visible_to = patch.visible_to.clone().unwrap_or_else(|| audience_of(&decision.state, thread));
        let settings = known.map(|known| known.settings.clone()).unwrap_or_default().with(patch);
        // What is there was checked when it came.
        ThreadSettings::default().with(patch).check(whose)?;
        if known.is_none_or(|known| known.sight.audience != visible_to || known.settings != settings) {
            decision.record(ThreadUpdated { name: thread.clone(), visible_to, settings });
        }
        Ok(())
    }
}

/// Adds messages to a thread, all or none. One whose id is there already, and which says the same, is not added again.
impl Command for AddMessages {
    type Answer = Vec<MessageReceipt>;

    const RIGHT: Right = Right::everyone("add messages");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Vec<MessageReceipt>, Undecided> {
        let Self { thread, messages } = self;
        if messages.len() > MAX_MESSAGES {
            let problem = format!("add at most {MAX_MESSAGES} messages in one call, not {}", messages.len());
            return Err(Error::invalid("/messages", problem).into());
        }
        if let Some(agent) = decision.agent() {
            let predefined = thread.as_str() == "main" || own_thread_of(&decision.state.team, thread).is_some();
            let there = predefined || decision.state.threads.get(thread).is_some();
            if !there || !audience_of(&decision.state, thread).contains(agent) {
                return Err(Error::not_found("thread", thread).into());
            }
            check_results(decision, agent, thread, messages)?;
        }
        check_agent(&decision.state, thread)?;
        say(decision, thread, messages)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/thread"), self.thread.as_str());
        self.messages.iter_mut().enumerate().for_each(|(at, message)| message.input(at, visitor));
    }

    fn texts(&self) -> Vec<Arc<str>> {
        let taken = self.messages.iter().filter(|_| self.messages.len() <= MAX_MESSAGES);
        taken.flat_map(NewMessage::counted).collect()
    }

    fn entries(&self) -> Vec<Seq> {
        self.messages.iter().filter_map(|message| message.message_id.as_ref()?.as_seq()).collect()
    }

    fn items(&self) -> usize {
        self.messages.len()
    }
}

impl Command for AddClientMessages {
    type Answer = ();

    const RIGHT: Right = AddMessages::RIGHT;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { agent, patch, add: AddMessages { thread, messages } } = self;
        let by = decision.by.clone();
        if *patch != ThreadPatch::default() {
            // The caller was let in as this agent, and the thread is its own. What its program says, the user did not say.
            decision.by = if by == Actor::User { Actor::User } else { Actor::System };
            PutThread { thread: thread.clone(), patch: patch.clone() }.put(decision, Whose::Clients)?;
        }
        decision.state.team.agent(agent)?;
        let is_users = |message: &NewMessage| by == Actor::User && matches!(message.role, Role::User | Role::System);
        for said in messages.chunk_by(|one, next| is_users(one) == is_users(next)) {
            let are_users = said.first().is_some_and(is_users);
            decision.by = if are_users { Actor::User } else { Actor::Agent(agent.clone()) };
            AddMessages { thread: thread.clone(), messages: said.to_vec() }.decide(decision)?;
        }
        decision.by = by;
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.patch.input(visitor);
        self.add.input(visitor);
    }

    fn texts(&self) -> Vec<Arc<str>> {
        self.add.texts()
    }

    fn entries(&self) -> Vec<Seq> {
        self.add.entries()
    }

    fn items(&self) -> usize {
        self.add.items()
    }
}

/// Refuses to make the thread of an agent that there is not: nobody would read it. One of an agent that has left stays.
fn check_agent(state: &State, thread: &ThreadId) -> Result<(), Error> {
    let Some(name) = thread.as_str().strip_prefix(AGENTS_THREAD) else { return Ok(()) };
    match state.threads.get(thread).is_some() || own_thread_of(&state.team, thread).is_some() {
        true => Ok(()),
        false => Err(Error::not_found("agent", name)),
    }
}

/// Refuses the result of a call that another agent made. The manager brings the results of all. A result of a call that is not there is
/// taken, as what the agent says: histories that others kept may begin behind a call.
fn check_results(
    decision: &DecisionBuilder<'_>,
    agent: &AgentName,
    thread: &ThreadId,
    messages: &[NewMessage],
) -> Result<(), Error> {
    let State { runs, threads, team, .. } = &decision.state;
    let is_here = |id: &str| messages.iter().flat_map(|message| &message.tool_calls).any(|call| call.id == id);
    let is_others = |id: &str| {
        let of_others = || threads.get(thread).is_some_and(|held| held.is_call_of_others(id, agent));
        runs.caller_of(thread, id).is_some_and(|caller| caller != agent) || (of_others() && !is_here(id))
    };
    let mut results = messages.iter().filter_map(|message| message.tool_call_id.as_deref());
    if team.managers().contains(agent) || !results.any(is_others) {
        return Ok(());
    }
    let what = "add the result of a call that another agent made";
    let hint = "leave it to that agent, the manager or the user";
    Err(Error::Forbidden { who: decision.by.called().to_owned(), what, hint })
}

impl NewMessage {
    pub(crate) fn input(&mut self, at: usize, visitor: &mut dyn InputVisitor) {
        self.take_secrets(visitor);
        let Self { message_id, thread_id: _, role: _, content, timestamp: _, metadata, .. } = self;
        if let Some(id) = message_id {
            visitor.name(format_args!("/messages/{at}/message_id"), id.as_str());
        }
        match content {
            Some(NewContent::Text(text)) => visitor.text(text),
            Some(NewContent::Parts(parts)) => parts.iter_mut().for_each(|part| visitor.fields(part)),
            None => {}
        }
        if let Some(metadata) = metadata {
            visitor.named_fields(format_args!("/messages/{at}/metadata"), metadata);
        }
        let Self { tool_calls, tool_call_id, expected_output, .. } = self;
        for (number, call) in tool_calls.iter_mut().enumerate() {
            visitor.name(format_args!("/messages/{at}/tool_calls/{number}/id"), &call.id);
            visitor.name(format_args!("/messages/{at}/tool_calls/{number}/name"), &call.name);
            call.input(visitor);
        }
        if let Some(id) = tool_call_id {
            visitor.name(format_args!("/messages/{at}/tool_call_id"), id);
        }
        visitor.text_if_any(expected_output);
        reasoning::input(&mut self.reasoning, visitor);
        if let Some(as_given) = &mut self.as_given {
            visitor.fields(&mut as_given.fields);
        }
    }

    /// Shows the calls in it, or the result that it is.
    fn take_secrets(&mut self, visitor: &mut dyn InputVisitor) {
        let Self { role, content, tool_calls, tool_call_id, secrets, .. } = self;
        for (number, call) in tool_calls.iter_mut().enumerate() {
            secrets.extend(call.take_secrets(number, visitor));
        }
        if *role != Role::Tool {
            return;
        }
        let id = tool_call_id.as_deref().unwrap_or_default();
        match content {
            Some(NewContent::Text(text)) => {
                let part = Part::new(id, RESULT, CallJson::Text(text));
                secrets.extend(part.take(CONTENT, visitor));
            }
            Some(NewContent::Parts(parts)) => {
                for (number, of_content) in parts.iter_mut().enumerate() {
                    if let Some(Value::String(text)) = of_content.get_mut("text") {
                        let part = Part::new(id, RESULT, CallJson::Text(text));
                        secrets.extend(part.take(&format!("{CONTENT}/{number}/text"), visitor));
                    }
                }
            }
            None => {}
        }
    }

    /// What was sealed of what was taken out of it.
    fn sealed(&self, decision: &mut DecisionBuilder<'_>) -> Vec<CallSecrets> {
        let taken = self.secrets.iter();
        let sealed = taken.filter_map(|taken| {
            let sha256 = decision.sealed(&taken.name)?;
            Some(CallSecrets { name: taken.name.clone(), at: taken.at.clone(), sha256 })
        });
        sealed.collect()
    }
}

impl KeptAnswer for Vec<MessageReceipt> {
    const NAME: &'static str = "messages";
}

/// Hands the threads in which the manager speaks in runs over to another: it sees them from now on.
pub(crate) fn hand_over(decision: &mut DecisionBuilder<'_>, old: &AgentName, new: &AgentName) {
    let is_runs = |name: &ThreadId| *name == ThreadId::main() || name.as_str().starts_with(AGENTS_THREAD);
    let passed = |audience: &Audience, thread: &ThreadId| {
        let stays = |name: &&AgentName| *name != old || *thread == ThreadId::of_agent(old);
        Audience::of(audience.names().filter(stays).cloned().chain([new.clone()]))
    };
    let threads = decision.state.threads.iter().filter(|(name, _)| is_runs(name));
    let seen = threads.filter(|(_, thread)| thread.sight.audience.names().any(|name| name == old));
    let changes = seen.map(|(name, thread)| ThreadUpdated {
        name: name.clone(),
        visible_to: passed(&thread.sight.audience, name),
        settings: thread.settings.clone(),
    });
    for change in changes.collect::<Vec<_>>() {
        decision.record(change);
    }
}

/// Adds messages in the name of the current author, without a look at rights: an agent may take part in a run although
/// it has lost sight of the thread.
pub(crate) fn say(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    messages: &[NewMessage],
) -> Result<Vec<MessageReceipt>, Undecided> {
    let invalid = messages.iter().enumerate().flat_map(|(at, message)| faults(at, message)).collect();
    let elsewhere = messages.iter().enumerate().filter_map(|(at, message)| elsewhere(at, thread, message)).collect();
    Error::of(invalid, elsewhere)?;
    messages.iter().enumerate().map(|(at, new)| add_one(decision, thread, new, at)).collect()
}

/// That a message names another thread than the one to which it is added.
fn elsewhere(at: usize, thread: &ThreadId, message: &NewMessage) -> Option<Fault> {
    let other = message.thread_id.as_ref().filter(|other| *other != thread)?;
    let problem = format!("the message is added to {thread} and names {other}: leave it out");
    Some(Fault { pointer: format!("/messages/{at}/thread_id"), problem })
}

fn faults(at: usize, message: &NewMessage) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |field: &str, problem: String| {
        faults.push(Fault { pointer: format!("/messages/{at}/{field}"), problem });
    };
    if let Some(NewContent::Parts(parts)) = &message.content
        && !parts.iter().all(|part| part.get("type").is_some_and(Value::is_string))
    {
        fault("content", "give each part a type, for instance {\"type\": \"text\", \"text\": \"…\"}".to_owned());
    }
    for (number, part) in message.content.iter().flat_map(NewContent::parts).enumerate() {
        if let Some((field, problem)) = Pdf::of(part).and_then(|pdf| pdf.fault()) {
            fault(&format!("content/{number}/{field}"), problem);
        }
    }
    let mut parts = message.content.iter().flat_map(NewContent::parts).flat_map(Map::values);
    if !parts.all(json::is_shallow) {
        fault("content", format!("nest at most {} levels", json::MAX_DEPTH));
    }
    if message.metadata.as_ref().is_some_and(|fields| !json::are_shallow(fields.values())) {
        fault("metadata", format!("nest at most {} levels", json::MAX_DEPTH));
    }
    if !message.tool_calls.iter().all(|call| json::is_shallow(&call.arguments)) {
        fault("tool_calls", format!("nest at most {} levels, or give the arguments as a text", json::MAX_DEPTH));
    }
    let as_given = message.as_given.iter().flat_map(|as_given| as_given.fields.values());
    if !json::are_shallow(message.reasoning.iter().flat_map(Map::values).chain(as_given)) {
        fault("reasoning", format!("nest at most {} levels", json::MAX_DEPTH));
    }
    if !message.reasoning.is_empty() && message.role != Role::Ai {
        fault("reasoning", "only a message in the role AI has reasoning".to_owned());
    }
    if !message.reasoning.iter().all(|block| block.get("type").is_some_and(Value::is_string)) {
        fault(
            "reasoning",
            "give each block a type, for instance {\"type\": \"thinking\", \"thinking\": \"…\"}".to_owned(),
        );
    }
    if !message.tool_calls.is_empty() && message.role != Role::Ai {
        fault("tool_calls", "only a message in the role AI calls tools".to_owned());
    }
    if message.tool_call_id.is_some() && message.role != Role::Tool {
        fault("tool_call_id", "only a message in the role TOOL is the result of a call".to_owned());
    }
    faults
}

fn add_one(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    new: &NewMessage,
    at: usize,
) -> Result<MessageReceipt, Undecided> {
    if let Some(id) = &new.message_id
        && let Some(there) = existing(decision, thread, id)?
    {
        let receipt = MessageReceipt { message_id: id.clone(), seq: there.header.seq };
        let message = build(decision, thread, new, id.clone())?;
        if is_same(decision, message, new, &there)? {
            return Ok(receipt);
        }
        let seen = decision.view()?.sees_in(thread, &there.header);
        return Err(conflict(&receipt, at, seen).into());
    }
    // The first secret of a session brings an entry of its own.
    let secrets = new.sealed(decision);
    let seq = decision.next_seq();
    let message = Message { secrets, ..build(decision, thread, new, MessageId::of_seq(seq))? };
    let message = if new.message_id.is_none() { unclaimed(decision, message) } else { message };
    let message_id = message.message_id.clone();
    decision.copying(new.copied_from.clone(), |decision| decision.record(MessageAdded(message)));
    Ok(MessageReceipt { message_id, seq })
}

/// Whether the message that `receipt` is of says the same as `new`, said now in the name of the current author.
pub(crate) fn says(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    receipt: &MessageReceipt,
    new: &NewMessage,
) -> Result<bool, Undecided> {
    let Some(there) = decision.entry(receipt.seq)? else { return Ok(false) };
    let message = build(decision, thread, new, receipt.message_id.clone())?;
    Ok(is_same(decision, message, new, &there)?)
}

/// Where the message is that the entry `seq` added to `thread`, if it added one.
pub(crate) fn receipt(
    decision: &DecisionBuilder<'_>,
    thread: &ThreadId,
    seq: Seq,
) -> Result<Option<MessageReceipt>, Undecided> {
    if seq >= decision.next_seq() {
        return Ok(None);
    }
    let entry = decision.entry(seq)?.filter(|entry| entry.header.kind.as_ref() == MessageAdded::TYPE);
    let message = entry.map(|entry| fact::read(&entry)).transpose()?;
    let here = message.filter(|MessageAdded(message)| message.thread_id == *thread);
    Ok(here.map(|MessageAdded(message)| MessageReceipt { message_id: message.message_id, seq }))
}

fn build(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    new: &NewMessage,
    id: MessageId,
) -> Result<Message, Error> {
    let parts = new.content.as_ref().map_or(&[][..], NewContent::parts);
    let size_bytes = json::size_bytes(&(new.metadata.as_ref(), &new.tool_calls, parts, &new.reasoning, &new.as_given));
    if size_bytes > MAX_BYTES {
        return Err(Error::TooLarge { what: "the message".to_owned(), size_bytes, max_bytes: MAX_BYTES });
    }
    let content = match &new.content {
        Some(NewContent::Text(text)) => Content::Text(Text::keep(text, "the message", &mut decision.values)?),
        Some(NewContent::Parts(parts)) => Content::Parts(parts.clone()),
        None => Content::Text("".into()),
    };
    Ok(Message {
        message_id: new.message_id.clone().unwrap_or(id),
        thread_id: thread.clone(),
        role: new.role,
        agent: decision.agent().cloned(),
        content,
        timestamp: new.timestamp.unwrap_or(decision.context.at),
        metadata: new.metadata.clone(),
        tool_calls: new.tool_calls.clone(),
        tool_call_id: new.tool_call_id.clone(),
        expected_output: new.expected_output.clone(),
        reasoning: new.reasoning.clone(),
        as_given: new.as_given.clone(),
        secrets: Vec::new(),
        tokens: new.counted().iter().map(|text| decision.context.count.count(text)).sum(),
    })
}

/// The entry that has this id of a message in the thread, if there is one.
fn existing(decision: &DecisionBuilder<'_>, thread: &ThreadId, id: &MessageId) -> Result<Option<Entry>, Undecided> {
    let key = message_key(thread, id);
    if let Some(entry) = decision.claimed_here(&key) {
        return Ok(Some(entry.clone()));
    }
    if let Some(seq) = decision.context.lookups.keys.get(key.as_str()) {
        return decision.entry(*seq);
    }
    let Some(seq) = id.as_seq().filter(|seq| *seq < decision.next_seq()) else { return Ok(None) };
    let has_it = |entry: &Entry| {
        let same = |MessageAdded(there)| there.thread_id == *thread && there.message_id == *id;
        entry.header.kind.as_ref() == MessageAdded::TYPE && fact::read(entry).is_ok_and(same)
    };
    Ok(decision.entry(seq)?.filter(has_it))
}

/// Whether `message`, as which `new` would be added, is the one that an entry added. What was secret in its calls may have been put back
/// or forgotten since.
fn is_same(decision: &DecisionBuilder<'_>, message: Message, new: &NewMessage, there: &Entry) -> Result<bool, Error> {
    let MessageAdded(before) = fact::read(there)?;
    let is_known = |secrets: &CallSecrets| decision.state.secrets.of(&secrets.name).contains(&secrets.sha256);
    let is_sealed_so = |secrets: &CallSecrets| {
        let taken = new.secrets.iter().find(|taken| taken.at == secrets.at);
        taken.and_then(|taken| decision.sealed_as(&taken.name)) == Some(secrets.sha256)
    };
    if before.secrets.iter().any(|secrets| is_known(secrets) && !is_sealed_so(secrets)) {
        return Ok(false);
    }
    let (Ok(mut was), Ok(now)) = (serde_json::to_value(&before), serde_json::to_value(&message)) else {
        return Ok(false);
    };
    for TakenSecrets { at, sent, .. } in &new.secrets {
        let secrets = before.secrets.iter().find(|secrets| secrets.at == *at);
        if secrets.is_some_and(is_known) {
            continue;
        }
        let (Some(was), Some(now)) = (was.pointer_mut(at), now.pointer(at)) else { return Ok(false) };
        if hash_of(was) == *sent {
            // It stands there as it was sent, since it was put back.
            *was = now.clone();
        } else if secrets.is_none() {
            return Ok(false);
        }
    }
    let Ok(was) = serde_json::from_value::<Message>(was) else { return Ok(false) };
    let timestamp = if new.timestamp.is_some() { message.timestamp } else { was.timestamp };
    // The size is that of the words as they were when it was added.
    Ok(Message { timestamp, secrets: was.secrets.clone(), tokens: was.tokens, ..message } == was)
}

/// The hash of what stands at a place of a message: of a text, a long text, or JSON.
fn hash_of(place: &Value) -> Hash {
    match place {
        Value::String(text) => Hash::of(text.as_bytes()),
        place => {
            let long = Text::deserialize(place).ok().and_then(|text| text.stored());
            long.unwrap_or_else(|| Hash::of(place.to_string().as_bytes()))
        }
    }
}

fn conflict(there: &MessageReceipt, at: usize, seen: bool) -> Error {
    let MessageReceipt { message_id, seq } = there;
    let what = match seen {
        true => format!("entry {seq} has the id {message_id} and says something else"),
        false => format!("the id {message_id} is taken"),
    };
    let what = format!("/messages/{at}/message_id: {what}");
    Error::conflict(ConflictKind::MessageExists, what, "give the message another id, or leave it out")
}

/// The message with an id that is free.
fn unclaimed(decision: &DecisionBuilder<'_>, message: Message) -> Message {
    let taken = |id: &MessageId| {
        let key = message_key(&message.thread_id, id);
        decision.context.lookups.keys.contains_key(key.as_str()) || decision.claimed_here(&key).is_some()
    };
    let first = message.message_id.clone();
    if !taken(&first) {
        return message;
    }
    let id = (2..).map(|n| first.suffixed(n)).find(|id| !taken(id));
    Message { message_id: id.unwrap_or(first), ..message }
}
