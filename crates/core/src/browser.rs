//! The browser of a session: what may be asked of it. The browser is outside of the journal, so nothing here changes the
//! state: prompts show its tabs as an [observation](crate::prompt::observed::Observations), and what the tools for it answer
//! stands in the conversation.

pub mod scout;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{error::Error, id::words};

/// The type of the event that says which tabs there are now. It is not stored.
pub const CHANGED: &str = "browser.changed";

/// The type of the event that says what happened in the browser that nobody asked for. It is not stored.
pub const NOTICED: &str = "browser.noticed";

/// Something that is asked of the browser of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum BrowserCall {
    /// Opens a page in a new tab.
    Open(OpenTab),
    /// Closes a tab.
    Close(CloseTab),
    /// Shows another page in a tab.
    Navigate(Navigate),
    /// Does something in a tab, or several things in order.
    Act(Act),
    /// Looks at the page in a tab.
    Inspect(Inspect),
}

/// A page to open in a new tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenTab {
    /// The address of the page.
    pub url: String,
    /// The name of the tab, unique in its session.
    #[serde(alias = "tabName")]
    pub tab_name: String,
}

/// A tab to close, or the whole browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CloseTab {
    /// The tab. If absent: the browser ends, with all of its tabs.
    #[serde(default, alias = "tabName", skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
}

/// A page to show in a tab that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Navigate {
    /// The address of the page.
    pub url: String,
    /// The tab. If absent: the active one.
    #[serde(default, alias = "tabName", skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
    /// Why, for whoever reads the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is to be done in a tab: one action, or several in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The tab. If absent: the active one.
    #[serde(default, alias = "tabName", skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
    /// What is done, where it is one action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionKind>,
    /// See [`Action::selector`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// See [`Action::value`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Several actions instead, which are done in order until one fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// Why, for whoever reads the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One action in a tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// What is done.
    pub action: ActionKind,
    /// Where: a CSS selector, `text=WORDS`, or `role=ROLE[name="NAME"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// What is typed, pressed or chosen; how far is scrolled, in pixels; what is waited for: a text, or milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

words! {
    /// What can be done in a tab.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ActionKind {
        /// Clicks an element.
        Click = "click",
        /// Types into a field, in the place of what is there.
        Type = "type",
        /// Presses a key, such as `Enter`.
        Press = "press",
        /// Chooses an option of a list.
        Select = "select",
        /// Waits for an element, a text, or some milliseconds.
        Wait = "wait",
        /// Scrolls to an element, or by some pixels.
        Scroll = "scroll",
    }
}

/// A look at the page in a tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Inspect {
    /// The tab. If absent: the active one.
    #[serde(default, alias = "tabName", skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
    /// How closely. If absent: in outline.
    #[serde(default, alias = "inspectionType")]
    pub inspection_type: Inspection,
    /// What is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Which part of the page a snapshot shows: as in [`Action::selector`]. If absent: the whole page, as far as it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}

/// How closely a page is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    /// Its outline: title, headings, forms, buttons.
    #[default]
    LightweightExploration,
    /// All of it that people can see, with stable selectors.
    DomSnapshot,
    /// A picture of what is visible of it, for models that see.
    Screenshot,
}

/// One step of what a node of a workflow does in a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserStep {
    /// Shows a page. A tab that is not open is opened for it.
    Navigate {
        /// The address of the page.
        url: Arc<str>,
    },
    /// Closes the tab.
    Close,
    /// Does something in it.
    Act(Action),
}

/// What a node of a workflow reads from a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extract {
    /// The address that the tab shows.
    Url,
    /// The title of the page.
    Title,
    /// Something of an element, or of all that match.
    Element {
        /// Which element: as in [`Action::selector`].
        selector: Arc<str>,
        /// What of it.
        take: Take,
        /// As what it is read.
        typed: Typed,
        /// All that match, as a list, instead of one.
        all: bool,
        /// Whether it may be absent; then it is null.
        optional: bool,
    },
    /// A list: an object for each element that matches.
    Each {
        /// Which elements.
        selector: Arc<str>,
        /// The fields of each object, looked for within the element.
        fields: Vec<(Arc<str>, Self)>,
    },
}

/// What is taken of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// Its text.
    #[default]
    Text,
    /// What stands in it, where it is a field.
    Value,
    /// Whether there is one.
    Exists,
    /// How many there are.
    Count,
    /// An attribute of it.
    #[serde(skip_deserializing)]
    Attribute(Arc<str>),
}

/// As what a text of a page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Typed {
    /// As a text.
    #[default]
    String,
    /// As a number: blanks and commas between its digits are passed over.
    Number,
}

impl Act {
    /// The actions in order. `pointer` is where the input stands in what was sent.
    ///
    /// # Errors
    /// It says nothing, or one action beside several.
    pub fn steps(&self, pointer: &str) -> Result<Vec<Action>, Error> {
        match (self.action, self.actions.is_empty()) {
            (Some(action), true) => {
                Ok(vec![Action { action, selector: self.selector.clone(), value: self.value.clone() }])
            }
            (None, false) if self.selector.is_none() && self.value.is_none() => Ok(self.actions.clone()),
            (None, true) => Err(Error::invalid(format!("{pointer}/action"), "say what is to be done")),
            _ => Err(Error::invalid(format!("{pointer}/actions"), "give one action or several, not both")),
        }
    }
}
