//! Context sets: named texts that a team shares, each seen only by those it is meant for.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::{
    agent::Team,
    audience::{Audience, Sight},
    command::Deciding,
    count::Tokens,
    entry::Header,
    error::Error,
    fact::{Fact, Seen},
    form::Form,
    id::{AgentName, Seq, SetName},
    rights,
    state::State,
    text::{Text, first_chars},
    time::Timestamp,
    view::View,
};

/// The set in which the manager keeps track of the work. It is the manager's alone.
pub const PROCESS_STEPS: &str = "Process Steps";

/// A named text of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSet {
    /// Its name, unique in its session.
    pub name: SetName,
    /// What it says.
    pub content: Text,
    /// Who may see it. A form is nevertheless for the manager alone until it is answered.
    pub visible_to: Audience,
    /// Whether it stands in prompts.
    pub enabled: bool,
    /// The form that the user is to fill in, or has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// The size of its content.
    pub tokens: Tokens,
}

impl ContextSet {
    /// Whether it is a form that waits for the user.
    pub fn is_open_form(&self) -> bool {
        self.form.as_ref().is_some_and(|form| !form.answered)
    }

    /// Who may see it as it is.
    fn audience(&self, team: &Team) -> Audience {
        if self.is_open_form() { team.managers() } else { self.visible_to.clone() }
    }
}

/// A set as the state holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The set.
    pub set: Arc<ContextSet>,
    /// Who has it in sight.
    pub sight: Sight,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The entry that last changed it.
    pub seq: Seq,
}

/// All sets of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextSets(RedBlackTreeMapSync<SetName, Held>);

impl ContextSets {
    /// The set with this name, whoever may see it.
    pub fn get(&self, name: &SetName) -> Option<&Held> {
        self.0.get(name)
    }

    /// All sets by name, whoever may see them.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.0.values()
    }
}

/// What a viewer sees of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetView<'a> {
    /// All of it.
    Whole(&'a Held),
    /// Its name, visibility and size: what the manager sees of a set that is hidden from it.
    Outline(&'a Held),
}

impl<'a> SetView<'a> {
    /// The set behind it.
    pub fn held(self) -> &'a Held {
        match self {
            Self::Whole(held) | Self::Outline(held) => held,
        }
    }
}

impl<'a> View<'a> {
    /// The sets that the viewer sees anything of, by name.
    pub fn sets(&self) -> impl Iterator<Item = SetView<'a>> {
        let view = *self;
        self.state.sets.iter().filter_map(move |held| view.see(held))
    }

    /// The set with this name. A hidden one answers like one that is not there.
    pub fn set(&self, name: &SetName) -> Result<SetView<'a>, Error> {
        let held = self.state.sets.get(name).and_then(|held| self.see(held));
        held.ok_or_else(|| Error::not_found("context set", name))
    }

    fn see(&self, held: &'a Held) -> Option<SetView<'a>> {
        match self.agent() {
            Some(agent) if !held.sight.audience.contains(agent) => {
                self.is_in_charge().then_some(SetView::Outline(held))
            }
            _ => Some(SetView::Whole(held)),
        }
    }
}

/// A set was created or changed. It carries the whole set, so whoever gains sight of it needs no earlier entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Updated(pub(crate) ContextSet);

/// A set was deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    name: SetName,
}

impl Fact for Updated {
    const TYPE: &'static str = "context_set.updated";

