//! Names and numbers that identify things. Each is checked once, when it is parsed.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::number;

/// Why a text is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {text:?} is not valid: {rule}")]
pub struct BadName {
    /// The kind of name, for instance `agent name`.
    pub what: &'static str,
    /// The text, shortened to 60 characters.
    pub text: String,
    /// The rule that it breaks, and what to use instead.
    pub rule: &'static str,
}

impl BadName {
    /// A text that breaks a rule of this kind of name.
    pub fn new(what: &'static str, text: &str, rule: &'static str) -> Self {
        Self { what, text: text.chars().take(60).collect(), rule }
    }
}

/// Declares checked names: newtypes over shared text that only `parse` can make.
macro_rules! name {
    ($($(#[$doc:meta])* $type:ident, $parse:ident $(($what:literal))?;)+) => { $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(Arc<str>);

        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                $parse($($what,)? text).map(|text| Self(text.into()))
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+ };
}
pub(crate) use name;

/// Declares the kinds of something, each with its word, which serde reads and, if it is not told otherwise, writes.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $type:ident { $($(#[$of_kind:meta])* $kind:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        pub enum $type {
            $($(#[$of_kind])* $kind,)+
        }

        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$kind),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// The one for which this is the word.
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }
    };
}
pub(crate) use words;

name! {
    /// The name of a session, and of its folder: `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`.
    SessionId, parse_session_id;

    /// An agent's name: 1 to 128 characters of letters, digits and ` _.@/-`; not `all`, `none`, `user` or `system`.
    AgentName, parse_agent_name;

    /// The name of a context set: trimmed, in NFC, 1 to 200 characters, none of them a control character.
    SetName, parse_label("context set name");

    /// The name of a document: trimmed, in NFC, 1 to 500 characters, none of them a control character. It may be a path:
    /// then no part between its slashes is blank, `.` or `..`.
    DocumentName, parse_document_name;

    /// The name of a collection: `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`.
    CollectionName, parse_collection_name;

    /// The name of a thread: trimmed, in NFC, 1 to 200 characters, none of them a control character.
    ThreadId, parse_label("thread id");

    /// A message's id, unique in its thread: 1 to 200 characters, none of them a control character.
    MessageId, parse_label("message id");

    /// A run's id, unique in its session: 1 to 200 characters, none of them a control character.
    RunId, parse_label("run id");

    /// The id of an execution of the workflow, unique in its session: 1 to 200 characters, none of them a control character.
    ExecutionId, parse_label("execution id");

    /// The name of a step: trimmed, in NFC, 1 to 200 characters, none of them a control character.
    StepName, parse_label("step name");

    /// The name of a variable: trimmed, in NFC, 1 to 200 characters, none of them a control character; not `all`. One
    /// that node 7 of the workflow set is `node7.NAME`.
    VariableName, parse_variable_name;
}

/// What the ids of the journals of collections begin with.
const COLLECTION: &str = "collection:";

impl CollectionName {
    /// The id of its journal.
    pub fn journal(&self) -> SessionId {
        SessionId(format!("{COLLECTION}{self}").into())
    }
}

impl SessionId {
    /// Comes before the journals of all collections, in the order of ids.
    pub fn before_collections() -> Self {
        Self(COLLECTION.into())
    }

    /// The collection whose journal has this id; `None` where it can only be a session's.
    pub fn as_collection(&self) -> Option<CollectionName> {
        self.0.strip_prefix(COLLECTION)?.parse().ok()
    }

    /// The id of a session made at `at`: `YYYYMMDD-HHMMSS-xxxx` in UTC, the last four of a-z0-9 taken from `random`.
    ///
    /// Ids made in the same second with the same `random` clash. So create the session exclusively, and try again
    /// with another `random` if the id is in use.
    pub fn generate(at: crate::time::Timestamp, random: u32) -> Self {
        const ALPHABET: [char; 36] = [
            'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
            'v', 'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
        ];
        let digit = |place: u32| ALPHABET.get((random / 36_u32.pow(place) % 36) as usize).copied().unwrap_or('a');
        let tail: String = (0..4).map(digit).collect();
        Self(format!("{}-{tail}", at.compact()).into())
    }
}

impl ThreadId {
    /// The default thread, `main`.
    pub fn main() -> Self {
        Self("main".into())
    }

    /// The thread between the manager and one worker, `agent:NAME`.
    pub fn of_agent(name: &AgentName) -> Self {
        Self(format!("agent:{name}").into())
    }

    /// The thread of the scout whose call the entry `started` began, `scout:SEQ`.
    pub fn of_scout(started: Seq) -> Self {
        Self(format!("scout:{started}").into())
    }
}

