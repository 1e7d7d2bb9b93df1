//! Commands and replies, for both protocols.

use std::borrow::Cow;

use super::error::RedisFailure;

/// A command. All its words are text, so that it can also be sent as JSON.
#[derive(Clone)]
pub(super) struct Command<'a>(pub(super) Vec<Cow<'a, str>>);

impl<'a> Command<'a> {
    pub(super) fn new<W: Into<Cow<'a, str>>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

/// A reply to a command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// The nil of Redis.
    Nothing,
    /// A whole number.
    Number(i64),
    /// A text. The store writes only text, so there are no other bytes.
    Text(String),
    /// Several replies.
    List(Vec<Reply>),
}

impl Reply {
    pub(super) fn text(self) -> Result<String, RedisFailure> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other.unexpected("a text")),
        }
    }

    /// A text, or nothing.
    pub(super) fn some_text(self) -> Result<Option<String>, RedisFailure> {
        match self {
            Self::Nothing => Ok(None),
            other => other.text().map(Some),
        }
    }

    /// A whole number; a number that was written as text is accepted too.
    pub(super) fn number(self) -> Result<i64, RedisFailure> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Text(text) => text.parse().map_err(|_| Self::Text(text).unexpected("a number")),
            other => Err(other.unexpected("a number")),
        }
    }

    pub(super) fn list(self) -> Result<Vec<Self>, RedisFailure> {
        match self {
            Self::List(list) => Ok(list),
            other => Err(other.unexpected("a list")),
        }
    }

    /// A list of exactly `N` replies.
    pub(super) fn exactly<const N: usize>(self) -> Result<[Self; N], RedisFailure> {
        let list = self.list()?;
        list.try_into().map_err(|list| Self::List(list).unexpected("a list of another length"))
    }

    /// The error for an unexpected reply. It does not repeat the reply, which may be private.
    fn unexpected(&self, expected: &str) -> RedisFailure {
        let what = match self {
            Self::Nothing => "nothing",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
        };
        RedisFailure::Unexpected(format!("it answered {what} where {expected} was expected"))
    }
}
