//! Profiles: how the parts of a prompt share its budget.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{count::Tokens, error::Error, number};

/// How the parts of a prompt share its budget. Parts that are not named here have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// What a prompt has to fit in, where the call does not say so; the model's window where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 0))]
    pub budget: Option<Tokens>,
    /// How long an answer in a run may be at the most, in tokens; as the model has it where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 0))]
    pub answer_tokens: Option<Tokens>,
    /// The parts that are other than by default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::ProfileParts))]
    pub parts: BTreeMap<Elastic, Shares>,
}

/// A part of a prompt that can be larger or smaller. The others are always there in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elastic {
    /// The shared context sets.
    ContextSets,
    /// What was said before.
    History,
    /// What is to be done now.
    Task,
}

impl Elastic {
    /// The name of the part.
    pub fn name(self) -> &'static str {
        match self {
            Self::ContextSets => "context_sets",
            Self::History => "history",
            Self::Task => "task",
        }
    }
}

/// What of the budget a part gets: tokens, or a percentage such as `"25%"`. What is absent is as by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shares {
    /// It gets at least this much, as far as it has use for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Share>,
    /// It gets at most this much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Share>,
    /// Who has the higher number is served first.
    #[serde(deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}

/// A part of a budget: a number of tokens, or a percentage such as `"25%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many tokens.
    Tokens(Tokens),
    /// So many hundredths of the budget.
    Percent(u8),
}

impl Share {
    /// What it comes to in `budget`.
    pub fn of(self, budget: Tokens) -> Tokens {
        match self {
            Self::Tokens(tokens) => tokens.min(budget),
            Self::Percent(percent) => {
                Tokens(budget.0 / 100 * u64::from(percent) + budget.0 % 100 * u64::from(percent) / 100)
            }
        }
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tokens(tokens) => tokens.serialize(serializer),
            Self::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

impl<'de> Deserialize<'de> for Share {
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
pub(crate) struct Allowed {
    pub(crate) min: Tokens,
    pub(crate) max: Tokens,
    pub(crate) priority: i32,
}

impl Profile {
    /// Whether it says nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses a part whose minimum is above its maximum in every budget.
    pub(crate) fn check(&self, pointer: &str) -> Result<(), Error> {
        for (part, shares) in &self.parts {
            let above = match (shares.min, shares.max) {
                (Some(Share::Tokens(min)), Some(Share::Tokens(max))) => min > max,
                (Some(Share::Percent(min)), Some(Share::Percent(max))) => min > max,
                _ => false,
            };
            if above {
                let pointer = format!("{pointer}/parts/{}/min", part.name());
                return Err(Error::contradiction(pointer, "the minimum is above the maximum"));
            }
        }
        Ok(())
    }

    /// What `part` gets of `budget`.
    pub(crate) fn allowed(&self, part: Elastic, budget: Tokens) -> Allowed {
        let (min, max, priority) = match part {
            Elastic::Task => (Share::Percent(25), Share::Percent(100), 3),
            Elastic::ContextSets => (Share::Tokens(Tokens(0)), Share::Percent(75), 2),
            Elastic::History => (Share::Tokens(Tokens(0)), Share::Percent(100), 1),
        };
        let said = self.parts.get(&part).copied().unwrap_or_default();
        let max = said.max.unwrap_or(max).of(budget);
        let min = said.min.unwrap_or(min).of(budget).min(max);
        Allowed { min, max, priority: said.priority.unwrap_or(priority) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_people_write_them() {
        let profile = |json: &str| serde_json::from_str::<Profile>(json);
        let read = profile(r#"{"parts": {"history": {"min": 1000, "max": "50%", "priority": 5}}}"#).unwrap();
        let allowed = read.allowed(Elastic::History, Tokens(10_000));
        assert_eq!(allowed, Allowed { min: Tokens(1000), max: Tokens(5000), priority: 5 });
        assert_eq!(serde_json::to_string(&read).unwrap().replace(' ', "").len(), 59);
        for wrong in [r#"{"parts": {"sets": {}}}"#, r#"{"parts": {"task": {"min": "101%"}}}"#, r#"{"part": {}}"#] {
            assert!(profile(wrong).is_err(), "{wrong}");
        }
    }
}
