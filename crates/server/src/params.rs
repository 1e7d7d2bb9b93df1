//! Parameters in the URL of a call: names in its path, and its query.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use callboard_api as api;
use callboard_core::{
    conversation::Role,
    id::{
        BadName, CollectionName, DocumentName, ExecutionId, MessageId, NodeId, RunId, Seq, SessionId, SetName,
        ThreadId, VariableName,
    },
};
use serde::{
    Deserialize as _,
    de::{DeserializeOwned, IntoDeserializer as _, value},
};
use serde_json::{Map, Value};
use utoipa::{
    IntoParams, PartialSchema as _, ToSchema,
    openapi::{
        Ref, RefOr, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
    },
};

use crate::{app::App, call_error::CallError, json};

/// A parameter in the path, percent-decoded: `%2F` is a `/` of a name.
pub(crate) struct InPath<T>(pub(crate) T);

/// What can be a parameter of a path.
pub(crate) trait PathParam: Sized {
    /// The name of the parameter.
    const NAME: &'static str;

    /// What it is, for the OpenAPI document.
    const DESCRIPTION: &'static str;

    /// Its type, for the OpenAPI document.
    type Schema: ToSchema;

    /// Reads it.
    fn read(text: &str) -> Result<Self, CallError>;
}

impl<T: PathParam> FromRequestParts<App> for InPath<T> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        T::read(&segment(parts, app, T::NAME).await?).map(Self)
    }
}

impl<T: PathParam> IntoParams for InPath<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = match T::Schema::schema() {
            // A named type is described once.
            RefOr::T(_) if T::Schema::name().starts_with(char::is_uppercase) && T::Schema::name() != "String" => {
                Ref::from_schema_name(T::Schema::name()).into()
            }
            schema => schema,
        };
        let parameter = ParameterBuilder::new().name(T::NAME).parameter_in(ParameterIn::Path).required(Required::True);
        vec![parameter.description(Some(T::DESCRIPTION)).schema(Some(schema)).build()]
    }
}

/// Implements [`PathParam`]: for a type, what its schema is, the name of the parameter, what it is, and how it is read.
macro_rules! path_params {
    ($($type:ty: $schema:ty, $name:literal, $description:literal, $read:expr;)*) => {
        $(impl PathParam for $type {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = $description;
            type Schema = $schema;

            fn read(text: &str) -> Result<Self, CallError> {
                let read: fn(&str) -> Result<Self, CallError> = $read;
                read(text)
            }
        })*
    };
}

path_params! {
    SessionId: Self, "session", "The id of the session", |text| {
        text.parse().map_err(|_| absent("session", text))
    };
    CollectionName: Self, "collection", "The name of the collection", named;
    SetName: Self, "name", "The name of the context set", named;
    DocumentName: Self, "name", "The name of the document", named;
    VariableName: Self, "name", "The name of the variable", named;
    ThreadId: Self, "thread", "The name of the thread, such as `main`", named;
    MessageId: Self, "message", "The id of the message, such as `m12`", named;
    RunId: Self, "run", "The id of the run", named;
    ExecutionId: String, "execution", "The id of the execution", named;
    NodeId: Self, "node", "The id of the node", |text| text.parse().map_err(|_| absent("node", text));
    EntryNumber: u64, "seq", "The number of the entry", |text| {
        let invalid = |_| CallError::invalid("/seq", format!("{text:?} is no number of an entry"));
        text.parse().map(|seq| Self(Seq(seq))).map_err(invalid)
    };
    TurnNumber: u64, "turn", "The number of the turn, as `turn` of the recorded prompt", |text| {
        number(text, "turn").map(|number| Self(Seq(number)))
    };
    VersionNumber: u64, "version", "The number of the version", |text| number(text, "version of the plan").map(Self);
    TaskNumber: u64, "task", "The number of the task", |text| number(text, "task").map(Self);
    ScreenshotFile: String, "file", "The name of the file", |text| Ok(Self(text.to_owned()));
    ToolName: String, "tool", "The name of the tool, such as `read_messages`", |text| Ok(Self(text.to_owned()));
    TokenId: callboard_api::Label, "token", "The id of the token", |text| Ok(Self(text.to_owned()));
}

/// The number of an entry.
pub(crate) struct EntryNumber(pub(crate) Seq);

