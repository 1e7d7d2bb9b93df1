//! Audiences: who may see a thing, and since when.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::id::{AgentName, Seq};

/// Which agents may see a thing. The user sees everything and is never named.
///
/// An audience is stored as its author meant it: an agent that joins later sees what is for [`All`](Self::All), and
/// nothing that was for named agents. In JSON: `"all"`, `"none"` or a list of names; one name alone is read as a list of one, an empty list as
/// `"none"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// Every agent, also those that join later.
    #[default]
    All,
    /// No agent.
    None,
    /// The agents named here, at least one.
    #[serde(untagged)]
    Agents(BTreeSet<AgentName>),
}

impl Audience {
    /// The agents in `names`; without any it is [`None`](Self::None).
    pub fn of(names: impl IntoIterator<Item = AgentName>) -> Self {
        let names: BTreeSet<_> = names.into_iter().collect();
        if names.is_empty() { Self::None } else { Self::Agents(names) }
    }

    /// Whether `agent` is in this audience.
    pub fn contains(&self, agent: &AgentName) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Agents(names) => names.contains(agent),
        }
    }

    /// The agents that are in both audiences.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, audience) | (audience, Self::All) => audience.clone(),
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Agents(a), Self::Agents(b)) => Self::of(a.intersection(b).cloned()),
        }
    }

    /// The agents that are in at least one of the audiences.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, audience) | (audience, Self::None) => audience.clone(),
            (Self::Agents(a), Self::Agents(b)) => Self::of(a.union(b).cloned()),
        }
    }

    /// Whether everyone in `other` is in this audience too.
    pub fn covers(&self, other: &Self) -> bool {
        self.and(other) == *other
    }

    /// The agents that this audience names, in order; `all` and `none` name none.
    pub fn names(&self) -> impl Iterator<Item = &AgentName> {
        match self {
            Self::Agents(names) => Some(names.iter()),
            Self::All | Self::None => None,
        }
        .into_iter()
        .flatten()
    }

    /// This audience, with `all` replaced by the agents of today.
    #[must_use]
    pub fn among<'a>(&self, team: impl IntoIterator<Item = &'a AgentName>) -> Self {
        match self {
            Self::All => Self::of(team.into_iter().cloned()),
            audience => audience.clone(),
        }
    }
}

impl std::fmt::Display for Audience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::None => f.write_str("none"),
            Self::Agents(names) => f.write_str(&names.iter().map(AgentName::as_str).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "\"all\", \"none\", an agent's name or a list of names")]
        enum Form {
            Word(String),
            List(Vec<AgentName>),
        }
        match Form::deserialize(deserializer)? {
            Form::Word(word) if word == "all" => Ok(Self::All),
            Form::Word(word) if word == "none" => Ok(Self::None),
            Form::Word(name) => Ok(Self::of([name.parse().map_err(de::Error::custom)?])),
            Form::List(names) => Ok(Self::of(names)),
        }
    }
}

/// Who may see a thing now, and since which entry. What was hidden from an agent for a while stays out of what the agent
/// reads about the past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibilitySpan {
    /// Who may see the thing now.
    pub audience: Audience,
    /// The entry that made the thing. An earlier thing of the same name is another thing.
    pub since: Seq,
    /// For each named agent, the last entry that hid the thing from it.
    lost: BTreeMap<AgentName, Seq>,
    /// The same for all other agents.
    others_lost: Seq,
}

impl VisibilitySpan {
    /// The span of a thing that the entry `seq` makes.
    pub fn new(audience: Audience, seq: Seq) -> Self {
        Self { audience, since: seq, lost: BTreeMap::new(), others_lost: seq }
    }

    /// The span of a thing that the entry `seq` makes, or changes where it was there before.
    pub(crate) fn of(before: Option<&Self>, audience: Audience, seq: Seq) -> Self {
        let mut span = before.cloned().unwrap_or_else(|| Self::new(audience.clone(), seq));
        span.change(audience, seq);
        span
    }

    /// Records that the entry `seq` changes who may see the thing.
    pub fn change(&mut self, audience: Audience, seq: Seq) {
        if self.audience == Audience::All && audience != Audience::All {
            // The agents that keep it are named from now on; all others have lost it.
            self.lost = audience.names().map(|name| (name.clone(), self.lost_at(name))).collect();
            self.others_lost = seq;
        }
        for name in self.audience.names().filter(|name| !audience.contains(name)) {
            self.lost.insert(name.clone(), seq);
        }
        self.audience = audience;
    }

    /// Whether `agent` may see what the entry `seq` says about the thing: it sees the thing now, and the thing was not
    /// deleted or hidden from it since.
    pub fn reaches(&self, agent: &AgentName, seq: Seq) -> bool {
        self.reaches_from(agent).is_some_and(|from| seq >= from)
    }

