//! Texts that are names, or stand in one line: what can be in them.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Object, ObjectBuilder, RefOr, Schema, schema::Type},
};

/// Not a control character, nor one that ends a line or turns the direction of text.
macro_rules! plain {
    ($more:literal) => {
        concat!("[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069", $more, "]")
    };
}

/// One line, which may be empty.
const LINE: &str = concat!("^", plain!(""), "*$");

/// One line with something in it.
const SAYING: &str = concat!("^", plain!(""), "*", plain!("\\s"), plain!(""), "*$");

/// What agents can be called.
pub(crate) const AGENT_NAME: &str = "^(?!([aA][lL][lL]|[nN][oO][nN][eE]|[uU][sS][eE][rR]|[sS][yY][sS][tT][eE][mM])$)\
     [\\p{L}\\p{N}_.@/-]([\\p{L}\\p{N} _.@/-]{0,126}[\\p{L}\\p{N}_.@/-])?$";

/// What sessions can be called.
pub(crate) const SESSION_ID: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$";

/// Declares a kind of text, which has a place of its own among the document's schemas.
macro_rules! text {
    ($(#[doc = $doc:literal])+ $type:ident, $schema:expr) => {
        $(#[doc = $doc])+
        pub(crate) struct $type;

        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                let build: fn(ObjectBuilder) -> ObjectBuilder = $schema;
                let described = ObjectBuilder::new().schema_type(Type::String);
                let described = described.description(Some(concat!($($doc),+).trim_start()));
                RefOr::T(Schema::Object(Object::from(build(described))))
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($type))
            }
        }
    };
}

text! {
    /// The name of an agent; not `all`, `none`, `user` or `system`.
    AgentName, |text| text.pattern(Some(AGENT_NAME)).examples(["writer"])
}

text! {
    /// The name of a session.
    SessionId, |text| text.pattern(Some(SESSION_ID))
}

text! {
    /// A name in one line.
    Label, |text| text.pattern(Some(SAYING)).min_length(Some(1)).max_length(Some(200))
}

text! {
    /// The name of a tool; where tools are allowed or denied, `*` in it stands for any characters.
    ToolName, |text| text.pattern(Some(SAYING)).min_length(Some(1)).max_length(Some(128))
}

text! {
    /// What people call a session: one line.
    Title, |text| text.pattern(Some(LINE)).max_length(Some(500))
}

text! {
    /// One line.
    Line, |text| text.pattern(Some(LINE)).max_length(Some(200))
}

text! {
    /// A text that is not blank.
    Saying, |text| text.pattern(Some("\\S"))
}

text! {
    /// What a context file is called, without its folder and ending; no more than 200 bytes.
    ContextFileName, |text| text.pattern(Some(FILE_NAME)).min_length(Some(1)).max_length(Some(100))
}

text! {
    /// A word under which a context file is found.
    ContextFileKeyword, |text| text.pattern(Some(KEYWORD)).min_length(Some(1)).max_length(Some(100))
}

text! {
    /// For whom a context file is: the name of an agent, or `all`.
    ContextFileRecipient, |text| text.pattern(Some(SAYING)).min_length(Some(1)).max_length(Some(128))
}

text! {
    /// Words with commas between them.
    ContextFileKeywords, |text| text.pattern(Some(KEYWORDS))
}

/// One line with something in it, that leads to no other folder and is not hidden.
const FILE_NAME: &str = concat!("^\\s*", plain!("\\s/\\\\.-"), plain!("/\\\\"), "*$");

/// One line with something in it, without commas.
const KEYWORD: &str = concat!("^", plain!(","), "*", plain!("\\s,"), plain!(","), "*$");

/// Some of these, or nothing between the commas.
const KEYWORDS: &str = concat!("^", plain!(","), "{0,100}(,", plain!(","), "{0,100})*$");

text! {
    /// Roles with commas between them, in any case.
    Roles, |text| text.pattern(Some(ROLES))
}

const ROLES: &str =
    "^((USER|AI|SYSTEM|TOOL|user|ai|assistant|system|tool)(,(USER|AI|SYSTEM|TOOL|user|ai|assistant|system|tool))*)?$";
