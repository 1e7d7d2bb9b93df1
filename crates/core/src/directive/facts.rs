//! What is kept of a directive.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    context_set::SetOutcome,
    directive::{Recipient, SUBJECT},
    entry::Header,
    error::Fault,
    fact::{Description, Earlier, Fact, Seen, text},
    id::{RunId, SetName},
    state::State,
    tail::Said,
    text::Text,
    view::View,
};

/// A directive was taken in. Its message is here only where it did not become a message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// The run that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// How each update of a set came out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<SetOutcome>,
    /// The recipient of its message.
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

impl Fact for Received {
    const TYPE: &'static str = "directive.received";

    const DESCRIPTION: Description<Self> = Description {
        texts: &[
            text("message"),
            text("outcomes.*.name"),
            text("outcomes.*.reason"),
            text("faults.*.pointer"),
            text("faults.*.problem"),
            text("unparsed.*"),
        ],
        gone_as: None,
        earlier: Earlier::Stands,
        said: Some(|received| Said::Directive(Arc::new(received))),
    };

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
