//! Which provider a prompt is for, by the name of the model that reads it: each takes other messages.

use callboard_core::prompt::Format;

/// The provider whose model reads a prompt, as far as its rules differ from those of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI's own models. Also where no model is named: the format is OpenAI's.
    #[default]
    OpenAi,
    /// OpenAI's models that hear. They take no pictures.
    OpenAiAudio,
    /// OpenAI's models that take texts alone, and `gpt-4o-mini`, for which a picture counts as up to 37,000 tokens.
    OpenAiText,
    /// Claude.
    Anthropic,
    /// DeepSeek, which wants what its model thought before each call back in all later requests.
    DeepSeek,
    /// Gemini, whose calls come with a signature that the next request of the same loop must have.
    Gemini,
    /// Mistral, whose ids of calls have nine letters and digits, and which lets no user speak right behind a result.
    Mistral,
    /// Any other: what all of them take is right.
    Unknown,
}

impl Provider {
    /// The provider of a model, such as `openai:gpt-4o` or `mistralai/Mistral-7B-Instruct`. The name before the colon says which
    /// protocol an endpoint speaks, and not whose model it has.
    pub fn of(model: Option<&str>) -> Self {
        let Some(model) = model else { return Self::OpenAi };
        let model = model.to_ascii_lowercase();
        if let Some(("anthropic", _)) = model.split_once(':') {
            return Self::Anthropic;
        }
        let name = model_name(&model);
        let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if is_openai(name) {
            match name.strip_prefix("ft:").unwrap_or(name) {
                name if name.contains("audio") => Self::OpenAiAudio,
                name if is_given_no_pictures(name) => Self::OpenAiText,
                _ => Self::OpenAi,
            }
        } else if says(&["mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral", "voxtral"])
        {
            Self::Mistral
        } else if says(&["deepseek"]) {
            Self::DeepSeek
        } else if says(&["gemini"]) {
            Self::Gemini
        } else if says(&["claude"]) {
            Self::Anthropic
        } else {
            Self::Unknown
        }
    }

    /// Whether its models are sent the strict form of messages: one message of the system, then the user and the assistant in turn.
    pub(super) fn is_strict(self) -> bool {
        !matches!(self, Self::OpenAi | Self::OpenAiAudio | Self::OpenAiText)
    }

    /// Whether its models may keep to a schema that is enforced as OpenAI does it.
    pub fn enforces_schemas(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiText)
    }

    /// Whether its models may take pictures in chat completions. With Mistral what the user says may have to stand in a result.
    pub(super) fn sees(self) -> bool {
        !matches!(self, Self::OpenAiAudio | Self::OpenAiText | Self::DeepSeek | Self::Mistral)
    }

    /// Whether its models take PDFs, and files that were uploaded to it, in chat completions and the Responses API.
    pub(super) fn reads(self) -> bool {
        self == Self::OpenAi
    }

    /// Whether its models take audio in chat completions.
    pub(super) fn hears(self) -> bool {
        matches!(self, Self::OpenAiAudio | Self::Gemini)
    }

    /// Whether what others say behind a result goes out in one message with it, so that the loop of calls goes on. Claude's
    /// endpoint joins the two where a router does not, and refuses a call of the loop without what was thought before it.
    pub(super) fn joins_results(self, format: Format) -> bool {
        self == Self::Anthropic || format == Format::Anthropic
    }

    /// Whether a call of the reader's own gets this field of what it thought back. Nobody is sent what it does not ask for.
    pub(super) fn takes_thought(self, field: &str, is_in_loop: bool) -> bool {
        match (self, field) {
            (Self::OpenAi | Self::OpenAiAudio | Self::OpenAiText | Self::Mistral, _) => false,
            (Self::DeepSeek, "reasoning_content") => true,
            // Routers such as OpenRouter give it with the models of all providers.
            (_, "reasoning_details") => is_in_loop,
            (Self::Gemini, "extra_content") => is_in_loop,
            (Self::Anthropic | Self::DeepSeek | Self::Gemini | Self::Unknown, _) => false,
        }
    }
}

/// The name of a model without `openai:`, which may be left out before it.
pub(super) fn model_name(model: &str) -> &str {
    model.strip_prefix("openai:").unwrap_or(model)
}

