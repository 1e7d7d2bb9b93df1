//! What can happen to context sets, and what a viewer sees of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    audience::{Audience, VisibilitySpan},
    context_set::{ContextSet, HeldSet, PROCESS_STEPS, SetView, is_process_steps},
    entry::Header,
    error::Error,
    fact::{Description, Earlier, Fact, MeantFor, Repeats, Seen, Sentence, json, text},
    id::{Seq, SetName},
    recall::{Recallable, Source},
    state::State,
    view::View,
};

impl State {
    /// The name of the set that is meant by `name`: in a team with a manager, Process Steps is one set, however it is
    /// spelled. Where a set of that very name is there, that one is meant.
    pub(crate) fn set_name(&self, name: &SetName) -> SetName {
        let is_steps = is_process_steps(name) && self.team.manager().is_some() && self.sets.get(name).is_none();
        PROCESS_STEPS.parse::<SetName>().ok().filter(|_| is_steps).unwrap_or_else(|| name.clone())
    }
}

impl<'a> View<'a> {
    /// The sets that the viewer sees anything of, by name.
    pub fn sets(&self) -> impl Iterator<Item = SetView<'a>> {
        let view = *self;
        self.state.sets.iter().filter_map(move |held| view.see(held, &held.sight.audience))
    }

    /// The set with this name. A hidden one answers like one that is not there.
    pub fn set(&self, name: &SetName) -> Result<SetView<'a>, Error> {
        let held = self.state.sets.get(&self.state.set_name(name));
        let seen = held.and_then(|held| self.see(held, &held.sight.audience));
        seen.ok_or_else(|| Error::not_found("context set", name))
    }
}

/// What the subjects of sets begin with.
const SET: &str = "set:";

/// A set was created or changed. The entry carries the whole set, so an agent that gains sight of it needs no earlier
/// entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Updated(pub(crate) ContextSet);

/// A set was deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    pub(crate) name: SetName,
}

/// The user has answered a form that no run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormAnswered {
    /// The name of the form, which is that of its set.
    pub name: SetName,
}

/// The subject of answers to forms.
pub const FORMS: &str = "forms";

impl Fact for Updated {
    const TYPE: &'static str = "context_set.updated";

    const SENTENCE: Sentence = |it| format!("{} wrote {}{}", it.by, it.name(), it.about("content"));

    const DESCRIPTION: Description = Description {
        gone_as: Some(Deleted::TYPE),
        earlier: Earlier::Replaced,
        repeats: Repeats::Unchanged,
        ..Description::of(&[
            text("content"),
            text("form.fields.*.label"),
            text("form.fields.*.description"),
            text("form.fields.*.enumValues.*"),
            json("form.answers"),
        ])
    };

    const SOURCE: Option<Source> = Some(Source::ContextSet);

    fn subject(&self) -> String {
        format!("{SET}{}", self.0.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.sets.get(&self.0.name).map(|held| &held.sight);
        before.team.passing(sight, self.0.audience(&before.team))
    }

    fn apply(self, state: &mut State, header: &Header) {
        let before = state.sets.get(&self.0.name).map(|held| &held.sight);
        let sight = VisibilitySpan::of(before, self.0.audience(&state.team), header.seq);
        if self.0.form.as_ref().is_some_and(|form| form.answered) {
            state.runs.hear_form(&self.0.name);
        }
        let held = HeldSet { sight, updated_at: header.at, seq: header.seq, set: Arc::new(self.0) };
        state.sets.0.insert_mut(held.set.name.clone(), held);
    }

    fn recallable(&self) -> Option<Recallable> {
        let Self(set) = self;
        let fields = set.form.iter().filter(|form| !form.answered).flat_map(|form| &form.fields);
        let labels =
            fields.flat_map(|field| ["\n", &field.label, " ", field.description.as_deref().unwrap_or_default()]);
        let labels: String = labels.collect();
        Recallable::named(Source::ContextSet, set.name.as_str(), vec![set.content.clone(), labels.as_str().into()])
    }

    /// Only what it says now. A set that is switched off is found by the user alone.
    fn recalls_from(view: &View<'_>, subject: &str, _: &Audience) -> Option<Seq> {
        let held = view.state.sets.get(&subject.strip_prefix(SET)?.parse().ok()?)?;
        let may = |agent| {
            let set = &held.set;
            held.sight.audience.contains(agent) && set.enabled && (!set.is_open_form() || view.is_in_charge())
        };
        view.agent().is_none_or(may).then_some(held.seq)
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

    fn visible_to(view: &View<'_>, subject: &str) -> Option<Audience> {
        let name = subject.strip_prefix(SET)?.parse().ok()?;
        Some(view.set(&name).ok()?.held().sight.audience.clone())
    }
}

impl Fact for Deleted {
    const TYPE: &'static str = "context_set.deleted";

    const SENTENCE: Sentence = |it| format!("{} deleted {}", it.by, it.name());

    const DESCRIPTION: Description = Description { earlier: Earlier::Deleted, ..Description::of(&[]) };

    fn subject(&self) -> String {
        format!("{SET}{}", self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        // The manager is told of it in any case, as long as it is the manager.
        let sight = before.sets.get(&self.name).map(|held| &held.sight);
        before.team.passing(sight, Audience::None)
    }

    fn apply(self, state: &mut State, _: &Header) {
        state.sets.0.remove_mut(&self.name);
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.was_meant(header) || view.is_in_charge() { Seen::fact(&self) } else { None }
    }
}

impl Fact for FormAnswered {
    const TYPE: &'static str = "form.answered";

    const SENTENCE: Sentence = |it| format!("{} answered the form {}", it.by, it.name());

    const DESCRIPTION: Description = Description::of(&[]);

    const MEANT_FOR: MeantFor = MeantFor::Manager;

    fn subject(&self) -> String {
        FORMS.to_owned()
    }

    fn apply(self, _: &mut State, _: &Header) {}
}
