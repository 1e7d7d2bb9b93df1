//! Layouts: which parts a prompt has, in order.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        self, MapAccess, Visitor,
        value::{MapAccessDeserializer, StrDeserializer},
    },
};

use super::part_name::PartName;
use crate::{error::Error, id::words};

words! {
    /// The name of a layout that every session has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Layout))]
    #[serde(rename_all = "snake_case")]
    pub enum LayoutName {
        /// Instructions, the team, the manager's duties, the names of context files, shared context sets, history, the active step, the task.
        Team = "team",
        /// What the session asks for and no more: the agent's instructions as they are, the names of context files, shared context sets, history,
        /// the active step, the task.
        Plain = "plain",
        /// The director's rules, the current plan, the workflow, its variables, the browser's tabs, the conversation.
        Director = "director",
    }
}

/// How a prompt is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As every session has it.
    Named(LayoutName),
    /// As the session lists its parts.
    OfSession(Arc<[LayoutPart]>),
}

/// A part of a session's own layout: the name of a part that every session has, or a text of its own. A text with the name of
/// such a part takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum LayoutPart {
    /// The name of a part.
    Known(PartName),
    /// A text.
    Text(LayoutText),
}

/// A text in a session's own layout. Prompts show it unchanged, on lines of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LayoutText {
    /// Its name in the list of parts.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

/// How what was said is written in the format `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// In tags.
    Tagged,
    /// Behind labels, under headings.
    Labelled,
}

/// The parts that show what is to be done, and what was said before.
const OF_TASK: [PartName; 3] = [PartName::TASK, PartName::HISTORY, PartName::CONVERSATION_HISTORY];

/// The most parts that a session's own layout lists.
const MAX_PARTS: usize = 64;

impl Layout {
    /// The version of all layouts: it is raised whenever the same state would give other bytes than before.
    pub const VERSION: u32 = 1;

    /// The layout that is meant by `asked` in a session that lists `own` parts: where none is named, the session's own,
    /// and `team` where it lists none.
    pub fn of(asked: Option<LayoutName>, own: &[LayoutPart]) -> Self {
        match asked {
            Some(name) => Self::Named(name),
            None if own.is_empty() => Self::Named(LayoutName::Team),
            None => Self::OfSession(own.into()),
        }
    }

    /// The name of the layout; `session` where it is the session's own.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Named(name) => name.as_str(),
            Self::OfSession(_) => "session",
        }
    }

    /// In which style it is written.
    pub fn style(&self) -> Style {
        match self {
            Self::Named(LayoutName::Team | LayoutName::Plain) => Style::Tagged,
            Self::Named(LayoutName::Director) => Style::Labelled,
            Self::OfSession(parts) => {
                let is_labelled = parts.iter().any(|part| part.is(PartName::CONVERSATION_HISTORY));
                if is_labelled { Style::Labelled } else { Style::Tagged }
            }
        }
    }
}

impl LayoutPart {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) => name.as_str(),
            Self::Text(text) => &text.name,
        }
    }

    /// Whether it is this part, and not a text in its place.
    pub fn is(&self, part: PartName) -> bool {
        matches!(self, Self::Known(name) if *name == part)
    }
}

impl<'de> Deserialize<'de> for LayoutPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LayoutPartVisitor)
    }
}

/// Reads a part of a layout. What is wrong with a name or a text is told as that of a name or a text.
struct LayoutPartVisitor;

impl<'de> Visitor<'de> for LayoutPartVisitor {
    type Value = LayoutPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a part, or an object with `name` and `text`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<LayoutPart, E> {
        PartName::deserialize(StrDeserializer::new(name)).map(LayoutPart::Known)
    }

    fn visit_map<A: MapAccess<'de>>(self, text: A) -> Result<LayoutPart, A::Error> {
        LayoutText::deserialize(MapAccessDeserializer::new(text)).map(LayoutPart::Text)
    }
}

/// Refuses a list of parts that makes no prompt.
pub(super) fn check(parts: &[LayoutPart], pointer: &str) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    if parts.len() > MAX_PARTS {
        return Err(Error::invalid(
            pointer,
            format!("a layout has at most {MAX_PARTS} parts; this one has {}", parts.len()),
        ));
    }
    let place = |name: &str| parts.iter().position(|part| part.name() == name);
    for (at, part) in parts.iter().enumerate() {
        let pointer = || format!("{pointer}/{at}");
        if place(part.name()) != Some(at) {
            return Err(Error::contradiction(pointer(), format!("the part {:?} is listed twice", part.name())));
        }
        let LayoutPart::Text(text) = part else { continue };
        if OF_TASK.iter().any(|part| part.as_str() == text.name) {
            let problem = format!("a text cannot take the place of `{}`: choose another name for it", text.name);
            return Err(Error::contradiction(format!("{}/name", pointer()), problem));
        }
        if text.name.trim().is_empty() || text.name.len() > 100 || text.name.chars().any(char::is_control) {
            let problem = "a name has 1 to 100 bytes and no control characters";
            return Err(Error::invalid(format!("{}/name", pointer()), problem));
        }
        if text.text.trim().is_empty() {
            return Err(Error::invalid(format!("{}/text", pointer()), "the text is blank: leave the part out"));
        }
    }
    let [task, history, both] = OF_TASK.map(|name| place(name.as_str()));
    match (task, history, both) {
        (None, _, None) => {
            let problem =
                "a layout has the part `task` or `conversation_history`: without one a model is not told what to do";
            Err(Error::contradiction(pointer, problem))
        }
        (Some(other), _, Some(_)) | (None, Some(other), Some(_)) => {
            let problem = "`conversation_history` is `history` and `task` together: list either it or them";
            Err(Error::contradiction(format!("{pointer}/{other}"), problem))
        }
        (Some(task), Some(history), None) if history > task => {
            let problem = "`history` is what was said before the task: list it before `task`";
            Err(Error::contradiction(format!("{pointer}/{history}"), problem))
        }
        _ => Ok(()),
    }
}
