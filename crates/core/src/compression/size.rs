//! What messages take in prompts.

use crate::{
    conversation::{Content, Message, ToolCall},
    count::Tokens,
    prompt::escape::escape,
    text::Text,
};

/// What it takes to show a message besides its text and its names, in the format `text`: other formats take about as much.
const FRAME: Tokens = Tokens(18);

/// What it takes to show a call in it.
const CALL: Tokens = Tokens(24);

/// What a message takes in a prompt, at the most. Where its text is long and not at hand, a token for two bytes of it.
pub fn size(message: &Message, text: Option<&str>) -> Tokens {
    let of_text = match (text, &message.content) {
        // What is escaped has so many characters more.
        (Some(text), _) => message.tokens + Tokens(escape(text).len().saturating_sub(text.len()) as u64),
        (None, Content::Text(Text::Stored(stored))) => message.tokens.max(Tokens(stored.size_bytes / 2)),
        (None, _) => message.tokens,
    };
    // Names and criteria are not in the size of a message. They have a token for two bytes at the most, or hardly more.
    let call = |call: &ToolCall| CALL + Tokens(call.id.len() as u64 / 2);
    let calls = message.tool_calls.iter().map(call).sum::<Tokens>();
    let of_names = message.agent.as_ref().map_or(0, |agent| agent.as_str().len())
        + message.tool_call_id.as_ref().map_or(0, String::len)
        + message.expected_output.as_ref().map_or(0, |expected| expected.len());
    of_text + FRAME + calls + Tokens(of_names as u64 / 2)
}
