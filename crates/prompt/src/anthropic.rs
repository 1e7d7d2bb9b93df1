//! The format `anthropic`: the messages of Anthropic's Messages API, and the blocks of `system` before them.
//!
//! What that API refuses is not written: messages alternate and begin and end with the user, no text is blank, every
//! call has its result at the start of the next message, and ids of calls have few characters and stand for one call.
//!
//! Anthropic documents no costs of messages and blocks, and Claude's vocabulary is not public: what is allowed for them
//! here is generous. Its examples have some 6 tokens besides the texts for a system text and one message. For tools it
//! documents a text of its own, by model and choice 159 to 804 tokens ("Tool use with Claude", pricing).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use callboard_core::{
    agent::{Agent, Tool},
    conversation::{ToolCall, reasoning},
    count::{TokenCounter, Tokens},
};

use crate::{
    Body,
    call_ids::{CallIds, IdForm},
    media::{self, Medium},
    openai::{self, CLOSING},
    placed::{Joined, Span, block_bytes},
    provider::is_blank,
    speaker::{NO_RESULT, Speaker, loose_result, marked, result_words, words},
    strict::OPENING,
    tool_names::{self, ToolNames},
    utterance::Utterance,
};

/// What a message costs besides its blocks.
const MESSAGE: Tokens = Tokens(8);

/// What a block of text costs besides its text.
const BLOCK: Tokens = Tokens(4);

/// What a call of a tool or its result costs besides its texts. The end of an id that had to be changed is in it.
const CALL: Tokens = Tokens(32);

/// What each argument of a call costs besides its text, where every one is put into a tag.
const ARGUMENT: Tokens = Tokens(12);

/// What a tool costs besides its texts.
const TOOL: Tokens = Tokens(32);

/// What it costs that there are tools at all.
const TOOLS: Tokens = Tokens(804);

/// The largest number of places up to which a provider keeps a prompt, as Anthropic takes them.
const MARKS: usize = 4;

/// A message, and for each of its blocks which utterance of a group says it.
pub(super) type Sourced<'a> = (Value, Vec<&'a Utterance>);

/// Writes things that were said together: a call with its results, or one thing alone. What is blank is not written.
pub(super) fn messages<'a>(group: &'a [Utterance], reader: &Agent) -> Vec<Sourced<'a>> {
    let Some((calling, others)) = group.split_first().filter(|(first, _)| first.mine && !first.calls().is_empty())
    else {
        return group.iter().filter_map(|utterance| alone(group, utterance, reader)).collect();
    };
    let mut results: Vec<_> = others.iter().collect();
    let mut said: Vec<_> = one(group, calling, reader).iter_mut().flat_map(blocks_of).collect();
    let (mut answers, mut answering) = (Vec::new(), Vec::new());
    for call in calling.calls() {
        let id = IdForm::ANTHROPIC.fit(&call.id);
        said.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": input(call)}));
        let at = results.iter().position(|result| result.result_of() == Some(call.id.as_str()));
        let found = at.map(|at| results.remove(at));
        let words = found.map(|found| result_words(found, reader)).unwrap_or_else(|| NO_RESULT.to_owned());
        answers.push(result(&id, words, found.map(|found| found.media.as_slice()).unwrap_or_default()));
        answering.push(found.unwrap_or(calling));
    }
    let saying = vec![calling; said.len()];
    let mut messages = vec![(message("assistant", said), saying), (message("user", answers), answering)];
    messages.extend(results.into_iter().filter_map(|other| alone(group, other, reader)));
    messages
}

/// One thing that was said, which says all blocks of its message.
fn alone<'a>(group: &'a [Utterance], utterance: &'a Utterance, reader: &Agent) -> Option<Sourced<'a>> {
    let message = one(group, utterance, reader)?;
    let sources = vec![utterance; blocks(&message).count()];
    Some((message, sources))
}

/// A message of the user that nobody said.
pub(super) fn unsaid(words: &str) -> Value {
    message("user", vec![text(words)])
}

/// What a message costs.
pub(super) fn tokens(message: &Value, count: &dyn TokenCounter) -> Tokens {
    MESSAGE + blocks(message).map(|block| block_tokens(block, count)).sum()
}

