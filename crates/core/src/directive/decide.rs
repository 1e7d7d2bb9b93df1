//! Applying directives.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::Team,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    context_set::facts::{Deleted, Updated},
    context_set::form::Form,
    context_set::{self, ContextSet, Outcome, PutSet, SetOutcome, is_process_steps},
    directive::Received,
    directive::{Direct, Directed, Directive, FormRequest, NewOrUpdate, Reading, SetUpdate, UPDATES, read},
    error::{ConflictKind, Error},
    id::{AgentName, SetName},
    input::InputVisitor,
    rights::Right,
    text::Text,
};

/// Applies a directive that came from outside of a run.
impl Command for Direct {
    type Answer = Directed;

    const RIGHT: Right = Right::manager("give directives");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Directed, Undecided> {
        check_turn(decision)?;
        let Reading { directive, unparsed, .. } = accept(decision, &self.0, "")?;
        let message = directive.message.as_ref();
        let message = message.map(|text| Text::keep(text, "the message", &mut decision.values)).transpose()?;
        Ok(apply(decision, directive, message, unparsed)?)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        if let Some(to) = self.0.get("messageTo").and_then(Value::as_str) {
            visitor.name(format_args!("/messageTo"), to);
        }
        // A text has names too, so they are taken from what the directive says.
        let is_text = matches!(&self.0, Value::String(_)) || self.0.get("text").is_some();
        let Directive { sets, form, .. } = read::read(&self.0, &Team::default()).directive;
        let mut name = |pointer: String, name: &str| match is_text {
            true => visitor.name(format_args!("/text"), name),
            false => visitor.name(format_args!("{pointer}"), name),
        };
        for (at, set) in sets.iter().enumerate() {
            name(format!("{UPDATES}{at}/name"), set.as_ref().map_or_else(|outcome| &outcome.name, |set| &set.name));
        }
        if let Some(form) = &form {
            name("/form/name".to_owned(), form.name.as_deref().unwrap_or_default());
            for (at, field) in form.fields.iter().enumerate() {
                name(format!("/form/fields/{at}/key"), &field.key);
            }
        }
        if let Value::String(text) = &mut self.0 {
            return visitor.answer(text);
        }
        // The text of a directive is what a model answers.
        let text = self.0.get_mut("text").filter(|text| text.is_string()).map(Value::take);
        visitor.json(&mut self.0);
        if let (Some(Value::String(mut text)), Some(place)) = (text, self.0.get_mut("text")) {
            visitor.answer(&mut text);
            *place = text.into();
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        let sets = self.0.get("contextSetUpdate").and_then(|update| update.get("contextSets")?.as_array());
        let contexts = sets.into_iter().flatten().filter_map(|set| set.get("context")?.as_str());
        contexts.map(Arc::from).collect()
    }
}

impl KeptAnswer for Directed {
    const NAME: &'static str = "directed";
}

/// Refuses a directive while the manager's turn waits for its answer: its outcomes would stand before what the manager says.
fn check_turn(decision: &DecisionBuilder<'_>) -> Result<(), Error> {
    let manager = decision.state.team.manager().map(|manager| &manager.name);
    let Some((manager, turn)) = manager.and_then(|name| Some((name, decision.state.runs.open_turn(name)?))) else {
        return Ok(());
    };
    let what = format!("turn {turn} of {manager} waits for its answer, and the directive would come before it");
    let hint = "bring it as the `directive` of the turn's answer, or first bring the turn's answer or its `error`";
    Err(Error::conflict(ConflictKind::TurnOpen, what, hint))
}

/// Reads a directive that came from outside of a run. Pointers to what is wrong begin with `at`. What is wrong with single
/// updates shows in their outcomes; anything else refuses the whole.
pub(crate) fn accept(decision: &DecisionBuilder<'_>, input: &Value, at: &str) -> Result<Reading, Error> {
    let mut reading = read::read(input, &decision.state.team);
    reading.faults.retain(|fault| !fault.pointer.starts_with(UPDATES));
    if !reading.faults.is_empty() {
        // A valid agent name that is not in the team contradicts the team.
        let is_absent = names_agent(input) && reading.faults.iter().all(|fault| fault.pointer == "/messageTo");
        let mut faults = reading.faults;
        faults.iter_mut().for_each(|fault| fault.pointer.insert_str(0, at));
        return Err(match is_absent {
            true => Error::Contradiction { kind: ConflictKind::NoAgent, faults },
            false => Error::Invalid(faults),
        });
    }
    if let Some(form) = &reading.directive.form {
        Form::asking(form.fields.clone()).check_fields(&format!("{at}/form"))?;
    }
    Ok(reading)
}

/// Applies a directive that came from outside of a run. `message` is what it says, where that did not become a message of a
/// thread.
pub(crate) fn apply(
    decision: &mut DecisionBuilder<'_>,
    directive: Directive,
    message: Option<Text>,
    unparsed: Vec<String>,
) -> Result<Directed, Error> {
    // What became a message of a thread was said right before.
    let is_said = directive.message.is_some() && message.is_none();
    let said = is_said.then_some(decision.state.head.seq).into_iter().collect();
    let outcomes = update_sets(decision, &directive.sets);
    let (request, fields) = (directive.message.as_ref(), directive.form.as_ref());
    let ask = || decision.copying(said, |decision| ask_user(decision, request, fields));
    let form = directive.is_info_request.then(ask).transpose()?;
    decision.record(Received {
        run: None,
        outcomes: outcomes.clone(),
        message_to: directive.message_to,
        message,
        workflow_complete: directive.workflow_complete,
        form: form.as_ref().map(|(name, _)| name.clone()),
        faults: Vec::new(),
        unparsed: unparsed.clone(),
    });
    let form =
        form.map(|(name, form)| FormRequest { name: Some(name.to_string()), fields: form.fields, answered: false });
    Ok(Directed { outcomes, form, unparsed })
}

/// Whether the message of a directive is for somebody who could be an agent.
fn names_agent(input: &Value) -> bool {
    input.get("messageTo").and_then(Value::as_str).is_some_and(|name| name.parse::<AgentName>().is_ok())
}

/// Applies updates of sets in order. One that is rejected stops no other.
pub(crate) fn update_sets(
    decision: &mut DecisionBuilder<'_>,
    updates: &[Result<SetUpdate, SetOutcome>],
) -> Vec<SetOutcome> {
    let outcome_of = |update: &Result<SetUpdate, SetOutcome>| {
        let update = match update {
            Ok(update) => update,
            Err(outcome) => return outcome.clone(),
        };
        match update_set(decision, update) {
            Ok(outcome) => {
                let reason = "there is a set of this name: update it".to_owned();
                SetOutcome::new(&update.name, outcome, Some(reason).filter(|_| outcome == Outcome::Conflict))
            }
            Err(error) => SetOutcome::rejected(&update.name, error),
        }
    };
    updates.iter().map(outcome_of).collect()
}

fn update_set(decision: &mut DecisionBuilder<'_>, update: &SetUpdate) -> Result<Outcome, Error> {
    let name = decision.state.set_name(&update.name.parse::<SetName>()?);
    if let Some(audience) = &update.visible_to_agents {
        decision.state.team.check_audience(audience, "/visibleToAgents")?;
    }
    let there = decision.state.sets.get(&name).is_some();
    if there && update.new_or_update == Some(NewOrUpdate::New) {
        return Ok(Outcome::Conflict);
    }
    let empty = update.context.trim().is_empty();
    if empty && there {
        decision.record(Deleted { name });
        return Ok(Outcome::Deleted);
    }
    let content = if empty { "".into() } else { update.context.clone() };
    let put = PutSet { name, content, visible_to: update.visible_to_agents.clone(), enabled: None };
    let outcome = context_set::decide::write(decision, &put)?;
    Ok(if empty { Outcome::CreatedEmpty } else { outcome })
}

/// Puts a form with this request before the user: this one, or one text field.
pub(crate) fn ask_user(
    decision: &mut DecisionBuilder<'_>,
    request: Option<&Arc<str>>,
    form: Option<&FormRequest>,
) -> Result<(SetName, Form), Error> {
    let request = request.cloned().unwrap_or_else(|| "The manager asks for information.".into());
    let (name, form) = match form {
        Some(FormRequest { name, fields, .. }) => {
            let form = Form::asking(fields.clone());
            form.check_fields("/form")?;
            (name.clone(), form)
        }
        None => (None, Form::one_answer("Answer")),
    };
    let name = free_name(decision, name.as_deref().unwrap_or("Information Request"))?;
    let set = ContextSet {
        name: name.clone(),
        content: Text::keep(&request, "the request", &mut decision.values)?,
        // The manager that asks can read the answer, even if new sets are visible to no agent.
        visible_to: decision.state.session.settings.default_visibility.or(&decision.state.team.managers()),
        enabled: true,
        form: Some(form.clone()),
        tokens: decision.context.count.count(&request),
    };
    decision.record(Updated(set));
    Ok((name, form))
}

/// A name that no set has: the wanted one, or that with a number behind it.
fn free_name(decision: &DecisionBuilder<'_>, wanted: &str) -> Result<SetName, Error> {
    let is_free = |name: &SetName| !is_process_steps(name) && decision.state.sets.get(name).is_none();
    let first: SetName = wanted.parse()?;
    if is_free(&first) {
        return Ok(first);
    }
    let numbered = (2..10_000).map_while(|n| format!("{first} {n}").parse().ok());
    let free = numbered.into_iter().find(is_free);
    free.ok_or_else(|| Error::invalid("/form/name", "give the form a shorter name, which no context set has"))
}
