//! What is asked of a server and what it answers, whichever way it travels.

use std::borrow::Cow;

use super::error::RedisFailure;

/// A command. All of its words are text, so that it can travel as JSON too.
#[derive(Clone)]
pub(super) struct Command<'a>(pub(super) Vec<Cow<'a, str>>);

impl<'a> Command<'a> {
    pub(super) fn new<W: Into<Cow<'a, str>>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// There is nothing.
    Nothing,
    /// A whole number.
    Number(i64),
    /// A text. All that is ever written is text, so all that is read is.
    Text(String),
    /// Several answers.
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

    /// A whole number, also one that was written as text.
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

    /// A list of exactly so many answers.
    pub(super) fn exactly<const N: usize>(self) -> Result<[Self; N], RedisFailure> {
        let list = self.list()?;
        list.try_into().map_err(|list| Self::List(list).unexpected("a list of another length"))
    }

    /// The fault of an answer that is none to what was asked. What it says stays out of the words.
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
