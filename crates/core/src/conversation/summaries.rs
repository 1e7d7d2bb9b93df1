//! What a thread knows of its compression.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    count::Tokens,
    id::{AgentName, Seq},
};

/// A summary that stands in prompts, as the state holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingSummary {
    /// The entry that holds it.
    pub seq: Seq,
    /// The first entry that it covers.
    pub from: Seq,
    /// The last entry that it covers.
    pub through: Seq,
    /// Who could see it when it was made.
    pub audience: Audience,
    /// See [`Compressed::kept`](crate::compression::Compressed::kept).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Seq>,
    /// See [`Compressed::kept_tokens`](crate::compression::Compressed::kept_tokens).
    pub kept_tokens: Tokens,
}

impl StandingSummary {
    /// Whether it covers the entry `seq`.
    pub fn covers(&self, seq: Seq) -> bool {
        (self.from..=self.through).contains(&seq)
    }
}

/// What a thread knows of its compression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCompression {
    /// The summaries that stand, by what they cover. There is more than one only where not everyone who sees the thread
    /// sees the same of it, or where one was made behind what is left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingSummary>,
    /// The messages that are pinned, each with its size.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "pairs")]
    pub pins: BTreeMap<Seq, Tokens>,
    /// Up to where nothing is compressed unasked, since a compression was undone: only where a prompt would not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<Seq>,
    /// The agents whose prompts have passed the size at which a warning is given, since the last compression.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub warned: BTreeSet<AgentName>,
    /// The agents for whom it was noted that their prompts are too large without what was said.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub crowded: BTreeSet<AgentName>,
    /// Which results of tools are not shown any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared: Option<Cleared>,
}

/// Pins as a list of pairs, for keys are no numbers in JSON.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::{count::Tokens, id::Seq};

    pub(super) fn serialize<S: Serializer>(pins: &BTreeMap<Seq, Tokens>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pins)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Seq, Tokens>, D::Error> {
        Ok(Vec::<(Seq, Tokens)>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Which results of tools prompts name instead of showing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// Those up to this entry.
    pub through: Seq,
    /// Those of more than this size.
    pub over: Tokens,
}

impl ThreadCompression {
    /// The size of all that is pinned.
    pub fn pinned_tokens(&self) -> Tokens {
        self.pins.values().copied().sum()
    }

    /// The newest summary that stands.
    pub fn newest(&self) -> Option<&StandingSummary> {
        self.standing.iter().max_by_key(|head| head.seq)
    }
}
