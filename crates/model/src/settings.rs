//! Settings: how to reach models.

use std::fmt;
use std::time::Duration;

use crate::Retries;

/// Endpoints, timeouts and retries. Every field has a default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The base URL of an OpenAI-compatible endpoint, including `/v1`. With a key, the default is OpenAI's own endpoint.
    pub openai_base_url: Option<String>,
    /// The key for it; many local servers need none.
    pub openai_api_key: Option<ApiKey>,
    /// The base URL of an endpoint for Anthropic's messages, with or without `/v1`. With a key, the default is Anthropic's
    /// own endpoint.
    pub anthropic_base_url: Option<String>,
    /// The key for it; local servers need none.
    pub anthropic_api_key: Option<ApiKey>,
    /// A proxy for endpoints that are not on this machine.
    pub proxy: Option<Proxy>,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// The retries.
    pub retries: Retries,
}

/// An API key that no output shows. White space around it is removed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key in `text`; `None` if `text` is blank.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// The key itself. Use it only for the header of a request.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in `text`.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.0, "[hidden]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([hidden])")
    }
}

/// A proxy for HTTP.
#[derive(Clone)]
pub struct Proxy {
    /// Its URL, possibly with user and password.
    pub url: String,
    /// Hosts for which it is not used, separated by commas. It is never used for this machine.
    pub except: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("except", &self.except).finish_non_exhaustive()
    }
}

/// Timeouts.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection: 10 seconds.
    pub connect: Duration,
    /// For the beginning of an answer, and for each further piece: 5 minutes, since a small machine reads a long prompt
    /// slowly, and some models think before they answer.
    pub idle: Duration,
    /// For a whole answer with all retries: 30 minutes.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(5 * 60),
            whole: Duration::from_secs(30 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_shows_a_key() {
        let key = ApiKey::new(" sk-secret\n");
        let proxy = Proxy { url: "http://user:word@proxy".to_owned(), except: String::new() };
        let settings = Settings { openai_api_key: key, proxy: Some(proxy), ..Settings::default() };
        let shown = format!("{settings:?}");
        assert!(!shown.contains("secret") && !shown.contains("word") && shown.contains("[hidden]"), "{shown}");
        assert!(ApiKey::new("  ").is_none());
    }
}