    fn subject(&self) -> String {
        format!("set:{}", self.0.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.sets.get(&self.0.name).map(|held| &held.sight);
        passing(sight, self.0.audience(&before.team), &before.team)
    }

    fn apply(self, state: &mut State, header: &Header) {
        let audience = self.0.audience(&state.team);
        let mut sight = state.sets.get(&self.0.name).map(|held| held.sight.clone());
        match &mut sight {
            Some(sight) => sight.change(audience, header.seq),
            None => sight = Some(Sight::new(audience, header.seq)),
        }
        if self.0.form.as_ref().is_some_and(|form| form.answered) {
            state.runs.hear_form(&self.0.name);
        }
        if let Some(sight) = sight {
            let held = Held { sight, updated_at: header.at, seq: header.seq, set: Arc::new(self.0) };
            state.sets.0.insert_mut(held.set.name.clone(), held);
        }
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let Self(set) = &self;
        let outline = || {
            let data = serde_json::json!({
                "name": set.name, "visible_to": set.visible_to, "enabled": set.enabled, "tokens": set.tokens,
            });
            view.is_in_charge().then_some(Seen { kind: Self::TYPE, data })
        };
        let sight = view.state.sets.get(&set.name).map(|held| &held.sight);
        let Some(agent) = view.agent().filter(|_| view.was_meant(header)) else { return outline() };
        let had_it = if set.is_open_form() { view.is_in_charge() } else { set.visible_to.contains(agent) };
        match sight {
            _ if !had_it => outline().or_else(|| Seen::fact(&Deleted { name: set.name.clone() })),
            Some(sight) if sight.reaches(agent, header.seq) => Seen::fact(&self),
            _ => outline(),
        }
    }
}

impl Fact for Deleted {
    const TYPE: &'static str = "context_set.deleted";

    fn subject(&self) -> String {
        format!("set:{}", self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.sets.get(&self.name).map(|held| &held.sight);
        passing(sight, before.team.managers(), &before.team)
    }

    fn apply(self, state: &mut State, _: &Header) {
        state.sets.0.remove_mut(&self.name);
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.was_meant(header) || view.is_in_charge() { Seen::fact(&self) } else { None }
    }
}

/// The audience of an entry after which `now` sees a thing: those, and those who are to learn that they no longer do.
/// What was for all has been seen by those who are in the team, not by those who will be.
pub(crate) fn passing(before: Option<&Sight>, now: Audience, team: &Team) -> Audience {
    match before {
        Some(sight) if now != Audience::All => sight.audience.among(team.names()).or(&now),
        _ => now,
    }
}

/// A change to one set, as a caller asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct PutSet {
    /// The set.
    pub name: SetName,
    /// What it is to say.
    pub content: Arc<str>,
    /// Who is to see it; as before, or the session's default, where it is absent.
    pub visible_to: Option<Audience>,
    /// Whether it is to stand in prompts; only the user says so.
    pub enabled: Option<bool>,
}

impl PutSet {
    /// A set that says `content`, seen by those who saw it before or, where it is new, by those the session says.
    pub fn new(name: SetName, content: impl Into<Arc<str>>) -> Self {
        Self { name, content: content.into(), visible_to: None, enabled: None }
    }

    /// The same, seen by these agents alone.
    #[must_use]
    pub fn for_agents(self, agents: impl IntoIterator<Item = AgentName>) -> Self {
        Self { visible_to: Some(Audience::of(agents)), ..self }
    }
}

/// How one update of a set came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOutcome {
    /// The name as it was given.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, where it is not what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SetOutcome {
    /// The outcome of an update of the set `name`; a name or a reason of any length is told in a few words.
    pub(crate) fn new(name: &str, outcome: Outcome, reason: Option<String>) -> Self {
        Self { name: first_chars(name, 200), outcome, reason: reason.map(|reason| first_chars(&reason, 500)) }
    }

    /// The outcome of an update that is not valid.
    pub(crate) fn rejected(name: &str, reason: impl ToString) -> Self {
        Self::new(name, Outcome::Rejected, Some(reason.to_string()))
    }
}

/// What came of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There was no such set, and now there is.
    Created,
    /// It is changed.
    Updated,
    /// It says what it said before.
    Unchanged,
    /// It is gone.
    Deleted,
    /// There was no such set, and now there is an empty one.
    CreatedEmpty,
    /// It was to be new, and there was one already.
    Conflict,
    /// It was not valid.
    Rejected,
}

impl Outcome {
    /// Whether anything is other than it was.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Deleted | Self::CreatedEmpty)
    }
}

