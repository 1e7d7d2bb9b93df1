//! Parameters in the URL of a call: names in its path, and its query.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use callboard_core::{
    error::Error,
    id::{
        BadName, CollectionName, DocumentName, ExecutionId, MessageId, NodeId, RunId, Seq, SessionId, SetName,
        ThreadId, VariableName,
    },
};
use serde::de::DeserializeOwned;

use crate::{app::App, calls::CallError};

/// A name in the path, percent-decoded: `%2F` is a `/` of the name.
pub(crate) struct Name<T>(pub(crate) T);

/// A name that can be a parameter of a path.
pub(crate) trait InPath: FromStr<Err = BadName> {
    /// The name of the parameter.
    const PARAM: &'static str;
}

impl InPath for SetName {
    const PARAM: &'static str = "name";
}

impl InPath for CollectionName {
    const PARAM: &'static str = "collection";
}

impl InPath for DocumentName {
    const PARAM: &'static str = "name";
}

impl InPath for ThreadId {
    const PARAM: &'static str = "thread";
}

impl InPath for MessageId {
    const PARAM: &'static str = "message";
}

impl InPath for RunId {
    const PARAM: &'static str = "run";
}

impl InPath for ExecutionId {
    const PARAM: &'static str = "execution";
}

impl InPath for VariableName {
    const PARAM: &'static str = "name";
}

impl<T: InPath> FromRequestParts<App> for Name<T> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        let name = segment(parts, app, T::PARAM).await?;
        let invalid = |error: BadName| CallError::invalid(format!("/{}", T::PARAM), error.to_string());
        let name = name.parse().map_err(invalid)?;
        Ok(Self(name))
    }
}

/// The number of an entry in the path.
pub(crate) struct EntryNumber(pub(crate) Seq);

impl FromRequestParts<App> for EntryNumber {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        let number = segment(parts, app, "seq").await?;
        let invalid = |_| CallError::invalid("/seq", format!("{number:?} is no number of an entry"));
        let seq = number.parse().map_err(invalid)?;
        Ok(Self(Seq(seq)))
    }
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

/// The name of a picture of a page in the path.
pub(crate) struct ScreenshotFile(pub(crate) String);

impl FromRequestParts<App> for ScreenshotFile {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        segment(parts, app, "file").await.map(Self)
    }
}

/// The name of one of Callboard's own tools in the path.
pub(crate) struct ToolName(pub(crate) String);

impl FromRequestParts<App> for ToolName {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        segment(parts, app, "tool").await.map(Self)
    }
}

/// The id of a node of the workflow in the path. What is none is the id of nothing.
pub(crate) struct WorkflowNode(pub(crate) NodeId);

impl FromRequestParts<App> for WorkflowNode {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        let text = segment(parts, app, "node").await?;
        let absent = |_| Error::not_found("node", text.chars().take(60).collect::<String>());
        Ok(Self(text.parse().map_err(absent)?))
    }
}

/// The number of a turn in the path.
pub(crate) struct TurnNumber(pub(crate) Seq);

impl FromRequestParts<App> for TurnNumber {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        number(parts, app, "turn", "turn").await.map(|number| Self(Seq(number)))
    }
}

/// The number of a version of the plan in the path.
pub(crate) struct VersionNumber(pub(crate) u64);

impl FromRequestParts<App> for VersionNumber {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        number(parts, app, "version", "version of the plan").await.map(Self)
    }
}

/// The number of a task of the plan in the path.
pub(crate) struct TaskNumber(pub(crate) u64);

impl FromRequestParts<App> for TaskNumber {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        number(parts, app, "task", "task").await.map(Self)
    }
}

/// A number in the path. What is none is the number of nothing.
async fn number(parts: &mut Parts, app: &App, param: &str, what: &'static str) -> Result<u64, CallError> {
    let text = segment(parts, app, param).await?;
    let absent = || Error::not_found(what, text.chars().take(60).collect::<String>());
    callboard_api::whole(&text).ok_or_else(|| absent().into())
}

/// The id of a token in the path.
pub(crate) struct TokenId(pub(crate) String);

impl FromRequestParts<App> for TokenId {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        segment(parts, app, "token").await.map(Self)
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
        let mut given = form::Form::default();
        for (name, value) in pairs(parts)? {
            if name != "as" {
                given.add(name, value)?;
            }
        }
        given.read().map(Self)
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

mod form {
    //! Reads a query as a value of any type. Each parameter is a text.

    use serde::de::DeserializeOwned;
    use serde_json::{Map, Value};

    use crate::{calls::CallError, json};

    /// Parameters by name. Repeated lists are joined.
    #[derive(Default)]
    pub(super) struct Form(Map<String, Value>);

    impl Form {
        pub(super) fn add(&mut self, name: String, value: String) -> Result<(), CallError> {
            match self.0.get_mut(&name) {
                None => {
                    self.0.insert(name, Value::String(value));
                }
                Some(Value::String(list)) if matches!(&*name, "types" | "roles") => {
                    list.push(',');
                    list.push_str(&value);
                }
                Some(_) => return Err(CallError::invalid(format!("/{name}"), "give this parameter once")),
            }
            Ok(())
        }

        pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, CallError> {
            let text = Value::Object(self.0).to_string();
            json::parse(text.as_bytes())
        }
    }
}

/// What the path names: a session or a collection.
pub(crate) enum Place {
    Session(SessionId),
    Collection(CollectionName),
}

/// The session or collection that the path names.
pub(crate) async fn place(parts: &mut Parts, app: &App) -> Result<Place, CallError> {
    let Ok(text) = segment(parts, app, CollectionName::PARAM).await else {
        return session_id(parts, app).await.map(Place::Session);
    };
    let shown = || Error::not_found("collection", text.chars().take(60).collect::<String>());
    Ok(Place::Collection(text.parse().map_err(|_| shown())?))
}

/// The session that the path names.
pub(crate) async fn session_id(parts: &mut Parts, app: &App) -> Result<SessionId, CallError> {
    let text = segment(parts, app, "session").await?;
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(60).collect();
        CallError::not_found(format!("there is no session {shown:?}"))
    })
}
