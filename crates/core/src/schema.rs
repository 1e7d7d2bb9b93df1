//! What OpenAPI schemas are made with. Each type has its schema where it is declared. Behind the feature `schema`.

pub use utoipa;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, schema::Type};

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

/// The schema of names in one line.
#[derive(Debug)]
pub struct Label;

/// The schema of the names of tools.
#[derive(Debug)]
pub struct ToolName;

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
    /// A name in one line.
    Label as "Label", |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(200));

    /// The name of a tool. In lists of allowed and denied tools, `*` stands for any characters.
    ToolName as "ToolName", |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(128));

    /// The title of a session: one line.
    Title as "Title", |text| text.pattern(Some(LINE)).max_length(Some(500));

    /// One line.
    Line as "Line", |text| text.pattern(Some(LINE)).max_length(Some(200));

    /// A text that is not blank.
    Saying as "Saying", |text| text.pattern(Some("\\S"));
}

/// Gives types the schemas of others.
#[macro_export]
#[doc(hidden)]
macro_rules! same_schema {
    ($($type:ty as $other:ty;)*) => {$(
        impl $crate::schema::utoipa::PartialSchema for $type {
            fn schema() -> $crate::schema::utoipa::openapi::RefOr<$crate::schema::utoipa::openapi::Schema> {
                <$other as $crate::schema::utoipa::PartialSchema>::schema()
            }
        }

        impl $crate::schema::utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                <$other as $crate::schema::utoipa::ToSchema>::name()
            }

            fn schemas(
                schemas: &mut Vec<(String, $crate::schema::utoipa::openapi::RefOr<$crate::schema::utoipa::openapi::Schema>)>,
            ) {
                <$other as $crate::schema::utoipa::ToSchema>::schemas(schemas);
            }
        }
    )*};
}
