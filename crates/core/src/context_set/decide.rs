//! Changing context sets.

use std::sync::Arc;

use crate::{
    audience::Audience,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    context_set::facts::{Deleted, Updated},
    context_set::{ContextSet, DeleteSet, HeldSet, Outcome, PROCESS_STEPS, PutSet, SetOutcome, is_process_steps},
    error::Error,
    input::InputVisitor,
    rights::{Grant, Right},
    state::State,
    text::Text,
};

/// Creates or changes a set. A worker with the grant changes only sets that it sees, and only their content.
impl Command for PutSet {
    type Answer = SetOutcome;

    const RIGHT: Right = Right::granted(Grant::ContextSets, "write context sets");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<SetOutcome, Undecided> {
        if decision.is_worker() {
            if self.visible_to.is_some() {
                decision.allow(Right::manager("change who sees a context set"))?;
            }
            decision.view()?.set(&self.name)?;
        }
        if self.enabled.is_some() {
            decision.allow(Right::user("switch a context set on or off"))?;
        }
        let outcome = write(decision, self)?;
        Ok(SetOutcome { name: self.name.to_string(), outcome, reason: None })
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/name"), self.name.as_str());
        visitor.text(&mut self.content);
    }

    fn texts(&self) -> Vec<Arc<str>> {
        vec![self.content.clone()]
    }
}

/// Deletes a set.
impl Command for DeleteSet {
    type Answer = ();

    const RIGHT: Right = Right::granted(Grant::ContextSets, "write context sets");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        decision.view()?.set(&self.0)?;
        let name = decision.state.set_name(&self.0);
        decision.record(Deleted { name });
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/name"), self.0.as_str());
    }
}

impl KeptAnswer for SetOutcome {
    const NAME: &'static str = "set";
}

/// Writes a set, without a look at rights.
pub(crate) fn write(decision: &mut DecisionBuilder<'_>, put: &PutSet) -> Result<Outcome, Error> {
    let State { team, sets, session, .. } = &decision.state;
    let name = decision.state.set_name(&put.name);
    let is_steps = name.as_str() == PROCESS_STEPS && team.manager().is_some();
    let known = sets.get(&name).map(|held| held.set.clone());
    let visible_to = match (&put.visible_to, &known) {
        (Some(audience), _) => audience.clone(),
        (None, Some(set)) if !is_steps || team.managers().covers(&set.visible_to) => set.visible_to.clone(),
        (None, _) if is_steps => team.managers(),
        (None, _) => session.settings.default_visibility.clone(),
    };
    if put.visible_to.is_some() {
        team.check_audience(&visible_to, "/visible_to")?;
    }
    if is_steps && !team.managers().covers(&visible_to) {
        return Err(Error::contradiction(
            "/visible_to",
            "Process Steps is for the manager alone: leave visible_to out",
        ));
    }
    let set = ContextSet {
        name,
        content: Text::keep(&put.content, "the content", &mut decision.values)?,
        visible_to,
        enabled: put.enabled.or(known.as_ref().map(|set| set.enabled)).unwrap_or(true),
        form: known.as_ref().and_then(|set| set.form.clone()),
        tokens: decision.context.count.count(&put.content),
    };
    if known.as_deref() == Some(&set) {
        return Ok(Outcome::Unchanged);
    }
    decision.record(Updated(set));
    Ok(if known.is_some() { Outcome::Updated } else { Outcome::Created })
}

/// Hands what is the manager's alone over to the manager there is now: Process Steps, and forms that wait for the user.
pub(crate) fn hand_over(decision: &mut DecisionBuilder<'_>) {
    let State { team, sets, .. } = &decision.state;
    let managers = team.managers();
    let is_steps = |set: &ContextSet| is_process_steps(&set.name) && set.visible_to != Audience::None;
    let astray = sets.iter().filter(|held| {
        let is_managers = held.set.is_open_form() || is_steps(&held.set);
        is_managers && held.sight.audience != managers
    });
    let handed_over = |held: &HeldSet| {
        let visible_to = if is_steps(&held.set) { managers.clone() } else { held.set.visible_to.clone() };
        ContextSet { visible_to, ..ContextSet::clone(&held.set) }
    };
    let sets: Vec<_> = astray.map(handed_over).collect();
    sets.into_iter().for_each(|set| decision.record(Updated(set)));
}
