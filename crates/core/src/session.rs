//! The session itself: its title, its settings, how long it lives.

use std::{num::NonZeroU64, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    agent::{self, Agent, Team},
    audience::Audience,
    command::Deciding,
    entry::{Actor, Header},
    error::Error,
    fact::{Fact, Seen},
    id::{AgentName, SessionId, is_control},
    prompt::profile::Profile,
    rights,
    run::Limits,
    state::State,
    time::Timestamp,
    view::View,
};

/// What can be set of a session, at its start and later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who sees a new context set that does not say so.
    pub default_visibility: Visible,
    /// What workers may see that is otherwise for the user and the manager.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<Share>,
    /// What workers may do that is otherwise for the user and the manager.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grant: Vec<Grant>,
    /// How prompts are laid out.
    #[serde(skip_serializing_if = "Profile::is_default")]
    pub prompt: Profile,
    /// The inactivity after which it expires.
    pub ttl_seconds: Ttl,
    /// How far a run goes before it is paused.
    #[serde(skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
}

/// An audience that is `all` unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Visible(pub Audience);

impl Default for Visible {
    fn default() -> Self {
        Self(Audience::All)
    }
}

/// A kind of thing that workers see only where the session shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// The plan and its versions.
    Plan,
    /// The workflow.
    Workflow,
    /// The variables.
    Variables,
    /// The browser's tabs.
    Browser,
    /// Runs, directives and usage.
    Runs,
}

/// A kind of change that workers make only where the session grants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Changing the context sets that they see.
    ContextSets,
}

/// How long a session lives without being used. In JSON: a number of seconds above 0, or `"never"` where it never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    /// It expires after this many seconds.
    Seconds(NonZeroU64),
    /// It never expires.
    Never,
}

impl Ttl {
    /// 24 hours.
    pub const DEFAULT: Self = match NonZeroU64::new(24 * 60 * 60) {
        Some(seconds) => Self::Seconds(seconds),
        None => Self::Never,
    };

    /// When a session that is used at `now` expires. Years do not overflow.
    pub fn expires_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Seconds(seconds) => Some(now.plus_seconds(i64::try_from(seconds.get()).unwrap_or(i64::MAX))),
            Self::Never => None,
        }
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Serialize for Ttl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seconds(seconds) => seconds.serialize(serializer),
            Self::Never => serializer.serialize_str("never"),
        }
    }
}

impl<'de> Deserialize<'de> for Ttl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WANTED: &str = "ttl_seconds is a whole number of seconds above 0, or \"never\"";
        let never = |word: &str| if word == "never" { Ok(Self::Never) } else { Err(de::Error::custom(WANTED)) };
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) => never(&word),
            value => {
                let seconds = value.as_u64().and_then(NonZeroU64::new);
                seconds.map(Self::Seconds).ok_or_else(|| de::Error::custom(WANTED))
            }
        }
    }
}

/// A session, as its first entries made it and later ones changed it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name; `None` before its first entry.
    pub id: Option<SessionId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its settings.
    pub settings: Settings,
}

/// What a new session is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// Its settings.
    pub settings: Settings,
    /// Something random, so that no other session has the same tags.
    pub salt: u64,
}

/// What is to be changed of a session; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPatch {
    /// See [`Settings::title`].
    pub title: Option<String>,
    /// All agents there are from now on.
    pub agents: Option<Vec<Agent>>,
    /// See [`Settings::default_visibility`].
    pub default_visibility: Option<Visible>,
    /// See [`Settings::share`].
    pub share: Option<Vec<Share>>,
    /// See [`Settings::grant`].
    pub grant: Option<Vec<Grant>>,
    /// See [`Settings::prompt`].
    pub prompt: Option<Profile>,
    /// See [`Settings::ttl_seconds`].
    pub ttl_seconds: Option<Ttl>,
    /// See [`Settings::limits`].
    pub limits: Option<Limits>,
}

