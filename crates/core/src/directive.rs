//! Directives: what a manager says in structured output. They change context sets, and in a run they say what is next.

pub mod schema;
pub mod text;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Team,
    audience::Audience,
    command::Deciding,
    context_set::{self, ContextSet, Outcome, PutSet, SetOutcome, Updated},
    count::Tokens,
    entry::Header,
    error::{Error, Fault},
    fact::{Fact, Seen},
    form::{Field, Form},
    id::{AgentName, RunId, SetName},
    rights,
    state::State,
    text::Text,
    view::View,
};

/// A directive as it was understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    /// Whom the message is for.
    pub message_to: Option<Recipient>,
    /// What is said.
    pub message: Option<Arc<str>>,
    /// Whether the work is done.
    pub workflow_complete: bool,
    /// Whether the message asks the user for something.
    pub is_info_request: bool,
    /// What the user is to fill in.
    pub form: Option<FormRequest>,
    /// The updates of context sets, in order; for one that could not be read, how it came out.
    pub sets: Vec<Result<SetUpdate, SetOutcome>>,
    /// What the answer to the message is held against.
    pub expected_output: Option<Arc<str>>,
}

/// Whom a message is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recipient {
    /// One of the team.
    Agent(AgentName),
    /// The user.
    User(UserWord),
}

/// The word `user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserWord {
    /// The word.
    #[serde(rename = "user")]
    User,
}

impl Recipient {
    /// The user.
    pub const USER: Self = Self::User(UserWord::User);
}

/// A form that a directive brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormRequest {
    /// The name of the set that it becomes.
    #[serde(default)]
    pub name: Option<String>,
    /// What it asks for.
    pub fields: Vec<Field>,
    /// Taken and set to `false`: a new form is not answered.
    #[serde(default, skip_serializing)]
    pub answered: bool,
}

/// One update of a context set in a directive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetUpdate {
    /// The name as it was given.
    pub name: String,
    /// The new content; empty to delete.
    pub context: Arc<str>,
    /// Whether the set is to be new.
    #[serde(default)]
    pub new_or_update: Option<NewOrUpdate>,
    /// Who is to see it.
    #[serde(default)]
    pub visible_to_agents: Option<Audience>,
}

/// Whether a set is to be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewOrUpdate {
    /// There must be none of its name.
    New,
    /// It is changed, or made where there is none.
    Update,
}

/// What a directive led to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Directed {
    /// How each update of a set came out, in order.
    pub outcomes: Vec<SetOutcome>,
    /// The form that was put before the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormRequest>,
    /// What a text said that could not be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<String>,
}

impl From<SetOutcome> for Directed {
    fn from(outcome: SetOutcome) -> Self {
        Self { outcomes: vec![outcome], ..Self::default() }
    }
}

/// A directive was taken in. Its message is here only where it did not become a message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// The run that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// How each update of a set came out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<SetOutcome>,
    /// Whom it spoke to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_to: Option<Recipient>,
    /// What it said, outside of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// Whether it said that the work is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workflow_complete: bool,
    /// The form that it put before the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<SetName>,
    /// What of it was not valid, and was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What of it could not be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<String>,
}

/// The subject of directives.
pub const SUBJECT: &str = "directives";

impl Fact for Received {
    const TYPE: &'static str = "directive.received";

    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.is_in_charge() && view.was_meant(header) { Seen::fact(&self) } else { None }
    }
}

/// What was made of something that was meant as a directive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What is good in it.
    pub directive: Directive,
    /// What is wrong with it, by JSON pointer.
    pub faults: Vec<Fault>,
    /// What could not be understood of a text.
    pub unparsed: Vec<String>,
}

/// Reads a directive: an object as the schema of the team has it, or a text in the fallback's grammar.
pub fn read(value: &Value, team: &Team) -> Reading {
    match value {
        Value::Object(fields) => match fields.get("text").and_then(Value::as_str) {
            Some(text) if fields.len() == 1 => read_text(text, team),
            _ => structured(fields.clone(), team),
        },
        Value::String(text) => read_text(text, team),
        _ => Reading { faults: vec![whole("a directive is a JSON object")], ..Reading::default() },
    }
}

