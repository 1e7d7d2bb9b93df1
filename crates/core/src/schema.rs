//! OpenAPI schemas: of names and texts, and of types that serde writes in a form of their own. All other types derive
//! theirs where they are declared. Behind the feature `schema`.

#![allow(dead_code, reason = "many of these types are read by the document alone")]

use std::borrow::Cow;

pub use utoipa;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Schema,
        schema::{AdditionalProperties, Type},
    },
};

use crate::{
    agent::Tool,
    audience::Audience,
    conversation::NewContent,
    document::MediaType,
    file::{Keyword, Recipient, TaskName},
    id::{
        AgentName, CollectionName, DocumentName, MessageId, NodeId, RunId, SessionId, SetName, StepName, ThreadId,
        VariableName,
    },
    prompt::profile::{self, Shares},
    session::{Ttl, Visible},
    step::Condition,
    time::Timestamp,
};

/// A character that is no control character, ends no line and does not turn the direction of text; nor one of `$more`.
#[macro_export]
#[doc(hidden)]
macro_rules! plain_character {
    ($more:literal) => {
        concat!("[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069", $more, "]")
    };
}

/// Declares the schema of a text: the type, the name of the schema, and what can be in the text.
#[macro_export]
#[doc(hidden)]
macro_rules! text_schema {
    ($($(#[doc = $doc:literal])+ $type:ty as $name:literal, $restrict:expr;)*) => {$(
        impl $crate::schema::utoipa::PartialSchema for $type {
            fn schema() -> $crate::schema::utoipa::openapi::RefOr<$crate::schema::utoipa::openapi::Schema> {
                $crate::schema::text(concat!($($doc),+).trim_start(), $restrict)
            }
        }

        impl $crate::schema::utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($name)
            }
        }
    )*};
}

/// The schema of a text.
pub fn text(description: &str, restrict: impl FnOnce(ObjectBuilder) -> ObjectBuilder) -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(Type::String).description(Some(description));
    RefOr::T(Schema::Object(restrict(text).into()))
}

/// One line, which may be empty.
const LINE: &str = concat!("^", plain_character!(""), "*$");

/// One line with something in it.
pub const NON_BLANK_LINE: &str =
    concat!("^", plain_character!(""), "*", plain_character!("\\s"), plain_character!(""), "*$");

const AGENT_NAME: &str = "^(?!([aA][lL][lL]|[nN][oO][nN][eE]|[uU][sS][eE][rR]|[sS][yY][sS][tT][eE][mM])$)\
     [\\p{L}\\p{N}_.@/-]([\\p{L}\\p{N} _.@/-]{0,126}[\\p{L}\\p{N}_.@/-])?$";

/// One line with something in it, that leads to no other folder and is not hidden.
const FILE_NAME: &str = concat!("^\\s*", plain_character!("\\s/\\\\.-"), plain_character!("/\\\\"), "*$");

/// One line with something in it, without commas.
const KEYWORD: &str = concat!("^", plain_character!(","), "*", plain_character!("\\s,"), plain_character!(","), "*$");

/// One line. Where it has slashes, no part between them is blank, `.` or `..`.
const DOCUMENT_NAME: &str = concat!("^(?!(.*/)?\\s*\\.{0,2}\\s*(/.*)?$)", plain_character!(""), "*$");

const COLLECTION_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$";

const MEDIA_TYPE: &str = "^[A-Za-z0-9!#$&^_.+-]{1,63}/[A-Za-z0-9!#$&^_.+-]{1,63}$";

const SESSION_ID: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$";

/// The schema of names in one line.
#[derive(Debug)]
pub struct Label;

/// The schema of the names of tools.
#[derive(Debug)]
pub struct ToolName;

/// A tool, or the name of one of Callboard's own, with `callboard:` before it or without.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ToolOrName {
    /// A name.
    #[schema(value_type = ToolName)]
    Name(String),
    /// A tool.
    Tool(Tool),
}

/// The schema of titles of sessions.
#[derive(Debug)]
pub struct Title;

/// The schema of a line.
#[derive(Debug)]
pub struct Line;

/// The schema of a text that is not blank.
#[derive(Debug)]
pub struct Saying;

text_schema! {
    /// The name of an agent; not `all`, `none`, `user` or `system`.
    AgentName as "AgentName", |text| text.pattern(Some(AGENT_NAME)).examples(["writer"]);

    /// The name of a session.
    SessionId as "SessionId", |text| text.pattern(Some(SESSION_ID));

    /// The name of a document: one line, which may be a path. Then no part between its slashes is blank, `.` or `..`.
    DocumentName as "DocumentName", |text| text.pattern(Some(DOCUMENT_NAME)).min_length(Some(1)).max_length(Some(500));

    /// The name of a collection.
    CollectionName as "CollectionName", |text| text.pattern(Some(COLLECTION_NAME)).examples(["handbook"]);

    /// A media type. Its parameters are ignored.
    MediaType as "MediaType", |text| text.pattern(Some(MEDIA_TYPE)).examples(["text/markdown"]);

    /// The id of a node of the workflow.
    NodeId as "NodeId", |text| text.pattern(Some("^node_(0|[1-9][0-9]{0,18})$")).examples(["node_4"]);

    /// A name in one line.
    Label as "Label", |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(200));

    /// The name of a tool. In lists of allowed and denied tools, `*` stands for any characters.
    ToolName as "ToolName", |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(128));

    /// The name of a context file, without its folder and ending; at most 200 bytes.
    TaskName as "ContextFileName", |text| text.pattern(Some(FILE_NAME)).min_length(Some(1)).max_length(Some(100));

    /// A word under which a context file is found.
    Keyword as "ContextFileKeyword", |text| text.pattern(Some(KEYWORD)).min_length(Some(1)).max_length(Some(100));

    /// The recipient of a context file: the name of an agent, or `all`.
    Recipient as "ContextFileRecipient",
        |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(128));

    /// The title of a session: one line.
    Title as "Title", |text| text.pattern(Some(LINE)).max_length(Some(500));

    /// One line.
    Line as "Line", |text| text.pattern(Some(LINE)).max_length(Some(200));

    /// A text that is not blank.
    Saying as "Saying", |text| text.pattern(Some("\\S"));
}