    /// From which entry on `agent` may see what is said about the thing; `None` where it does not see the thing now.
    pub fn reaches_from(&self, agent: &AgentName) -> Option<Seq> {
        self.audience.contains(agent).then(|| self.since.max(self.lost_at(agent)))
    }

    /// Whether everyone in `readers`, also who joins later, may see what the entry `seq` says about the thing. They are
    /// among those who may see the thing now.
    pub(crate) fn reaches_all(&self, readers: &Audience, seq: Seq) -> bool {
        let lost = match readers {
            Audience::All => self.lost.values().copied().chain([self.others_lost]).max(),
            audience => audience.names().map(|name| self.lost_at(name)).max(),
        };
        seq >= self.since && seq >= lost.unwrap_or_default()
    }

    /// A number that two entries share if every agent that sees one by [`reaches`](Self::reaches) sees the other too.
    pub(crate) fn era(&self, seq: Seq) -> usize {
        self.lost.values().chain([&self.others_lost]).filter(|lost| **lost <= seq).count()
    }

    fn lost_at(&self, agent: &AgentName) -> Seq {
        self.lost.get(agent).copied().unwrap_or(self.others_lost)
    }
}

/// What a viewer sees of a thing.
#[derive(Debug, PartialEq)]
pub enum ThingView<'a, T> {
    /// All of it.
    Whole(&'a T),
    /// Its outline: what the manager sees of a thing that is hidden from it.
    Outline(&'a T),
}

impl<'a, T> ThingView<'a, T> {
    /// The thing behind it.
    pub fn held(&self) -> &'a T {
        match *self {
            Self::Whole(held) | Self::Outline(held) => held,
        }
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use utoipa::ToSchema;

    use super::Audience;
    use crate::{id::AgentName, same_schema};

    same_schema! {
        Audience as AudienceForm;
    }

    /// Who may see a thing: `all`, `none`, an agent's name or a list of names.
    #[derive(ToSchema)]
    #[serde(untagged)]
    #[schema(as = Audience)]
    enum AudienceForm {
        Word(AudienceWord),
        Name(AgentName),
        Names(Vec<AgentName>),
    }

    #[derive(ToSchema)]
    #[schema(rename_all = "snake_case")]
    enum AudienceWord {
        All,
        None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> Audience {
        Audience::of(names.split_whitespace().map(|name| name.parse().unwrap()))
    }

    fn reads(json: &str) -> String {
        serde_json::from_str::<Audience>(json).map_or_else(|error| error.to_string(), |audience| audience.to_string())
    }

    #[test]
    fn an_audience_is_read_in_every_form_that_people_write() {
        assert_eq!(reads("\"all\""), "all");
        assert_eq!(reads("\"none\""), "none");
        assert_eq!(reads("[]"), "none");
        assert_eq!(reads("\"writer\""), "writer");
        assert_eq!(reads("[\"b\", \"a\", \"b\"]"), "a, b");
        assert!(reads("[\"all\"]").contains("reserved") || reads("[\"all\"]").contains("\"all\", \"none\""));
    }

    #[test]
    fn an_agent_from_which_a_thing_was_hidden_for_a_while_does_not_see_what_came_before() {
        let [a, c] = ["a", "c"].map(|name| name.parse::<AgentName>().unwrap());
        let mut sight = VisibilitySpan::new(Audience::All, Seq(5));
        assert!(sight.reaches(&c, Seq(5)));
        sight.change(names("a"), Seq(7));
        assert!(sight.reaches(&a, Seq(5)) && !sight.reaches(&c, Seq(9)));
        sight.change(Audience::All, Seq(10));
        assert!(sight.reaches(&a, Seq(5)) && !sight.reaches(&c, Seq(5)) && sight.reaches(&c, Seq(10)));
        assert!(!sight.reaches(&a, Seq(4)), "what had this name before was another thing");
    }

    #[test]
    fn what_an_agent_saw_since_it_was_shown_again_stays_when_others_lose_sight() {
        let [a, b, c] = ["a", "b", "c"].map(|name| name.parse::<AgentName>().unwrap());
        let mut sight = VisibilitySpan::new(Audience::All, Seq(1));
        sight.change(names("a"), Seq(2));
        sight.change(Audience::All, Seq(3));
        sight.change(names("a b"), Seq(5));
        assert!(sight.reaches(&a, Seq(1)) && !sight.reaches(&b, Seq(1)));
        assert!(sight.reaches(&b, Seq(4)) && !sight.reaches(&c, Seq(6)));
        sight.change(Audience::All, Seq(7));
        assert!(!sight.reaches(&c, Seq(4)) && sight.reaches(&c, Seq(7)) && sight.reaches(&b, Seq(4)));
    }
}
