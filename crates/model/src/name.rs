//! Names of models.

use std::fmt;
use std::str::FromStr;

use crate::ModelError;

const MAX_CHARS: usize = 256;

/// The protocol that a model's endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// OpenAI's chat completions, which many servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl Provider {
    /// The word before the colon of a model's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

/// The name of a model: `openai:NAME` or `anthropic:NAME`, up to 256 characters. `NAME` alone is `openai:NAME`, even if it
/// contains a colon, as in `qwen2.5:7b`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    provider: Provider,
    name: String,
}

impl ModelName {
    /// The protocol that the model's endpoint speaks.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The endpoint's own name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for ModelName {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let (provider, name) = match text.split_once(':') {
            Some(("openai", name)) => (Provider::OpenAi, name),
            Some(("anthropic", name)) => (Provider::Anthropic, name),
            _ => (Provider::OpenAi, text),
        };
        let wrong = if name.is_empty() {
            "it is empty"
        } else if text.chars().count() > MAX_CHARS {
            "it is longer than 256 characters"
        } else if name.chars().any(|character| character.is_whitespace() || character.is_control()) {
            "it contains white space or a control character"
        } else {
            return Ok(Self { provider, name: name.to_owned() });
        };
        let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
        Err(ModelError::BadName { name: shown, wrong })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider.as_str(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(text: &str) -> String {
        text.parse::<ModelName>().map_or_else(|error| error.to_string(), |name| name.to_string())
    }

    #[test]
    fn a_name_says_which_protocol_its_endpoint_speaks() {
        assert_eq!(reads("anthropic:claude"), "anthropic:claude");
        assert_eq!(reads("openai:gpt"), "openai:gpt");
        assert_eq!(reads("gpt"), "openai:gpt");
        assert_eq!(reads("qwen2.5:7b"), "openai:qwen2.5:7b");
        assert_eq!(reads("openai:qwen2.5:7b"), "openai:qwen2.5:7b");
    }

    #[test]
    fn what_cannot_be_a_name_is_refused_with_the_reason() {
        assert!(reads("").contains("empty"));
        assert!(reads("openai:").contains("empty"));
        assert!(reads("two words").contains("white space"));
        assert!(reads("nul\0").contains("control character"));
        assert!(reads(&"x".repeat(300)).contains("longer than 256"));
    }
}