/// Creates or changes a set, for whoever may: a worker only one that it sees, and only its content.
pub(crate) fn put(deciding: &mut Deciding<'_>, put: &PutSet) -> Result<SetOutcome, Error> {
    rights::write_sets(deciding)?;
    if rights::is_worker(deciding) {
        if put.visible_to.is_some() {
            rights::in_charge(deciding, "change who sees a context set")?;
        }
        check_seen(deciding, &put.name)?;
    }
    if put.enabled.is_some() {
        rights::user(deciding, "switch a context set on or off")?;
    }
    let outcome = write(deciding, put)?;
    Ok(SetOutcome { name: put.name.to_string(), outcome, reason: None })
}

/// Writes a set that whoever asks may write.
pub(crate) fn write(deciding: &mut Deciding<'_>, put: &PutSet) -> Result<Outcome, Error> {
    let State { team, sets, session, .. } = &deciding.state;
    let known = sets.get(&put.name).map(|held| held.set.clone());
    let is_steps = put.name.as_str() == PROCESS_STEPS && team.manager().is_some();
    let visible_to = match (&put.visible_to, &known) {
        (Some(audience), _) => audience.clone(),
        (None, Some(set)) if !is_steps || team.managers().covers(&set.visible_to) => set.visible_to.clone(),
        (None, _) if is_steps => team.managers(),
        (None, _) => session.settings.default_visibility.0.clone(),
    };
    if put.visible_to.is_some() {
        team.check_audience(&visible_to, "/visible_to")?;
    }
    if is_steps && !team.managers().covers(&visible_to) {
        return Err(Error::invalid("/visible_to", "Process Steps is for the manager alone: leave visible_to out"));
    }
    let set = ContextSet {
        name: put.name.clone(),
        content: Text::keep(&put.content, "the content", &mut deciding.values)?,
        visible_to,
        enabled: put.enabled.or(known.as_ref().map(|set| set.enabled)).unwrap_or(true),
        form: known.as_ref().and_then(|set| set.form.clone()),
        tokens: deciding.asked.count.count(&put.content),
    };
    if known.as_deref() == Some(&set) {
        return Ok(Outcome::Unchanged);
    }
    deciding.record(Updated(set));
    Ok(if known.is_some() { Outcome::Updated } else { Outcome::Created })
}

/// Hands what is the manager's alone over to the manager there is now: Process Steps, and forms that wait for the user.
pub(crate) fn hand_over(deciding: &mut Deciding<'_>) {
    let State { team, sets, .. } = &deciding.state;
    let managers = team.managers();
    let is_steps = |set: &ContextSet| set.name.as_str() == PROCESS_STEPS && set.visible_to != Audience::None;
    let astray = sets.iter().filter(|held| {
        let is_managers = held.set.is_open_form() || is_steps(&held.set);
        is_managers && held.sight.audience != managers
    });
    let handed_over = |held: &Held| {
        let visible_to = if is_steps(&held.set) { managers.clone() } else { held.set.visible_to.clone() };
        ContextSet { visible_to, ..ContextSet::clone(&held.set) }
    };
    let sets: Vec<_> = astray.map(handed_over).collect();
    sets.into_iter().for_each(|set| deciding.record(Updated(set)));
}

/// Deletes a set, for whoever may and sees it.
pub(crate) fn delete(deciding: &mut Deciding<'_>, name: &SetName) -> Result<(), Error> {
    rights::write_sets(deciding)?;
    check_seen(deciding, name)?;
    remove(deciding, name);
    Ok(())
}

/// Deletes a set that is there.
pub(crate) fn remove(deciding: &mut Deciding<'_>, name: &SetName) {
    deciding.record(Deleted { name: name.clone() });
}

/// Refuses a name that names nothing which whoever asks may see anything of.
fn check_seen(deciding: &Deciding<'_>, name: &SetName) -> Result<(), Error> {
    let viewer = deciding.by.clone().into();
    View::new(&deciding.state, &viewer, deciding.asked.count)?.set(name).map(|_| ())
}

/// Whether `agent` is among those from whom `set` is hidden, for the team as it is now.
pub fn hidden_from_agents<'a>(held: &'a Held, team: &'a Team) -> impl Iterator<Item = &'a AgentName> {
    team.hidden_from(&held.sight.audience)
}

#[cfg(test)]
mod tests;
