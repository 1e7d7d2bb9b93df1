//! Shares: what of a budget a part gets.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{count::Tokens, number};

/// The share of a part in the budget: tokens, or a percentage such as `"25%"`. Absent fields have their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shares {
    /// It gets at least this much, if it needs as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Amount>,
    /// It gets at most this much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Amount>,
    /// Parts with a higher number get their share first.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}

impl Shares {
    /// How a part that shows what is true now shares the budget by default: it has its place however long a message is.
    pub const OF_STATE: Self =
        Self { min: Some(Amount::Percent(10)), max: Some(Amount::Percent(25)), priority: Some(2) };
}

/// A part of a budget: a number of tokens, or a percentage such as `"25%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many tokens.
    Tokens(Tokens),
    /// So many hundredths of the budget.
    Percent(u8),
}

impl Amount {
    /// What it comes to in `budget`.
    pub fn of(self, budget: Tokens) -> Tokens {
        match self {
            Self::Tokens(tokens) => tokens.min(budget),
            Self::Percent(percent) => budget.part(percent.into(), 100),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tokens(tokens) => tokens.serialize(serializer),
            Self::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number of tokens, or a percentage such as \"25%\"")]
        enum Form {
            Tokens(Tokens),
            Text(String),
        }
        let wrong = || de::Error::custom("a percentage is \"0%\" to \"100%\"");
        match Form::deserialize(deserializer)? {
            Form::Tokens(tokens) => Ok(Self::Tokens(tokens)),
            Form::Text(text) => {
                let percent = text.strip_suffix('%').and_then(|number| number.parse().ok());
                percent.filter(|percent| *percent <= 100).map(Self::Percent).ok_or_else(wrong)
            }
        }
    }
}

/// The shares of a part, all of them said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// It gets at least this much, if it needs as much.
    pub min: Tokens,
    /// It gets at most this much.
    pub max: Tokens,
    /// Parts with a higher number are served first.
    pub priority: i32,
    /// Which of two parts of the same priority is served first.
    pub default_priority: i32,
}

impl Allowed {
    /// The same with no more than `most`, where that is said.
    pub fn at_most(self, most: Option<Tokens>) -> Self {
        let most = most.unwrap_or(self.max);
        Self { min: self.min.min(most), max: self.max.min(most), ..self }
    }
}