/// Reads what a model said: JSON, JSON in a code fence, or text in the fallback's grammar.
pub fn read_text(text: &str, team: &Team) -> Reading {
    let fields = json_in(text);
    fields.map_or_else(|| text::read(text, team), |fields| structured(fields, team))
}

/// The JSON object that a text is, or that stands in a code fence in it.
pub(crate) fn json_in(text: &str) -> Option<Map<String, Value>> {
    let fenced = || {
        let (_, rest) = text.split_once("```")?;
        let (inside, _) = rest.rsplit_once("```")?;
        inside.strip_prefix("json").or(Some(inside))
    };
    serde_json::from_str(text.trim()).ok().or_else(|| serde_json::from_str(fenced()?.trim()).ok())
}

fn structured(mut fields: Map<String, Value>, team: &Team) -> Reading {
    // Models that must give every field give `null` for those they mean to leave out; `contextUpdates` means nothing.
    fields.retain(|name, value| name != "contextUpdates" && !value.is_null());
    let value = Value::Object(fields);
    Reading { directive: lenient(&value), faults: schema::faults(&value, team), unparsed: Vec::new() }
}

/// What is good in a directive, whatever else is in it.
fn lenient(value: &Value) -> Directive {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(Arc::from);
    let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let sets = value.pointer("/contextSetUpdate/contextSets").and_then(Value::as_array);
    Directive {
        message_to: value.get("messageTo").and_then(|to| serde_json::from_value(to.clone()).ok()),
        message: text("message").filter(|message: &Arc<str>| !message.trim().is_empty()),
        workflow_complete: flag("workflowComplete"),
        is_info_request: flag("isInfoRequest"),
        form: value.get("form").and_then(|form| serde_json::from_value(form.clone()).ok()),
        sets: sets.into_iter().flatten().map(set_update).collect(),
        expected_output: text("expectedOutput").filter(|criteria: &Arc<str>| !criteria.trim().is_empty()),
    }
}

/// An update of a set, or how it came out where it cannot be read.
fn set_update(value: &Value) -> Result<SetUpdate, SetOutcome> {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    serde_json::from_value(value).map_err(|error| SetOutcome {
        name,
        outcome: Outcome::Rejected,
        reason: Some(error.to_string()),
    })
}

/// What a directive says that cannot all be meant, or that a run cannot act on.
pub(crate) fn contradictions(directive: &Directive) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |pointer: &str, problem: &str| {
        faults.push(Fault { pointer: pointer.to_owned(), problem: problem.to_owned() });
    };
    let to_agent = matches!(directive.message_to, Some(Recipient::Agent(_)));
    if directive.workflow_complete && to_agent {
        fault("/workflowComplete", "the work is not complete while an agent is asked for more: say one or the other");
    }
    if directive.is_info_request && to_agent {
        fault("/isInfoRequest", "a request for information goes to the user: set messageTo to user");
    }
    if directive.is_info_request && directive.workflow_complete {
        fault("/isInfoRequest", "the work is not complete while the user is asked: say one or the other");
    }
    if (directive.is_info_request || directive.message_to.is_some()) && directive.message.is_none() {
        fault("/message", "say what the message is");
    }
    let to_nobody = directive.message_to.is_none() && !directive.is_info_request && !directive.workflow_complete;
    if directive.message.is_some() && to_nobody {
        fault("/messageTo", "say whom the message is for");
    }
    faults
}

fn whole(problem: &str) -> Fault {
    Fault { pointer: String::new(), problem: problem.to_owned() }
}

/// Applies a directive that came from outside of a run.
pub(crate) fn direct(deciding: &mut Deciding<'_>, input: &Value) -> Result<Directed, Error> {
    rights::in_charge(deciding, "give directives")?;
    let reading = read(input, &deciding.state.team);
    // What is wrong with single updates shows in their outcomes; anything else refuses the whole.
    let others =
        reading.faults.into_iter().filter(|fault| !fault.pointer.starts_with("/contextSetUpdate/contextSets/"));
    let others: Vec<_> = others.collect();
    if !others.is_empty() {
        return Err(Error::Invalid(others));
    }
    let directive = reading.directive;
    let outcomes = update_sets(deciding, &directive.sets);
    let form = ask_user(deciding, &directive)?;
    let message = match &directive.message {
        Some(message) => Some(Text::keep(message, "the message", &mut deciding.values)?),
        None => None,
    };
    deciding.record(Received {
        run: None,
        outcomes: outcomes.clone(),
        message_to: directive.message_to,
        message,
        workflow_complete: directive.workflow_complete,
        form: form.as_ref().map(|(name, _)| name.clone()),
        faults: Vec::new(),
        unparsed: reading.unparsed.clone(),
    });
    let form =
        form.map(|(name, form)| FormRequest { name: Some(name.to_string()), fields: form.fields, answered: false });
    Ok(Directed { outcomes, form, unparsed: reading.unparsed })
}

