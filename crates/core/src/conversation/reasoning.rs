//! What a model thought before it spoke, in blocks as its provider gave them. A block has a `type`, and what it holds in
//! fields beside it: `thinking` and `redacted_thinking` are Anthropic's, the others are fields of OpenAI's messages. What its
//! provider searched for it meanwhile is among them, in its place.

use serde_json::{Map, Value};

use crate::{input::InputVisitor, json};

/// The fields of message objects in OpenAI's shape that hold reasoning. Each of them is a block with its name as type.
pub const OPENAI: [&str; 3] = ["reasoning_content", "reasoning", DETAILS];

/// The types of Anthropic's blocks.
pub(crate) const ANTHROPIC: [&str; 2] = [THINKING, "redacted_thinking"];

/// The field beside a call in which Gemini gives the signature of what it thought, and the type of the block in which it is kept: with
/// the place of the call in its message in `call`.
pub const EXTRA_CONTENT: &str = "extra_content";

/// The type of an item of the Responses API that its model thought. It has what is encrypted, or a summary; the field `reasoning` of
/// chat completions, which has the same name, has a text.
const ITEM: &str = "reasoning";

/// The type of an item of the Responses API with which its provider searched the web.
pub const SEARCH_ITEM: &str = "web_search_call";

/// The type of the blocks of what Claude thought and shows.
const THINKING: &str = "thinking";

/// The type of the blocks with what routers such as OpenRouter give of what a model thought.
const DETAILS: &str = "reasoning_details";

/// Says that a secret was hidden in a block. A provider refuses what it did not write, so it does not get it back.
const MASKED: &str = "masked";

/// The type of a block.
pub(crate) fn kind(block: &Map<String, Value>) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a block of this type is of a tool that Anthropic runs itself, such as a search: its use, or its result.
pub fn is_of_server(kind: &str) -> bool {
    kind == "server_tool_use" || (kind.ends_with("_tool_result") && kind != "mcp_tool_result")
}

/// Whether Anthropic ran a tool.
pub fn has_server_use(blocks: &[Map<String, Value>]) -> bool {
    blocks.iter().any(|block| is_of_server(kind(block)))
}

/// Whether the model that reads a prompt is the one that thought what a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinker {
    /// It is.
    Reader,
    /// It is another one.
    Other,
    /// It is not known which one it was.
    Unknown,
}

/// The blocks that the reader of a prompt may get back, in its format. Providers refuse what is signed or encrypted and not by the
/// model that they ask, and Anthropic refuses what is not signed: of another model, the texts of its thoughts and what Anthropic
/// searched for it remain. Others with Anthropic's API give searches ids that Anthropic refuses.
pub fn for_reader(blocks: &[Map<String, Value>], thinker: Thinker) -> Vec<Map<String, Value>> {
    let may_get = |block: &&Map<String, Value>| match thinker {
        Thinker::Reader => true,
        Thinker::Other if is_of_server(kind(block)) => is_searched_by_anthropic(block),
        Thinker::Other => {
            let is_bound = ANTHROPIC.contains(&kind(block)) || [DETAILS, EXTRA_CONTENT].contains(&kind(block));
            !is_bound && !is_item(block)
        }
        Thinker::Unknown => kind(block) != THINKING || is_signed(block),
    };
    blocks.iter().filter(may_get).cloned().collect()
}

/// Whether the id in a block of a provider's tool is one of Anthropic's.
fn is_searched_by_anthropic(block: &Map<String, Value>) -> bool {
    let id = ["id", "tool_use_id"].into_iter().find_map(|field| block.get(field)?.as_str());
    id.is_some_and(|id| id.starts_with("srvtoolu_"))
}

/// Whether a block has a signature.
fn is_signed(block: &Map<String, Value>) -> bool {
    block.get("signature").and_then(Value::as_str).is_some_and(|signature| !signature.is_empty())
}

/// The blocks that Anthropic gets back, as it gave them. A use of its own tools goes with the result, or not at all.
pub fn for_anthropic(blocks: &[Map<String, Value>]) -> impl Iterator<Item = Value> {
    let masked = blocks.iter().filter(|block| block.contains_key(MASKED));
    let hidden: Vec<&str> = masked.filter_map(|block| block.get("tool_use_id")?.as_str()).collect();
    let is_own = move |block: &&Map<String, Value>| {
        let id = block.get("id").and_then(Value::as_str);
        let is_hidden = block.contains_key(MASKED) || hidden.iter().any(|hidden| Some(*hidden) == id);
        (ANTHROPIC.contains(&kind(block)) || is_of_server(kind(block))) && !is_hidden
    };
    blocks.iter().filter(is_own).cloned().map(Value::Object)
}

/// The fields that a provider with OpenAI's messages gets back, as it gave them.
pub fn for_openai(blocks: &[Map<String, Value>]) -> impl Iterator<Item = (&str, &Value)> {
    let is_own = |block: &&Map<String, Value>| OPENAI.contains(&kind(block)) && !block.contains_key(MASKED);
    blocks.iter().filter(is_own).filter_map(|block| Some((kind(block), block.get(kind(block))?)))
}

/// The items that the Responses API gets back, as it gave them. What was thought before a search goes with it, or not at all.
pub fn for_responses(blocks: &[Map<String, Value>]) -> impl Iterator<Item = Value> {
    let is_there = |is: fn(&Map<String, Value>) -> bool| blocks.iter().any(is);
    let is_torn = is_there(is_search) && is_there(|block| block.contains_key(MASKED));
    let is_own = move |block: &&Map<String, Value>| is_item(block) && !is_torn && !block.contains_key(MASKED);
    blocks.iter().filter(is_own).cloned().map(Value::Object)
}

/// Whether a block is an item of the Responses API.
fn is_item(block: &Map<String, Value>) -> bool {
    (kind(block) == ITEM && !block.contains_key(ITEM)) || is_search(block)
}

/// Whether a block is an item with which the web was searched.
fn is_search(block: &Map<String, Value>) -> bool {
    kind(block) == SEARCH_ITEM
}

/// How many bytes blocks have as JSON.
pub fn size_bytes(blocks: &[Map<String, Value>]) -> usize {
    blocks.iter().map(json::size_bytes).sum()
}

/// What came beside the call at this place of its message.
pub fn beside_call(blocks: &[Map<String, Value>], at: usize) -> Option<&Value> {
    let is_its = |block: &&Map<String, Value>| {
        kind(block) == EXTRA_CONTENT && !block.contains_key(MASKED) && block.get("call") == Some(&at.into())
    };
    blocks.iter().find(is_its)?.get(EXTRA_CONTENT)
}

/// A block of what came beside the call at this place of its message.
pub(crate) fn of_call(at: usize, extra_content: Value) -> Map<String, Value> {
    let fields = [("type", EXTRA_CONTENT.into()), ("call", at.into()), (EXTRA_CONTENT, extra_content)];
    fields.map(|(name, value): (&str, Value)| (name.to_owned(), value)).into_iter().collect()
}

/// A block or part of this type, which holds `value` in a field of the same name.
pub(crate) fn block(name: &str, value: Value) -> Map<String, Value> {
    [("type".to_owned(), name.into()), (name.to_owned(), value)].into_iter().collect()
}

/// See [`Command::input`](crate::command::Command::input).
pub(crate) fn input(blocks: &mut [Map<String, Value>], visitor: &mut dyn InputVisitor) {
    for block in blocks {
        let before = block.clone();
        visitor.fields(block);
        if *block != before {
            block.insert(MASKED.to_owned(), true.into());
        }
    }
}
