//! Whole answers of streams.

use serde_json::Value;

use crate::{Provider, anthropic, openai};

/// The whole answer that the events of a stream make, as the provider's API gives it without a stream; but the arguments of calls, which
/// come in pieces, are texts in both APIs. `None` where the events make none: nothing of a message came, or in Anthropic's API not its
/// end.
pub fn whole_answer(provider: Provider, events: Vec<Value>) -> Option<Value> {
    match provider {
        Provider::OpenAi => openai::whole(events),
        Provider::Anthropic => anthropic::whole(events),
    }
}