/// The pieces that messages are made of: consecutive blocks of one utterance.
pub(super) fn spans(messages: &[Sourced<'_>], count: &dyn TokenCounter) -> Vec<Span> {
    let mut spans = Vec::new();
    for (at, (message, sources)) in messages.iter().enumerate() {
        let (mut before, mut around) = (None, MESSAGE);
        for (block, source) in blocks(message).zip(sources) {
            let tokens = block_tokens(block, count) + std::mem::take(&mut around);
            let bytes = block_bytes(block);
            match spans.last_mut().filter(|_| before == Some(source.seq)) {
                Some(last) => {
                    let Span { tokens: all, bytes: length, .. } = last;
                    (*all, *length) = (*all + tokens, *length + bytes);
                }
                None => spans.push(Span::of(source, tokens, at, bytes)),
            }
            before = Some(source.seq);
        }
    }
    spans
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("content").and_then(Value::as_array).into_iter().flatten()
}

/// Whether a block is of a tool that Anthropic runs itself.
fn is_of_server(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(reasoning::is_of_server)
}

/// Whether a block is what the model thought.
fn is_thought(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}

/// What a block of such a tool costs: all texts in it, and the pages of a PDF that was fetched. Of what is encrypted, three bytes are
/// a token: it is the text that was found.
fn server_tokens(value: &Value, count: &dyn TokenCounter) -> Tokens {
    match value {
        Value::Object(fields) => {
            if let Some(pages) = media::pdf_tokens(fields) {
                return pages;
            }
            let field = |(name, value): (&String, &Value)| match value {
                Value::String(text) if name.starts_with("encrypted_") => Tokens(text.len().div_ceil(3) as u64),
                value => server_tokens(value, count),
            };
            fields.iter().map(|one| ARGUMENT + field(one)).sum()
        }
        Value::Array(values) => values.iter().map(|value| server_tokens(value, count)).sum(),
        Value::String(text) => count.count(text),
        other => count.count(&other.to_string()),
    }
}

fn block_tokens(block: &Value, count: &dyn TokenCounter) -> Tokens {
    if is_of_server(block) {
        return BLOCK + CALL + server_tokens(block, count);
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map_or(Tokens(0), |text| count.count(text));
    let field = |name| text(block.get(name));
    let name =
        block.get("name").and_then(Value::as_str).map_or(Tokens(0), |name| count.count(&tool_names::counted(name)));
    let input = block.get("input").map_or(Tokens(0), |input| {
        let arguments = input.as_object().map_or(0, |input| input.len() as u64);
        CALL + count.count(&input.to_string()) + Tokens(ARGUMENT.0.saturating_mul(arguments))
    });
    let result = if block.get("tool_use_id").is_some() { CALL } else { Tokens(0) };
    let thought = field("thinking") + field("signature") + field("data");
    let parts: Tokens = blocks(block).map(|part| block_tokens(part, count)).sum();
    let said = field("text") + field("content") + parts + media::tokens(block);
    BLOCK + thought + input + result + said + field("id") + name + field("tool_use_id")
}

/// What tools cost.
pub(super) fn tools(tools: &[Tool], count: &dyn TokenCounter) -> Tokens {
    if tools.is_empty() {
        return Tokens(0);
    }
    let tool = |tool: &Tool| {
        let parameters = openai::parameters(tool).to_string();
        TOOL + count.count(&tool.name) + count.count(&tool.description) + count.count(&parameters)
    };
    TOOLS + tools.iter().map(tool).sum()
}

/// A tool as the Messages API takes it.
pub(super) fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": openai::parameters(tool)})
}

/// What is around all that was said costs, at the most: two blocks before it, what opens and closes it, and the start
/// of the answer.
pub(super) fn envelope(count: &dyn TokenCounter) -> Tokens {
    let around = [OPENING, CLOSING].map(|words| tokens(&message("user", vec![text(words)]), count));
    MESSAGE + BLOCK + BLOCK + around.into_iter().sum() + MESSAGE
}

/// What the model gets. Each of `marks` says how many bytes of `system` and how many messages come before it: the block
/// that ends there ends a prefix that is worth keeping. Also says where the messages stand in it.
pub(super) fn body(system: &str, messages: Vec<Value>, marks: &[(usize, usize)]) -> (Body, Joined) {
    let mut blocks = Vec::new();
    let mut begin = 0;
    for (end, _) in marks.iter().copied().chain([(system.len(), 0)]) {
        let Some(piece) = system.get(begin..end).filter(|piece| !piece.trim().is_empty()) else { continue };
        blocks.push(text(piece));
        begin = end;
    }
    let in_system = marks.iter().filter(|(_, said)| *said == 0).count();
    blocks.iter_mut().take(in_system).for_each(mark);
    let left = MARKS.saturating_sub(in_system);
    let ends: BTreeSet<_> = marks.iter().map(|(_, said)| *said).filter(|said| *said > 0).rev().take(left).collect();
    let (messages, joined) = conversation(messages, &ends);
    (Body::Anthropic { system: blocks, messages }, joined)
}

/// The names of the tools that messages call.
pub(super) fn called(messages: &[Value]) -> impl Iterator<Item = &str> {
    let calls = messages.iter().flat_map(blocks).filter(|block| is_call(block));
    calls.filter_map(|call| call.get("name")?.as_str())
}

/// Whether a block calls a tool that whoever asks the model has.
fn is_call(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("tool_use")
}

/// Leaves out uses of Anthropic's own tools without their results, results without their uses, and what is there again. One beside a
/// call that was answered last has no result yet: Anthropic runs the tool then. Thoughts behind which nothing stands are left out,
/// too: no message may end with one.
fn pair_up(messages: &mut [Value]) {
    let text = |block: &Value, pointer: &str| block.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let mut seen = BTreeSet::new();
    for blocks in messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()) {
        blocks.retain(|block| !is_of_server(block) || seen.insert((text(block, "/id"), text(block, "/tool_use_id"))));
    }
    let of_server = || messages.iter().flat_map(blocks).filter(|block| is_of_server(block));
    let uses: BTreeSet<String> = of_server().filter_map(|block| text(block, "/id")).collect();
    let results: BTreeSet<String> = of_server().filter_map(|block| text(block, "/tool_use_id")).collect();
    let last = messages.iter().rposition(|message| message.get("role").and_then(Value::as_str) == Some("assistant"));
    let mut goes_on = false;
    for (at, message) in messages.iter_mut().enumerate().rev() {
        let is_own = message.get("role").and_then(Value::as_str) == Some("assistant");
        let waits = last == Some(at) && blocks(message).any(is_call);
        let is_answered = |id: String| waits || results.contains(&id);
        let is_taken = |block: &Value| {
            let is_paired = match text(block, "/tool_use_id") {
                Some(id) => uses.contains(&id),
                None => text(block, "/id").is_some_and(is_answered),
            };
            // A search may be made by code that Anthropic runs.
            is_paired && text(block, "/caller/tool_id").is_none_or(is_answered)
        };
        if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) {
            blocks.retain(|block| !is_of_server(block) || is_taken(block));
            while !goes_on && blocks.last().is_some_and(is_thought) {
                blocks.pop();
            }
            goes_on = if blocks.is_empty() { goes_on } else { is_own };
        }
    }
}

