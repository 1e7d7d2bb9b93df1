//! Origins: where Callboard may type the secrets of a variable.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The most characters of an origin.
const CHARS: usize = 300;

/// The origin of web pages: scheme, host and, where it is not the usual one, port, such as `https://accounts.example.com`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Origin(Arc<str>);

/// A text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no origin: write scheme and host, and the port if any, such as https://accounts.example.com")]
pub struct BadOrigin(String);

impl Origin {
    /// The origin as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = BadOrigin;

    fn from_str(text: &str) -> Result<Self, BadOrigin> {
        let lower = text.trim().to_lowercase();
        let bare = lower.strip_suffix('/').unwrap_or(&lower);
        let place = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or_default();
        let port = place.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
        let is_of_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        let has_host = place.starts_with(|c: char| c.is_alphanumeric() || c == '[');
        if has_host && is_port && place.chars().all(is_of_host) && place.chars().nth(CHARS).is_none() {
            return Ok(Self(bare.into()));
        }
        Err(BadOrigin(text.chars().take(CHARS).collect()))
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_perhaps_a_port() {
        for (text, origin) in [
            ("https://Accounts.Example.com/", "https://accounts.example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:80", "http://[::1]:80"),
            ("https://[::1]", "https://[::1]"),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().as_str(), origin);
        }
        for bad in
            ["", "example.com", "https://", "https://a/b", "ftp://a", "https://a:b", "https://u@a", "https://a?x"]
        {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }
}
