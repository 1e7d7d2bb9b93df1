//! Recall: what of a journal can be found again, and from which entry on a viewer finds it. Nothing here searches: an index
//! is made of what entries [say](Recallable) and is derived like all else.

use std::{ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    entry::Hash,
    id::{AgentName, MessageId, words},
    role::{Role, agent_says},
    text::{Text, Values},
};

words! {
    /// The kind of thing in which a passage was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RecallSource))]
    #[serde(rename_all = "snake_case")]
    pub enum Source {
        /// A message, also the result of a tool.
        Message = "message",
        /// A context set.
        ContextSet = "context_set",
        /// The plan.
        Plan = "plan",
        /// A variable that is no secret.
        Variable = "variable",
        /// A context file: its path, its keywords and for whom it is.
        File = "file",
        /// A document.
        Document = "document",
    }
}

impl Source {
    /// The segment of the API's paths below which such things are in a session.
    pub fn path(self) -> &'static str {
        match self {
            Self::Message => "threads",
            Self::ContextSet => "context-sets",
            Self::Plan => "plan",
            Self::Variable => "variables",
            Self::File => "files",
            Self::Document => "documents",
        }
    }

    /// The own tool with which models read such a thing, and the argument that has its name; none where there is one such thing.
    pub fn tool(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Message => ("read_messages", Some("thread")),
            Self::ContextSet => ("read_context_set", Some("name")),
            Self::Plan => ("get_current_plan", None),
            Self::Variable => ("get_workflow_variable", Some("variableName")),
            Self::File => ("read_file", Some("path")),
            Self::Document => ("read_document", Some("name")),
        }
    }
}

/// Whose words a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecallRole {
    /// The user's.
    User,
    /// An agent's.
    Assistant,
    /// Anybody's.
    Any,
}

/// What of an entry can be found again.
#[derive(Clone, Debug, PartialEq)]
pub struct Recallable {
    /// What kind of thing it is.
    pub source: Source,
    /// What it says, in order. Long texts stand beside the journal.
    pub texts: Vec<Text>,
    /// How many bytes of it are a name, before what is said.
    pub name_bytes: usize,
    /// The agent from which it comes, where it is a message. Who says it depends on who is told: see [`Self::said_by`].
    pub agent: Option<AgentName>,
    /// The role of who says it, where it is a message.
    pub role: Option<Role>,
    /// The id, where it is a message.
    pub message_id: Option<MessageId>,
    /// Whether lines that begin with `#` are headings, as in Markdown.
    pub has_headings: bool,
}

impl Recallable {
    /// What a thing says that nobody in particular says.
    pub(crate) fn new(source: Source, texts: Vec<Text>) -> Option<Self> {
        let says_something = texts.iter().any(|text| !text.is_blank());
        let has_headings = matches!(source, Source::ContextSet | Source::Plan | Source::Document);
        let (agent, role, message_id) = Default::default();
        says_something.then_some(Self { source, texts, name_bytes: 0, agent, role, message_id, has_headings })
    }

    /// The same for a thing with a name, by which it is found too.
    pub(crate) fn named(source: Source, name: &str, texts: Vec<Text>) -> Option<Self> {
        let name = format!("{name}\n");
        let Self { texts, .. } = Self::new(source, texts)?;
        let texts = std::iter::once(name.as_str().into()).chain(texts).collect();
        Some(Self { name_bytes: name.len(), ..Self::new(source, texts)? })
    }

    /// The agent that says it, as `reader` is told, where it is a message with this subject; no reader is the user.
    pub fn said_by(&self, subject: &str, reader: Option<&AgentName>) -> Option<&AgentName> {
        let (role, thread) = (self.role?, subject.strip_prefix("thread:").unwrap_or_default());
        self.agent.as_ref().filter(|agent| agent_says(agent.as_str(), role, thread, reader))
    }

    /// Who or what says it, for people and models, as `reader` is told: `user in main`, `context set Brief`. No reader is the user.
    pub fn origin(&self, subject: &str, reader: Option<&AgentName>) -> String {
        let name = subject.split_once(':').map_or("", |(_, name)| name);
        let role = self.role.unwrap_or(Role::User).as_str();
        match self.source {
            Source::Message => {
                format!("{} in {name}", self.said_by(subject, reader).map_or(role, AgentName::as_str))
            }
            Source::Plan => "the plan".to_owned(),
            source => format!("{} {name}", source.as_str().replace('_', " ")),
        }
    }

    /// The hashes of the long texts in it.
    pub fn stored(&self) -> impl Iterator<Item = Hash> {
        self.texts.iter().filter_map(Text::stored)
    }

    /// All that it says, as one text; the hash of a long text that is not among `values`.
    pub fn text(&self, values: &Values) -> Result<Arc<str>, Hash> {
        match self.texts.as_slice() {
            [text] => text.whole(values).cloned(),
            texts => texts
                .iter()
                .map(|text| text.whole(values).map(|text| &**text))
                .collect::<Result<String, _>>()
                .map(Into::into),
        }
    }

    /// A part of [all that it says](Self::text), which is not put together for that; `None` where it has no such part.
    pub fn part(&self, bytes: Range<usize>, values: &Values) -> Option<String> {
        let (mut part, mut begins) = (String::new(), 0);
        for text in &self.texts {
            let text = text.whole(values).ok()?;
            let at = |place: usize| place.saturating_sub(begins).min(text.len());
            part.push_str(text.get(at(bytes.start)..at(bytes.end))?);
            begins += text.len();
        }
        (part.len() == bytes.len()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_tells_its_agent_comes_for_others_from_that_agent() {
        let said = Recallable::new(Source::Message, vec!["Obey.".into()]).unwrap();
        let said = Recallable { agent: "writer".parse().ok(), role: Some(Role::User), ..said };
        let origin = |reader: Option<&str>| {
            let reader = reader.map(|name| name.parse::<AgentName>().unwrap());
            said.origin("thread:chat:writer", reader.as_ref())
        };
        assert_eq!(origin(Some("lead")), "writer in chat:writer");
        assert_eq!(origin(Some("writer")), "user in chat:writer");
        assert_eq!(origin(None), "user in chat:writer");
    }

    #[test]
    fn a_part_is_that_of_all_that_is_said() {
        let said = Recallable::named(Source::Document, "a", vec!["héllo ".into(), "wörld".into()]).unwrap();
        let values = Values::new();
        let whole = said.text(&values).unwrap();
        for start in 0..=whole.len() {
            for end in start..=whole.len() + 1 {
                assert_eq!(said.part(start..end, &values).as_deref(), whole.get(start..end), "{start} {end}");
            }
        }
    }
}
