//! The address of a server, and the options in its URL.

use std::{borrow::Cow, time::Duration};

use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::{Durability, Error};

/// How often to look for changes by others over REST, unless the URL says so.
const POLL: Duration = Duration::from_millis(500);

/// A parsed URL.
pub(super) struct Address {
    pub(super) protocol: Protocol,
    pub(super) options: Options,
}

/// The options after `?`.
pub(super) struct Options {
    /// The prefix of all keys.
    pub(super) namespace: String,
    /// The required durability, or for REST the one that the provider promises.
    pub(super) durability: Option<Durability>,
    /// Whether to accept a server that drops data when its memory is full.
    pub(super) allow_eviction: bool,
    /// How often to look for changes by others over REST, where the server cannot be waited for.
    pub(super) poll: Duration,
    /// The file with the token for REST.
    token_file: Option<String>,
}

/// The protocol in which commands are sent.
pub(super) enum Protocol {
    /// Redis' own protocol. The URL may hold a password.
    Native(Url),
    /// JSON over HTTP.
    Rest { base: Url, token: Token },
}

/// The access token of a server over REST. It has no `Debug`, so it is never shown.
pub(super) struct Token(pub(super) String);

impl Address {
    /// Parses `url`. Reads the file of the token if the URL names one.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::cannot_open(shown(url), why);
        let rest = url.strip_prefix("redis-rest+");
        let mut place =
            Url::parse(rest.unwrap_or(url)).map_err(|_| wrong("it is not a URL: write redis://HOST:PORT"))?;
        if place.host_str().is_none_or(str::is_empty) {
            return Err(wrong("the host is missing: write redis://HOST:PORT"));
        }
        let (namespace, poll) = ("callboard".to_owned(), POLL);
        let mut options = Options { namespace, durability: None, allow_eviction: false, poll, token_file: None };
        for (name, value) in place.query_pairs() {
            options.take(&name, &value).map_err(|why| wrong(&why))?;
        }
        place.set_query(None);
        let protocol = match rest {
            None if options.token_file.is_some() => return Err(wrong("`token_file` is for redis-rest+https://")),
            None => Protocol::Native(place),
            Some(_) => {
                let token = token(&mut place, options.token_file.take()).map_err(|why| wrong(&why))?;
                Protocol::Rest { base: place, token }
            }
        };
        Ok(Self { protocol, options })
    }

    /// The URL without secrets.
    pub(super) fn shown(&self) -> String {
        match &self.protocol {
            Protocol::Native(url) => shown(url.as_str()),
            Protocol::Rest { base, .. } => shown(&format!("redis-rest+{base}")),
        }
    }
}

impl Options {
    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let yes = |value: &str| match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("`{name}` is true or false")),
        };
        match name {
            "namespace" => self.namespace = namespace(value)?,
            "token_file" => self.token_file = Some(value.to_owned()),
            "allow_eviction" => self.allow_eviction = yes(value)?,
            "durability" => {
                let durability = Durability::named(value);
                self.durability = Some(durability.ok_or("`durability` is process, normal or full")?);
            }
            "poll_ms" => {
                let ms = value.parse().ok().filter(|ms| (10..=600_000).contains(ms));
                self.poll = Duration::from_millis(ms.ok_or("`poll_ms` is a number from 10 to 600000")?);
            }
            _ => {
                return Err(format!(
                    "it has no option `{name}`: use namespace, durability, allow_eviction, poll_ms or token_file"
                ));
            }
        }
        Ok(())
    }
}

/// Checks a namespace. It must not contain the separators of keys.
fn namespace(name: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(fits) {
        return Err("`namespace` is 1 to 64 letters, digits and ._-".to_owned());
    }
    Ok(name.to_owned())
}

/// The token from the URL, or from the file that the URL names.
fn token(base: &mut Url, file: Option<String>) -> Result<Token, String> {
    let encoded = base.password().unwrap_or(base.username());
    let in_url = percent_decode_str(encoded).decode_utf8().ok().filter(|token| !token.is_empty());
    let in_url = in_url.map(Cow::into_owned);
    // These fail only for URLs without a host.
    let _ = base.set_password(None);
    let _ = base.set_username("");
    let token = match (in_url, file) {
        (Some(_), Some(_)) => return Err("it has a token and `token_file` names one too: remove one".to_owned()),
        (Some(token), None) => token,
        (None, Some(file)) => std::fs::read_to_string(&file)
            .map_err(|error| format!("the file with the token cannot be read: {error}"))?,
        (None, None) => {
            return Err("the token is missing: write redis-rest+https://TOKEN@HOST or ?token_file=PATH".to_owned());
        }
    };
    Ok(Token(token.trim().to_owned()))
}

/// A URL without user, password, token and options.
fn shown(url: &str) -> String {
    let scheme = url.split("://").next().unwrap_or_default();
    let place = url.strip_prefix(scheme).unwrap_or_default();
    let place = place.split(['?', '#']).next().unwrap_or_default().trim_start_matches("://");
    let host = place.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(url: &str) -> String {
        Address::parse(url).err().unwrap().to_string()
    }

    #[test]
    fn a_url_says_where_and_for_what() {
        let address = Address::parse("redis://me:secret@host:7000/2?namespace=team&durability=full").unwrap();
        let Options { namespace, durability, .. } = &address.options;
        assert_eq!((namespace.as_str(), *durability), ("team", Some(Durability::Full)));
        assert_eq!(address.shown(), "redis://host:7000/2");
        let Protocol::Native(url) = address.protocol else { panic!("it is native") };
        assert_eq!(url.as_str(), "redis://me:secret@host:7000/2");
    }

    #[test]
    fn a_token_is_taken_out_of_the_url_and_never_shown() {
        for url in ["redis-rest+https://to%2Fken@host/", "redis-rest+https://default:to%2Fken@host/"] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.shown(), "redis-rest+https://host/");
            let Protocol::Rest { base, token } = address.protocol else { panic!("it is over REST") };
            assert_eq!((base.as_str(), &*token.0), ("https://host/", "to/ken"));
        }
    }

    #[test]
    fn a_token_can_be_in_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "token\n").unwrap();
        let url = format!("redis-rest+http://localhost:1?token_file={}", file.path().display());
        let Protocol::Rest { token, .. } = Address::parse(&url).unwrap().protocol else { panic!("it is over REST") };
        assert_eq!(token.0, "token");
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        for (url, expected) in [
            ("redis://me:secret@", "it is not a URL: write redis://HOST:PORT"),
            ("redis://:secret@host?namespce=x", "it has no option `namespce`"),
            ("redis://:secret@host?namespace=a:b", "`namespace` is 1 to 64 letters"),
            ("redis://:secret@host?durability=much", "`durability` is process, normal or full"),
            ("redis-rest+https://host", "the token is missing"),
            ("redis-rest+https://secret@host?token_file=x", "`token_file` names one too"),
        ] {
            let why = why(url);
            assert!(why.contains(expected), "{url}: {why}");
            assert!(!why.contains("secret"), "{url}: {why}");
        }
    }
}