/// Applies updates of sets in order. One that is rejected stops no other.
pub(crate) fn update_sets(deciding: &mut Deciding<'_>, updates: &[Result<SetUpdate, SetOutcome>]) -> Vec<SetOutcome> {
    let outcome_of = |update: &Result<SetUpdate, SetOutcome>| {
        let update = match update {
            Ok(update) => update,
            Err(outcome) => return outcome.clone(),
        };
        let (outcome, reason) = match update_set(deciding, update) {
            Ok(Outcome::Conflict) => (Outcome::Conflict, Some("there is a set of this name: update it".to_owned())),
            Ok(outcome) => (outcome, None),
            Err(error) => (Outcome::Rejected, Some(error.to_string())),
        };
        SetOutcome { name: update.name.clone(), outcome, reason }
    };
    updates.iter().map(outcome_of).collect()
}

fn update_set(deciding: &mut Deciding<'_>, update: &SetUpdate) -> Result<Outcome, Error> {
    let name: SetName = update.name.parse()?;
    let there = deciding.state.sets.get(&name).is_some();
    if there && update.new_or_update == Some(NewOrUpdate::New) {
        return Ok(Outcome::Conflict);
    }
    let empty = update.context.trim().is_empty();
    if empty && there {
        context_set::remove(deciding, &name);
        return Ok(Outcome::Deleted);
    }
    let content = if empty { "".into() } else { update.context.clone() };
    let put = PutSet { name, content, visible_to: update.visible_to_agents.clone(), enabled: None };
    let outcome = context_set::write(deciding, &put)?;
    Ok(if empty { Outcome::CreatedEmpty } else { outcome })
}

/// Puts a form before the user where a directive asks for information: the one it brings, or one text field.
pub(crate) fn ask_user(deciding: &mut Deciding<'_>, directive: &Directive) -> Result<Option<(SetName, Form)>, Error> {
    if !directive.is_info_request {
        return Ok(None);
    }
    let request = directive.message.clone().unwrap_or_else(|| "The manager asks for information.".into());
    let (name, form) = match &directive.form {
        Some(FormRequest { name, fields, .. }) => {
            let form = Form { fields: fields.clone(), ..Form::one_answer("Answer") };
            let faults = form.faults("/form");
            if !faults.is_empty() {
                return Err(Error::Invalid(faults));
            }
            (name.clone(), form)
        }
        None => (None, Form::one_answer("Answer")),
    };
    let name = free_name(deciding, name.as_deref().unwrap_or("Information Request"))?;
    let set = ContextSet {
        name: name.clone(),
        content: Text::keep(&request, "the request", &mut deciding.values)?,
        visible_to: deciding.state.session.settings.default_visibility.0.clone(),
        enabled: true,
        form: Some(form.clone()),
        tokens: Tokens(0),
    };
    let set = ContextSet { tokens: deciding.asked.count.count(&request), ..set };
    deciding.record(Updated(set));
    Ok(Some((name, form)))
}

/// A name that no set has: the wanted one, or that with a number behind it.
fn free_name(deciding: &Deciding<'_>, wanted: &str) -> Result<SetName, Error> {
    let first: SetName = wanted.parse()?;
    if deciding.state.sets.get(&first).is_none() {
        return Ok(first);
    }
    let numbered = (2..u32::MAX).filter_map(|n| format!("{wanted} {n}").parse().ok());
    let mut free = numbered.filter(|name| deciding.state.sets.get(name).is_none());
    free.next().ok_or_else(|| Error::invalid("/form/name", "give the form a shorter name"))
}
