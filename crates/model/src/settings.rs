//! How to reach models.

use std::fmt;
use std::time::Duration;

use crate::Retries;

/// Where endpoints are and how patient to be with them. What is left out has its usual meaning.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The base URL of an OpenAI-compatible endpoint, up to and with `/v1`. Left out, and with a key, it is OpenAI's own.
    pub openai_base_url: Option<String>,
    /// The key for it; many local servers need none.
    pub openai_api_key: Option<ApiKey>,
    /// The base URL of an endpoint for Anthropic's messages, with or without `/v1`. Left out, and with a key, it is
    /// Anthropic's own.
    pub anthropic_base_url: Option<String>,
    /// The key for it; local servers need none.
    pub anthropic_api_key: Option<ApiKey>,
    /// A proxy on the way to endpoints that are not on this machine.
    pub proxy: Option<Proxy>,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// What is tried again, and when.
    pub retries: Retries,
}

/// A key that no output shows. Blanks around it are not part of it.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key in `text`; none where it is blank.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// The key itself, for a request's header and nothing else.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with the key, where it is in there, covered up.
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
    /// Its URL; it may have a user and a password.
    pub url: String,
    /// Hosts that are reached without it, separated by commas. Those on this machine always are.
    pub except: String,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("except", &self.except).finish_non_exhaustive()
    }
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection: 10 seconds.
    pub connect: Duration,
    /// For an answer to begin, and then for each next piece of it: 5 minutes, for a small machine reads a long prompt
    /// slowly and some models think before they speak.
    pub idle: Duration,
    /// For a whole answer with all that is tried again: 30 minutes.
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