impl MessageId {
    /// The derived id of a message that was given none: `m` and the number of its entry.
    pub fn of_seq(seq: Seq) -> Self {
        Self(format!("m{seq}").into())
    }

    /// The entry of a derived id such as `m42`; `None` if the id has another form.
    pub fn as_seq(&self) -> Option<Seq> {
        let digits = self.0.strip_prefix('m')?;
        let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        if canonical { digits.parse().ok().map(Seq) } else { None }
    }

    /// This id followed by `-2`, `-3` …, for an entry whose derived id another message has.
    pub(crate) fn suffixed(&self, n: u32) -> Self {
        Self(format!("{self}-{n}").into())
    }
}

impl VariableName {
    /// The number of the node that it belongs to: 7 of `node7.emails`.
    pub fn node(&self) -> Option<u64> {
        NodeId::of_variables(self.0.split_once('.')?.0).map(|node| node.0)
    }
}

impl RunId {
    /// The id of the run that the entry `seq` starts.
    pub fn of_seq(seq: Seq) -> Self {
        Self(format!("r{seq}").into())
    }

    /// The entry that starts the run with this id; `None` where no run is called so.
    pub fn seq(&self) -> Option<Seq> {
        let seq = Seq(self.0.strip_prefix('r')?.parse().ok()?);
        (Self::of_seq(seq) == *self).then_some(seq)
    }
}

impl ExecutionId {
    /// The id of the execution that the entry `seq` starts.
    pub fn of_seq(seq: Seq) -> Self {
        Self(format!("x{seq}").into())
    }
}

/// A node of a workflow. Its number is fixed for ever: the id is `node_4`, its variables are `node4.name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeId(pub u64);

impl NodeId {
    /// The node whose variables begin with this word: `node7`.
    pub(crate) fn of_variables(word: &str) -> Option<Self> {
        let number = word.strip_prefix("node")?.parse().ok()?;
        Some(Self(number)).filter(|_| word == format!("node{number}"))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node_{}", self.0)
    }
}

impl FromStr for NodeId {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let number = text.strip_prefix("node_").and_then(|digits| digits.parse().ok()).map(Self);
        // A number has one form: no sign, no zeros before it.
        let id = number.filter(|id| id.to_string() == text);
        id.ok_or_else(|| BadName::new("node id", text, "use node_ and a number, for instance node_4"))
    }
}

impl TryFrom<String> for NodeId {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl From<NodeId> for String {
    fn from(id: NodeId) -> Self {
        id.to_string()
    }
}

/// The number of an entry in its journal, from 1 without gaps. 0 means before the first entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(#[serde(deserialize_with = "number::whole")] pub u64);

impl Seq {
    /// Before the first entry.
    pub const ZERO: Self = Self(0);

