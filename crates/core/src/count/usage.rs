//! What a model used, in the fields of its provider, and what that cost.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::number::{whole, whole_or_none};

/// The tokens that a call of a model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReportedUsage))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the prompt.
    #[serde(default, deserialize_with = "whole")]
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    #[serde(default, deserialize_with = "whole")]
    pub completion_tokens: u64,
}

/// What something costs by the prices with which the server was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Cost {
    /// The amount.
    pub amount: f64,
    /// The currency, such as `USD`.
    pub currency: String,
}

impl Usage {
    /// Adds what another answer took.
    pub(crate) fn add(&mut self, more: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(more.completion_tokens);
    }
}

/// The tokens that a provider counted, in its own fields: those of OpenAI's chat completions, of its Responses API, or of
/// Anthropic. What else it counted is ignored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NewUsage))]
pub struct GivenUsage {
    /// Tokens of the prompt.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub completion_tokens: Option<u64>,
    /// Tokens of both.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub total_tokens: Option<u64>,
    /// Tokens of the prompt, as the Responses API and Anthropic name them. Anthropic leaves out those of its cache.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, as the Responses API and Anthropic name them.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that Anthropic had in its cache.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens of the prompt that Anthropic put into its cache.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub cache_creation_input_tokens: Option<u64>,
}

impl From<GivenUsage> for Usage {
    fn from(given: GivenUsage) -> Self {
        let cached = [given.cache_read_input_tokens, given.cache_creation_input_tokens];
        let input = given.input_tokens.map(|input| cached.into_iter().flatten().fold(input, u64::saturating_add));
        let completion = given.completion_tokens.or(given.output_tokens);
        let rest = || given.total_tokens.map(|total| total.saturating_sub(completion.unwrap_or_default()));
        let prompt = given.prompt_tokens.or(input).or_else(rest);
        Self { prompt_tokens: prompt.unwrap_or_default(), completion_tokens: completion.unwrap_or_default() }
    }
}

/// The usage in an object of a provider, where it can be read.
pub(crate) fn of_object(object: &Map<String, Value>) -> Option<Usage> {
    let usage = object.get("usage").filter(|usage| usage.is_object())?;
    GivenUsage::deserialize(usage.clone()).ok().map(Usage::from)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{GivenUsage, Usage};

    #[test]
    fn usage_is_read_in_the_fields_of_every_provider() {
        let read = |usage: Value| {
            let usage: Usage = serde_json::from_value::<GivenUsage>(usage).unwrap().into();
            (usage.prompt_tokens, usage.completion_tokens)
        };
        let openai = json!({
            "prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": null}, "completion_tokens_details": null, "queue_time": 0.1,
        });
        let anthropic = json!({
            "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10,
            "cache_creation": {"ephemeral_5m_input_tokens": 10}, "server_tool_use": null, "service_tier": "standard",
        });
        let responses = json!({
            "input_tokens": 80, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 20, "total_tokens": 100,
        });
        let total = json!({"completion_tokens": 20, "total_tokens": 100});
        for usage in [openai, anthropic, responses, total] {
            assert_eq!(read(usage.clone()), (80, 20), "{usage}");
        }
        assert_eq!(read(json!({"prompt_tokens": null})), (0, 0));
    }
}