/// The number of a turn.
pub(crate) struct TurnNumber(pub(crate) Seq);

/// The number of a version of the plan.
pub(crate) struct VersionNumber(pub(crate) u64);

/// The number of a task of the plan.
pub(crate) struct TaskNumber(pub(crate) u64);

/// The name of a picture of a page.
pub(crate) struct ScreenshotFile(pub(crate) String);

/// The name of one of Callboard's own tools.
pub(crate) struct ToolName(pub(crate) String);

/// The id of a token.
pub(crate) struct TokenId(pub(crate) String);

/// A name. One that breaks the rules is invalid.
fn named<T: PathParam + FromStr<Err = BadName>>(text: &str) -> Result<T, CallError> {
    text.parse().map_err(|error: BadName| CallError::invalid(format!("/{}", T::NAME), error.to_string()))
}

/// A number. Anything else is 404.
fn number(text: &str, what: &'static str) -> Result<u64, CallError> {
    callboard_api::whole(text).ok_or_else(|| absent(what, text))
}

fn absent(what: &'static str, text: &str) -> CallError {
    CallError::not_found(what, text.chars().take(60).collect::<String>())
}

/// The path of a context file, in one segment or two.
pub(crate) struct FilePath(pub(crate) String);

impl FromRequestParts<App> for FilePath {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        if let Ok(path) = segment(parts, app, "path").await {
            return Ok(Self(path));
        }
        let (folder, file) = (segment(parts, app, "folder").await?, segment(parts, app, "file").await?);
        Ok(Self(format!("{folder}/{file}")))
    }
}

async fn segment(parts: &mut Parts, app: &App, param: &str) -> Result<String, CallError> {
    let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| bad_path())?;
    let found = params.iter().find(|(name, _)| *name == param).map(|(_, value)| value.to_owned());
    found.ok_or_else(bad_path)
}

/// The error for a path that is not percent-encoded UTF-8.
fn bad_path() -> CallError {
    CallError::new("bad_path", "the path is not percent-encoded UTF-8")
}

/// The query of a call. Unknown parameters are refused. All calls know `as`.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, CallError> {
        // Each parameter is a text. Repeated lists are joined.
        let mut given = Map::new();
        for (name, value) in pairs(parts)?.into_iter().filter(|(name, _)| name != "as") {
            match given.get_mut(&name) {
                None => drop(given.insert(name, value.into())),
                Some(Value::String(list)) if matches!(&*name, "types" | "roles") => {
                    list.push(',');
                    list.push_str(&value);
                }
                Some(_) => return Err(CallError::invalid(format!("/{name}"), "give this parameter once")),
            }
        }
        json::parse(Value::Object(given).to_string().as_bytes()).map(Self)
    }
}

/// The agent as which the call is made, if it names one.
pub(crate) fn acting(parts: &Parts) -> Result<Option<String>, CallError> {
    let mut named = pairs(parts)?.into_iter().filter(|(name, _)| name == "as").map(|(_, value)| value);
    let Some(name) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err(CallError::invalid("/as", "give this parameter once"));
    }
    Ok(Some(name))
}

fn pairs(parts: &Parts) -> Result<Vec<(String, String)>, CallError> {
    let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    query.map(|query| query.0).map_err(|error| CallError::new("bad_query", error.to_string()))
}

/// The collection that the path names, if it names one.
pub(crate) async fn collection(parts: &mut Parts, app: &App) -> Result<Option<CollectionName>, CallError> {
    let Ok(text) = segment(parts, app, CollectionName::NAME).await else { return Ok(None) };
    text.parse().map(Some).map_err(|_| absent("collection", &text))
}

/// The session that the path names.
pub(crate) async fn session_id(parts: &mut Parts, app: &App) -> Result<SessionId, CallError> {
    InPath::from_request_parts(parts, app).await.map(|InPath(id)| id)
}

/// The roles in a list that is separated by commas.
pub(crate) fn roles(list: Option<&str>) -> Result<Vec<Role>, CallError> {
    let role = |word: &str| {
        let read: Result<_, value::Error> = Role::deserialize(word.to_ascii_uppercase().into_deserializer());
        read.map_err(|_| CallError::invalid("/roles", format!("{word:?} is not a role: use USER, AI, SYSTEM or TOOL")))
    };
    api::words(list).map(role).collect()
}