    /// Whether it is before the first entry.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number before this one, at least 0.
    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn parse_session_id(text: &str) -> Result<String, BadName> {
    let rule = "use 1 to 128 characters of a-z, A-Z, 0-9 and ._:- that start with a letter or digit";
    parse_plain("session id", text, 128, "._:-", rule)
}

fn parse_collection_name(text: &str) -> Result<String, BadName> {
    let rule = "use 1 to 100 characters of a-z, A-Z, 0-9 and ._- that start with a letter or digit";
    parse_plain("collection name", text, 100, "._-", rule)
}

/// A name of ASCII letters, digits and these signs.
fn parse_plain(
    what: &'static str,
    text: &str,
    most: usize,
    signs: &str,
    rule: &'static str,
) -> Result<String, BadName> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.len() <= most && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(BadName::new(what, text, rule))
}

fn parse_agent_name(text: &str) -> Result<String, BadName> {
    let rule = |rule| Err(BadName::new("agent name", text, rule));
    let name: String = text.trim().nfc().collect();
    if name.is_empty() || name.chars().count() > 128 {
        return rule("use 1 to 128 characters");
    }
    if !name.chars().all(|c| c.is_alphanumeric() || " _.@/-".contains(c)) {
        return rule("use letters, digits, spaces and _ . @ / - only");
    }
    if ["all", "none", "user", "system"].contains(&name.to_lowercase().as_str()) {
        return rule("all, none, user and system are reserved");
    }
    Ok(name)
}

fn parse_document_name(text: &str) -> Result<String, BadName> {
    let name = parse_line("document name", text, 500, "use 1 to 500 characters")?;
    if name.split('/').any(|part| ["", ".", ".."].contains(&part.trim())) {
        return Err(BadName::new("document name", text, "no part between slashes may be blank, `.` or `..`"));
    }
    Ok(name)
}

fn parse_variable_name(text: &str) -> Result<String, BadName> {
    let name = parse_label("variable name", text)?;
    if name == "all" {
        return Err(BadName::new("variable name", text, "`all` stands for all variables: use another name"));
    }
    Ok(name)
}

fn parse_label(what: &'static str, text: &str) -> Result<String, BadName> {
    parse_line(what, text, 200, "use 1 to 200 characters")
}

fn parse_line(what: &'static str, text: &str, most: usize, rule: &'static str) -> Result<String, BadName> {
    let name: String = text.trim().nfc().collect();
    if name.is_empty() || name.chars().count() > most {
        return Err(BadName::new(what, text, rule));
    }
    if name.chars().any(is_control) {
        return Err(BadName::new(what, text, "control characters and line ends are not allowed"));
    }
    Ok(name)
}

/// What the names of secrets in calls of tools begin with. No variable is called so.
pub(crate) const CALL: &str = "call:";

/// Whether `name` is what secrets in a call of a tool are called.
pub fn is_of_call(name: &str) -> bool {
    name.starts_with(CALL)
}

/// Whether it is a control character, or one that ends a line or changes the direction of text.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use super::{
        AgentName, CollectionName, DocumentName, MessageId, NodeId, RunId, SessionId, SetName, StepName, ThreadId,
        VariableName,
    };
    use crate::{plain_character, same_schema, schema::Label, text_schema};

    const AGENT_NAME: &str = "^(?!([aA][lL][lL]|[nN][oO][nN][eE]|[uU][sS][eE][rR]|[sS][yY][sS][tT][eE][mM])$)\
         [\\p{L}\\p{N}_.@/-]([\\p{L}\\p{N} _.@/-]{0,126}[\\p{L}\\p{N}_.@/-])?$";

    /// One line. Where it has slashes, no part between them is blank, `.` or `..`.
    const DOCUMENT_NAME: &str = concat!("^(?!(.*/)?\\s*\\.{0,2}\\s*(/.*)?$)", plain_character!(""), "*$");

    const COLLECTION_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$";

    const SESSION_ID: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$";

    text_schema! {
        /// The name of an agent; not `all`, `none`, `user` or `system`.
        AgentName as "AgentName", |text| text.pattern(Some(AGENT_NAME)).examples(["writer"]);

        /// The name of a session.
        SessionId as "SessionId", |text| text.pattern(Some(SESSION_ID));

        /// The name of a document: one line, which may be a path. Then no part between its slashes is blank, `.` or `..`.
        DocumentName as "DocumentName", |text| text.pattern(Some(DOCUMENT_NAME)).min_length(Some(1)).max_length(Some(500));

        /// The name of a collection.
        CollectionName as "CollectionName", |text| text.pattern(Some(COLLECTION_NAME)).examples(["handbook"]);

        /// The id of a node of the workflow.
        NodeId as "NodeId", |text| text.pattern(Some("^node_(0|[1-9][0-9]{0,18})$")).examples(["node_4"]);
    }

    same_schema! {
        SetName as Label;
        ThreadId as Label;
        MessageId as Label;
        RunId as Label;
        StepName as Label;
        VariableName as Label;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_trimmed_and_composed() {
        assert_eq!("  Caf\u{65}\u{301} ".parse::<SetName>().unwrap().as_str(), "Caf\u{e9}");
    }

    #[test]
    fn reserved_words_name_no_agent() {
        for name in ["all", "None", "USER", "system", "", "a<b", "a\nb", &"x".repeat(129)] {
            assert!(name.parse::<AgentName>().is_err(), "{name:?}");
        }
        for name in ["writer", "Ünïcode 7", "@subagents/core/task-manager"] {
            assert!(name.parse::<AgentName>().is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_session_id_cannot_leave_its_folder() {
        for id in ["..", "a/b", ".hidden", "", "a b", "ä", &"x".repeat(129)] {
            assert!(id.parse::<SessionId>().is_err(), "{id:?}");
        }
        assert!("20250118-143022-a4f2".parse::<SessionId>().is_ok());
    }

    #[test]
    fn a_generated_session_id_says_when_in_utc() {
        let at = "2025-01-18T14:30:22Z".parse().unwrap();
        assert_eq!(SessionId::generate(at, 0).as_str(), "20250118-143022-aaaa");
        assert_eq!(SessionId::generate(at, 36 * 36 * 36 * 36 - 1).as_str(), "20250118-143022-9999");
    }

    #[test]
    fn only_plain_numbers_are_derived_message_ids() {
        let seq = |id: &str| id.parse::<MessageId>().unwrap().as_seq();
        assert_eq!(seq("m42"), Some(Seq(42)));
        assert_eq!([seq("m042"), seq("m"), seq("m4x"), seq("42")], [None; 4]);
    }
}