/// Whether providers refuse a text as blank. Those that are written in Python take four separators for white space that Rust does not.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// Whether a model refuses a call of its loop without a signature of what was thought before it: Gemini does from version 3 on.
pub(super) fn wants_signatures(model: Option<&str>) -> bool {
    let name = model.map(str::to_ascii_lowercase).unwrap_or_default();
    let behind = name.split_once("gemini-").map_or("", |(_, behind)| behind);
    let version = behind.split(|c: char| !c.is_ascii_digit()).next().and_then(|version| version.parse::<u32>().ok());
    version.is_some_and(|version| version >= 3)
}

/// Whether a name is that of one of OpenAI's own models. Those with open weights, `gpt-oss`, are served by others.
fn is_openai(name: &str) -> bool {
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let digit_behind = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    ["gpt-", "o"].into_iter().any(digit_behind)
        || ["chatgpt-", "gpt-audio", "gpt-realtime"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a model of OpenAI's is given no pictures.
fn is_given_no_pictures(name: &str) -> bool {
    let without = [
        "gpt-3",
        "gpt-4-0",
        "gpt-4-1",
        "gpt-4-32k",
        "gpt-4-turbo-preview",
        "gpt-4o-mini",
        "o1-mini",
        "o1-preview",
        "o3-mini",
    ];
    name == "gpt-4" || name.starts_with("gpt-4:") || without.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use crate::provider::{Provider, wants_signatures};

    #[test]
    fn gemini_wants_signatures_from_version_3_on() {
        for (model, wants) in [
            ("openai:gemini-3-pro", true),
            ("google/gemini-3.1-pro-preview", true),
            ("Gemini-12-flash", true),
            ("gemini-2.5-flash", false),
            ("gemini-flash-latest", false),
            ("openai:gpt-4o", false),
        ] {
            assert_eq!(wants_signatures(Some(model)), wants, "{model}");
        }
        assert!(!wants_signatures(None));
    }

    #[test]
    fn what_was_thought_goes_back_to_whoever_asks_for_it() {
        let fields = ["reasoning_content", "reasoning", "reasoning_details", "extra_content"];
        let takes = |provider: Provider, in_loop: bool| fields.map(|field| provider.takes_thought(field, in_loop));
        for (provider, taken) in [
            (Provider::OpenAi, [false; 4]),
            (Provider::Mistral, [false; 4]),
            (Provider::Unknown, [false, false, true, false]),
            (Provider::Anthropic, [false, false, true, false]),
            (Provider::DeepSeek, [true, false, true, false]),
            (Provider::Gemini, [false, false, true, true]),
        ] {
            assert_eq!(takes(provider, true), taken, "{provider:?}");
            assert_eq!(takes(provider, false), [provider == Provider::DeepSeek, false, false, false], "{provider:?}");
        }
    }

    #[test]
    fn a_model_is_told_by_its_name() {
        let of = |name| Provider::of(Some(name));
        for name in ["openai:gpt-4o", "gpt-5.1", "openai:o4-mini", "chatgpt-4o-latest", "ft:gpt-4o:acme", "gpt-4-turbo"]
        {
            assert_eq!(of(name), Provider::OpenAi, "{name}");
        }
        for name in
            ["gpt-4", "gpt-4-0613", "gpt-3.5-turbo", "openai:o3-mini", "ft:gpt-4o-mini:acme", "gpt-4-turbo-preview"]
        {
            assert_eq!(of(name), Provider::OpenAiText, "{name}");
        }
        assert_eq!(of("gpt-4o-mini-audio-preview"), Provider::OpenAiAudio);
        for name in ["openai:qwen2.5:7b", "gpt-oss-20b", "openai/gpt-4o", "olmo-2", "orca", "google/gemma-2-9b-it"] {
            assert_eq!(of(name), Provider::Unknown, "{name}");
        }
        assert_eq!(of("gpt-4o-audio-preview"), Provider::OpenAiAudio);
        assert_eq!(of("openai:gpt-audio"), Provider::OpenAiAudio);
        assert_eq!(of("anthropic:claude-sonnet-4-5"), Provider::Anthropic);
        assert_eq!(of("anthropic/claude-opus-4"), Provider::Anthropic);
        assert_eq!(of("openai:mistral-small-latest"), Provider::Mistral);
        assert_eq!(of("mistralai/Devstral-Small"), Provider::Mistral);
        assert_eq!(of("openai:deepseek-chat"), Provider::DeepSeek);
        assert_eq!(of("openai:gemini-3-pro"), Provider::Gemini);
        assert_eq!(Provider::of(None), Provider::OpenAi);
    }
}