/// Gives calls ids and names that are taken, and results the ids of their calls.
pub(super) fn settle(messages: &mut [Value], names: &ToolNames) {
    pair_up(messages);
    let mut ids = CallIds::new(IdForm::ANTHROPIC);
    let blocks = messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten();
    for block in blocks.filter(|block| !is_of_server(block)) {
        if let Some(wanted) = block.get("id").and_then(Value::as_str) {
            let own = ids.call(wanted);
            put(block, "id", own);
            names.write(block);
        } else if let Some(wanted) = block.get("tool_use_id").and_then(Value::as_str)
            && let Some(own) = ids.result(wanted)
        {
            put(block, "tool_use_id", own);
        }
    }
}

/// Joins messages of one role, so that they alternate, and lets the user begin and end.
fn conversation(messages: Vec<Value>, ends: &BTreeSet<usize>) -> (Vec<Value>, Joined) {
    let mut joined: Vec<(String, Vec<Value>)> = Vec::new();
    let (mut places, mut bytes) = (Joined::default(), 0);
    for (at, mut message) in messages.into_iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut blocks = blocks_of(&mut message);
        if blocks.is_empty() {
            // Nothing is left of it.
            places.places.push((joined.len().saturating_sub(1), bytes));
            continue;
        }
        if ends.contains(&(at + 1)) {
            // A thought takes no mark.
            blocks.iter_mut().rev().find(|block| !is_thought(block)).into_iter().for_each(mark);
        }
        if joined.is_empty() && role != "user" {
            joined.push(("user".to_owned(), vec![text(OPENING)]));
            places.open(OPENING);
        }
        let length: usize = blocks.iter().map(block_bytes).sum();
        match joined.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => {
                joined.push((role, blocks));
                bytes = 0;
            }
        }
        places.places.push((joined.len() - 1, bytes));
        bytes += length;
    }
    if joined.last().is_none_or(|(role, _)| role != "user") {
        places.close(joined.len(), CLOSING);
        joined.push(("user".to_owned(), vec![text(CLOSING)]));
    }
    (joined.into_iter().map(|(role, blocks)| message(&role, blocks)).collect(), places)
}

