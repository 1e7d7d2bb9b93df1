//! Making a session, and changing it.

use std::sync::Arc;

use crate::{
    agent::{self, Agent, Team},
    command::{Command, DecisionBuilder, Undecided},
    context_set,
    error::{ConflictKind, Error},
    id::{AgentName, is_control},
    input::InputVisitor,
    rights::Right,
    session::{
        NewSession, SessionKind, SessionPatch, Settings, collections,
        facts::{Created, Updated},
        merge::merged,
        team,
    },
    step::StepsChange,
};

/// Makes a session where there is none.
impl Command for NewSession {
    type Answer = ();

    const RIGHT: Right = Right::user("create sessions");

    const CREATES_SESSION: bool = true;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        if let Some(id) = &decision.state.session.id {
            let what = format!("there is a session {id}");
            let hint = "take another id, or leave it out to get a new one";
            return Err(Error::conflict(ConflictKind::SessionExists, what, hint).into());
        }
        let settings = checked(self.settings.clone())?;
        Team::check(&self.agents)?;
        check_names(&settings, &self.agents)?;
        decision.record(Created { id: self.id.clone(), kind: SessionKind::Session, salt: self.salt, settings });
        for agent in &self.agents {
            decision.record(agent::facts::Added { agent: agent.clone() });
        }
        for set in &self.sets {
            context_set::decide::write(decision, set)?;
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.settings.input(visitor);
        agent::input(&mut self.agents, visitor);
        for (at, set) in self.sets.iter_mut().enumerate() {
            visitor.name(format_args!("/sets/{at}/name"), set.name.as_str());
            visitor.text(&mut set.content);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        self.sets.iter().map(|set| set.content.clone()).collect()
    }
}

/// Changes settings and agents.
impl Command for SessionPatch {
    type Answer = ();

    const RIGHT: Right = Right::manager("change the session");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        if self.collections.is_some() {
            decision.allow(Right::user("name collections"))?;
        }
        if let Some(place) = &self.place {
            StepsChange::Set(place.clone()).perform(decision)?;
        }
        let before = decision.state.session.settings.clone();
        let patch = self.clone();
        let given = |field: &str| patch.given.as_ref().and_then(|given| given.get(field));
        let prompt = merged(&before.prompt, patch.prompt.clone(), given("prompt"), "/prompt")?;
        let limits = merged(&before.limits, patch.limits.clone(), given("limits"), "/limits")?;
        let compression = merged(&before.compression, patch.compression.clone(), given("compression"), "/compression")?;
        let settings = checked(Settings {
            title: patch.title.or_else(|| before.title.clone()),
            default_visibility: patch.default_visibility.unwrap_or_else(|| before.default_visibility.clone()),
            share: patch.share.unwrap_or_else(|| before.share.clone()),
            grant: patch.grant.unwrap_or_else(|| before.grant.clone()),
            prompt,
            ttl_seconds: patch.ttl_seconds.unwrap_or(before.ttl_seconds),
            limits,
            steps: patch.steps.unwrap_or_else(|| before.steps.clone()),
            compression,
            collections: patch.collections.unwrap_or_else(|| before.collections.clone()),
        })?;
        if let Some(agents) = &patch.agents {
            Team::check(agents)?;
        }
        let agents = patch.agents.unwrap_or_else(|| decision.state.team.agents().cloned().collect());
        check_names(&settings, &agents)?;
        team::replace_team(decision, agents);
        if settings != before {
            decision.record(Updated { settings });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.title);
        if let Some(prompt) = &mut self.prompt {
            prompt.input(visitor);
        }
        if let Some(steps) = &mut self.steps {
            steps.input(visitor);
        }
        if let Some(compression) = &mut self.compression {
            compression.input(visitor);
        }
        if let Some(agents) = &mut self.agents {
            agent::input(agents, visitor);
        }
        collections::input(self.collections.as_deref(), visitor);
        if let Some(place) = &self.place {
            StepsChange::Set(place.clone()).input(visitor);
        }
    }
}

fn checked(settings: Settings) -> Result<Settings, Error> {
    settings.prompt.check("/prompt")?;
    settings.steps.check()?;
    settings.compression.check()?;
    collections::check(&settings.collections)?;
    match &settings.title {
        Some(title) if title.chars().count() > 500 || title.chars().any(is_control) => {
            Err(Error::invalid("/title", "use one line of at most 500 characters"))
        }
        _ => Ok(settings),
    }
}

fn check_names(settings: &Settings, agents: &[Agent]) -> Result<(), Error> {
    let known = |name: &AgentName| agents.iter().any(|agent| agent.name == *name);
    let unknown: Vec<_> = settings.default_visibility.names().filter(|name| !known(name)).collect();
    match unknown.first() {
        Some(name) => {
            Err(Error::contradicting(ConflictKind::NoAgent, "/default_visibility", format!("there is no agent {name}")))
        }
        None => Ok(()),
    }
}