/// The session was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    id: SessionId,
    salt: u64,
    #[serde(flatten)]
    settings: Settings,
}

/// The settings were changed. It carries all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    #[serde(flatten)]
    settings: Settings,
}

impl Fact for Created {
    const TYPE: &'static str = "session.created";

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::All
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.session = Arc::new(Session { id: Some(self.id), created_at: header.at, settings: self.settings });
    }

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        let data = if view.is_in_charge() {
            serde_json::to_value(&self).ok()?
        } else {
            serde_json::json!({"id": self.id, "title": self.settings.title})
        };
        Some(Seen { kind: Self::TYPE, data })
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "session.updated";

    fn subject(&self) -> String {
        "session".to_owned()
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, state: &mut State, _: &Header) {
        Arc::make_mut(&mut state.session).settings = self.settings;
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.was_meant(header) && view.is_in_charge() { Seen::fact(&self) } else { None }
    }
}

/// Makes a session where there is none.
pub(crate) fn create(deciding: &mut Deciding<'_>, new: &NewSession) -> Result<(), Error> {
    if let Some(id) = &deciding.state.session.id {
        return Err(Error::Conflict {
            code: "session_exists",
            what: format!("there is a session {id}"),
            hint: "take another id, or leave it out to get a new one",
        });
    }
    let settings = checked(new.settings.clone())?;
    Team::check(&new.agents)?;
    check_names(&settings, &new.agents)?;
    deciding.record(Created { id: new.id.clone(), salt: new.salt, settings });
    for agent in &new.agents {
        deciding.record(agent::Added { agent: agent.clone() });
    }
    Ok(())
}

/// Changes settings and agents.
pub(crate) fn update(deciding: &mut Deciding<'_>, patch: &SessionPatch) -> Result<(), Error> {
    rights::in_charge(deciding, "change the session")?;
    let before = deciding.state.session.settings.clone();
    let patch = patch.clone();
    let settings = checked(Settings {
        title: patch.title.or_else(|| before.title.clone()),
        default_visibility: patch.default_visibility.unwrap_or_else(|| before.default_visibility.clone()),
        share: patch.share.unwrap_or_else(|| before.share.clone()),
        grant: patch.grant.unwrap_or_else(|| before.grant.clone()),
        prompt: patch.prompt.unwrap_or_else(|| before.prompt.clone()),
        ttl_seconds: patch.ttl_seconds.unwrap_or(before.ttl_seconds),
        limits: patch.limits.unwrap_or_else(|| before.limits.clone()),
    })?;
    if let Some(agents) = &patch.agents {
        Team::check(agents)?;
    }
    let agents = patch.agents.unwrap_or_else(|| deciding.state.team.agents().cloned().collect());
    check_names(&settings, &agents)?;
    agent::replace_team(deciding, agents);
    if settings != before {
        deciding.record(Updated { settings });
    }
    Ok(())
}

fn checked(settings: Settings) -> Result<Settings, Error> {
    settings.prompt.check("/prompt")?;
    match &settings.title {
        Some(title) if title.chars().count() > 500 || title.chars().any(is_control) => {
            Err(Error::invalid("/title", "use one line of at most 500 characters"))
        }
        _ => Ok(settings),
    }
}

fn check_names(settings: &Settings, agents: &[Agent]) -> Result<(), Error> {
    let known = |name: &AgentName| agents.iter().any(|agent| agent.name == *name);
    let unknown: Vec<_> = settings.default_visibility.0.names().filter(|name| !known(name)).collect();
    match unknown.first() {
        Some(name) => Err(Error::invalid("/default_visibility", format!("there is no agent {name}"))),
        None => Ok(()),
    }
}

/// Whether `actor` may do what is for the user and the manager only.
pub(crate) fn is_in_charge(state: &State, actor: &Actor) -> bool {
    match actor {
        Actor::User | Actor::System => true,
        Actor::Agent(name) => state.team.manager().is_some_and(|manager| manager.name == *name),
    }
}

#[cfg(test)]
mod tests;