fn put(block: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = block.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}

fn mark(block: &mut Value) {
    put(block, "cache_control", json!({"type": "ephemeral"}));
}

fn message(role: &str, content: Vec<Value>) -> Value {
    json!({"role": role, "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn blocks_of(message: &mut Value) -> Vec<Value> {
    match message.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    }
}

fn result(call: &str, words: String, media: &[Medium]) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": call});
    if let Some(parts) = media::parts(&words, media) {
        put(&mut result, "content", parts);
    } else if !is_blank(&words) {
        put(&mut result, "content", words);
    }
    result
}

/// The arguments of a call, which have to be an object.
fn input(call: &ToolCall) -> Value {
    match call.arguments_json() {
        Value::Object(arguments) => arguments.into(),
        Value::Null => json!({}),
        other => json!({"arguments": other}),
    }
}

/// One thing that was said, as a message of one block, or of several with pictures between them, behind what the reader
/// thought before where it gets that back. There is no role for the system, so it has a mark with its name before the text,
/// which no agent can have.
fn one(group: &[Utterance], utterance: &Utterance, reader: &Agent) -> Option<Value> {
    let (voice, words) = words(utterance, reader);
    let says_nothing = is_blank(&words);
    let thoughts = utterance.is_in_loop.then(|| reasoning::for_anthropic(&utterance.reasoning));
    let mut blocks: Vec<_> = thoughts.into_iter().flatten().collect();
    let (role, words) = match voice {
        Speaker::Tool => ("user", loose_result(group, utterance, &words, reader)),
        _ if says_nothing && blocks.is_empty() => return None,
        Speaker::System => ("user", format!("[from system] {words}")),
        Speaker::User => ("user", marked(utterance, words)),
        Speaker::Own => ("assistant", words),
    };
    match media::parts(&words, &utterance.media) {
        Some(parts) => blocks.extend(parts),
        None if !is_blank(&words) => blocks.push(text(words.trim_end())),
        None => {}
    }
    let is_said = blocks.last().is_some();
    is_said.then(|| message(role, blocks))
}

#[cfg(test)]
mod tests {
    use callboard_core::testing::Words;

    use super::*;

    #[test]
    fn a_pdf_that_anthropic_fetched_counts_by_its_pages() {
        // It has one page.
        let data = "JVBERi0xLjQKMiAwIG9iaiA8PC9UeXBlL1BhZ2U+PiBlbmRvYmogJSVFT0YK";
        let tokens = |media_type: &str| {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            let document = json!({"type": "document", "title": "A letter", "source": source});
            let fetched = json!({"type": "web_fetch_result", "url": "https://example.com/a", "content": document});
            let result = json!({"type": "web_fetch_tool_result", "tool_use_id": "a", "content": fetched});
            block_tokens(&result, &Words).0
        };
        assert!((7784..8184).contains(&tokens("application/pdf")), "{}", tokens("application/pdf"));
        assert!(tokens("text/plain") < 400, "{}", tokens("text/plain"));
    }

    #[test]
    fn no_message_ends_with_a_thought_and_no_search_is_there_twice() {
        let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "s"});
        let searched = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
        let found = json!({"type": "web_search_tool_result", "tool_use_id": "a", "content": []});
        let own = |blocks: &[&Value]| json!({"role": "assistant", "content": blocks});
        let paired = |messages: &[Value]| {
            let mut messages = messages.to_vec();
            pair_up(&mut messages);
            messages
        };
        let (a, b) = (searched("a"), searched("b"));
        assert_eq!(paired(&[own(&[&thought, &b])]), [own(&[])]);
        assert_eq!(paired(&[own(&[&thought, &a, &found, &thought, &b])]), [own(&[&thought, &a, &found])]);
        let words = own(&[&text("Well.")]);
        assert_eq!(paired(&[own(&[&thought, &b]), words.clone()]), [own(&[&thought]), words]);
        // What was hidden in between was left out before.
        assert_eq!(paired(&[own(&[&thought, &a, &found, &thought])]), [own(&[&thought, &a, &found])]);
        assert_eq!(paired(&[own(&[&thought])]), [own(&[])]);
        // An answer that was kept twice.
        let answer = own(&[&thought, &a, &found, &text("Well.")]);
        assert_eq!(paired(&[answer.clone(), answer.clone()]), [answer, own(&[&thought, &text("Well.")])]);
    }
}