/// Gives types the schemas of others.
macro_rules! same_schema {
    ($($type:ty as $other:ty;)*) => {$(
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                <$other>::schema()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                <$other>::name()
            }

            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                <$other>::schemas(schemas);
            }
        }
    )*};
}

same_schema! {
    SetName as Label;
    ThreadId as Label;
    MessageId as Label;
    RunId as Label;
    StepName as Label;
    VariableName as Label;
    Audience as AudienceForm;
    Visible as AudienceForm;
    Ttl as TtlForm;
    Timestamp as Time;
    profile::Amount as ShareOf;
    Condition as ConditionForm;
    NewContent as ContentForm;
}

/// Who may see a thing: `all`, `none`, an agent's name or a list of names.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Audience)]
enum AudienceForm {
    Word(AudienceWord),
    Name(AgentName),
    Names(Vec<AgentName>),
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
enum AudienceWord {
    All,
    None,
}

/// A number of seconds above 0, a duration such as `90d`, `36h` or `15m`, or `never`.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Ttl)]
enum TtlForm {
    Seconds(Seconds),
    Duration(Duration),
    Never(Never),
}

#[derive(ToSchema)]
#[schema(pattern = "^[1-9][0-9]{0,9}[smhd]$")]
struct Duration(String);

#[derive(ToSchema)]
#[schema(minimum = 1)]
struct Seconds(u64);

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
enum Never {
    Never,
}

/// A time: RFC 3339, or milliseconds since 1970.
#[derive(ToSchema)]
#[serde(untagged)]
enum Time {
    Text(Rfc3339),
    Milliseconds(Milliseconds),
}

#[derive(ToSchema)]
#[schema(format = DateTime)]
struct Rfc3339(String);

#[derive(ToSchema)]
#[schema(minimum = -300_000_000_000_000_i64, maximum = 250_000_000_000_000_i64)]
struct Milliseconds(i64);

/// The parts that differ from their defaults.
pub(crate) struct ProfileParts;

impl PartialSchema for ProfileParts {
    fn schema() -> RefOr<Schema> {
        let no_others = AdditionalProperties::<Schema>::FreeForm(false);
        let parts = ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(no_others));
        let parts = parts.description(Some("The parts that differ from their defaults."));
        let shares = || Ref::from_schema_name(Shares::name());
        let sharing = profile::PartName::SHARING.iter();
        RefOr::T(Schema::Object(sharing.fold(parts, |parts, name| parts.property(name.as_str(), shares())).into()))
    }
}

impl ToSchema for ProfileParts {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Shares::name().into(), Shares::schema()));
        Shares::schemas(schemas);
    }
}

impl PartialSchema for profile::PartName {
    fn schema() -> RefOr<Schema> {
        let names = || profile::PartName::ALL.iter().map(|name| name.as_str());
        text("The name of a part of prompts that every session has.", |schema| schema.enum_values(Some(names())))
    }
}

impl ToSchema for profile::PartName {
    fn name() -> Cow<'static, str> {
        "PartName".into()
    }
}

#[derive(ToSchema)]
#[serde(untagged)]
enum ShareOf {
    Tokens(u64),
    Percent(Percent),
}

#[derive(ToSchema)]
#[schema(pattern = "^(100|[0-9]{1,2})%$")]
struct Percent(String);

/// The role of a message's author, as requests may write it.
#[derive(ToSchema)]
pub(crate) enum SaidRole {
    #[schema(rename = "USER")]
    User,
    #[schema(rename = "AI")]
    Ai,
    #[schema(rename = "SYSTEM")]
    System,
    #[schema(rename = "TOOL")]
    Tool,
    #[schema(rename = "user")]
    OpenAiUser,
    #[schema(rename = "assistant")]
    Assistant,
    #[schema(rename = "system")]
    OpenAiSystem,
    #[schema(rename = "developer")]
    Developer,
    #[schema(rename = "tool")]
    OpenAiTool,
}

/// A text, or parts, each an object with a `type`.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub enum ContentForm {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Vec<ContentPart>),
}

/// A part of a message.
#[derive(Debug, ToSchema)]
pub struct ContentPart {
    r#type: String,
    text: Option<String>,
}

/// When a step is entered.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Condition)]
enum ConditionForm {
    ToolUsed(ToolUsed),
    SequenceMatch(SequenceMatch),
    All(AllOf),
    Any(AnyOf),
    Not(NotThis),
}

/// The tool was used since the last reset.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct ToolUsed {
    r#type: ToolUsedType,
    value: ToolName,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
enum ToolUsedType {
    ToolUsed,
}

/// The newest tools that were used are those of the step's sequence.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct SequenceMatch {
    r#type: SequenceMatchType,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
enum SequenceMatchType {
    SequenceMatch,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct AllOf {
    #[schema(no_recursion, min_items = 1)]
    all: Vec<ConditionForm>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct AnyOf {
    #[schema(no_recursion, min_items = 1)]
    any: Vec<ConditionForm>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct NotThis {
    #[schema(no_recursion)]
    not: Box<ConditionForm>,
}
