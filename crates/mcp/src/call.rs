//! Calls of the API, and why they are refused.

use std::sync::Arc;

use bytes::BytesMut;
use callboard_core::id::{AgentName, SessionId};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, MetaObject},
};
use serde_json::{Map, Value, json};

use crate::{Api, Offer, Pieces};

/// What is escaped in an address: all but what never needs to be.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Who asks, and for what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// What is sent with each call: the access token.
    pub headers: HeaderMap,
    /// The session that all calls are about. Where there is none, each names one.
    pub session: Option<SessionId>,
    /// The agent as which all calls are made, where the token does not say it.
    pub acting_as: Option<AgentName>,
    /// Which tools are offered.
    pub offer: Offer,
}

/// Who asks in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asker {
    /// The session; empty where none is meant.
    pub(crate) session: String,
    /// The agent, and whether it is a manager. `None` is the user.
    pub(crate) agent: Option<(String, bool)>,
}

/// Makes calls for one who asks.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) api: Arc<dyn Api>,
    pub(crate) scope: Scope,
}

/// A call of the API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiCall {
    pub(crate) method: Method,
    /// Its address, with the query so far.
    address: String,
    /// Whether it is about one session, in which one can act as an agent.
    is_of_session: bool,
    body: Option<Value>,
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// As the API gives it: `code`, `detail`, `hint` and so on.
    problem: Map<String, Value>,
}

/// A text as a part of an address.
pub fn escaped(text: &str) -> String {
    utf8_percent_encode(text, &ESCAPED).to_string()
}

/// JSON as an object; an empty one where it is none.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

impl ApiCall {
    /// A call on `path` of the whole server, segment by segment.
    pub(crate) fn new(method: Method, path: &[&str]) -> Self {
        let address = path.iter().map(|segment| format!("/{}", escaped(segment))).collect();
        Self { method, address, is_of_session: false, body: None }
    }

    /// A call on `path` below a session.
    pub(crate) fn on(session: &str, method: Method, path: &[&str]) -> Self {
        let whole: Vec<&str> = ["v1", "sessions", session].into_iter().chain(path.iter().copied()).collect();
        Self { is_of_session: true, ..Self::new(method, &whole) }
    }

    pub(crate) fn get(session: &str, path: &[&str]) -> Self {
        Self::on(session, Method::GET, path)
    }

    pub(crate) fn post(session: &str, path: &[&str], body: Value) -> Self {
        Self::on(session, Method::POST, path).with(body)
    }

    pub(crate) fn with(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.address.push(if self.address.contains('?') { '&' } else { '?' });
        self.address.push_str(&format!("{name}={}", escaped(value)));
        self
    }
}

impl Caller {
    /// Makes a call and reads its answer: JSON, or `null` where there is none.
    pub(crate) async fn ask(&self, call: ApiCall) -> Result<Value, Refusal> {
        let all = self.begin(call).await?.try_collect::<BytesMut>().await;
        let all = all.map_err(|error| Refusal::unanswered(error.to_string()))?;
        if all.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&all).map_err(|error| Refusal::unanswered(format!("the answer is no JSON: {error}")))
    }

    /// Makes a call and returns its answer as a stream.
    pub(crate) async fn begin(&self, call: ApiCall) -> Result<Pieces, Refusal> {
        let acting_as = self.scope.acting_as.as_ref().filter(|_| call.is_of_session);
        let call = match acting_as {
            Some(agent) => call.query("as", agent.as_str()),
            None => call,
        };
        let body: Pieces = match &call.body {
            Some(body) => stream::once(std::future::ready(Ok(body.to_string().into()))).boxed(),
            None => stream::empty().boxed(),
        };
        let request = Request::builder().method(call.method).uri(&call.address).body(body);
        let mut request = request.map_err(|error| Refusal::invalid(format!("this cannot be called: {error}")))?;
        request.headers_mut().extend(self.scope.headers.clone());
        if call.body.is_some() {
            request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let response = self.api.call(request).await.map_err(Refusal::unanswered)?;
        let (status, pieces) = (response.status(), response.into_body());
        if status.is_success() {
            return Ok(pieces);
        }
        Err(Refusal::of(status, &pieces.try_collect::<BytesMut>().await.unwrap_or_default()))
    }

    /// Who asks, in this session.
    pub(crate) async fn asker(&self, session: &str) -> Result<Asker, Refusal> {
        let me = self.ask(ApiCall::new(Method::GET, &["v1", "me"])).await?;
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let agent = match (me.get("role"), &self.scope.acting_as) {
            (Some(role), _) => Some((text(&me, "name"), role == "manager")),
            (None, Some(agent)) if !session.is_empty() => {
                let known = self.ask(ApiCall::get(session, &[])).await?;
                let agents = known.get("agents").and_then(Value::as_array);
                let itself =
                    agents.and_then(|agents| agents.iter().find(|other| text(other, "name") == agent.as_str()));
                Some((agent.to_string(), itself.is_some_and(|agent| text(agent, "role") == "manager")))
            }
            (None, Some(agent)) => Some((agent.to_string(), false)),
            (None, None) => None,
        };
        Ok(Asker { session: session.to_owned(), agent })
    }

    /// The session that is meant: the one of all calls, else the one that is named.
    pub(crate) fn session(&self, named: Option<&str>) -> Result<String, Refusal> {
        match (&self.scope.session, named) {
            (Some(own), Some(named)) if own.as_str() != named => {
                Err(Refusal::invalid(format!("this connection is for the session {own} alone")))
            }
            (Some(own), _) => Ok(own.to_string()),
            (None, Some(named)) => Ok(named.to_owned()),
            // Which sessions there are, agents are not told.
            (None, None) if self.scope.acting_as.is_some() => Err(Refusal::invalid("name the session in `session`")),
            (None, None) => Err(Refusal::invalid("name the session in `session`; `list_sessions` lists them")),
        }
    }
}

impl Asker {
    /// The conversation in which it speaks with those that it works for.
    pub(crate) fn own_thread(&self) -> String {
        match &self.agent {
            Some((name, false)) => format!("agent:{name}"),
            _ => "main".to_owned(),
        }
    }

    /// Whether it is a worker, which has a prompt for itself alone.
    pub(crate) fn is_worker(&self) -> bool {
        self.agent.as_ref().is_some_and(|(_, is_manager)| !is_manager)
    }
}

impl Refusal {
    fn of(status: StatusCode, body: &[u8]) -> Self {
        let problem = serde_json::from_slice(body)
            .unwrap_or_else(|_| Map::from_iter([("detail".to_owned(), json!(format!("the answer is {status}")))]));
        Self { status, problem }
    }

    /// Something is wrong with what was asked for, which the API was not asked about.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::with(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    }

    /// What the caller may not do here.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::with(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::with(StatusCode::NOT_FOUND, "not_found", detail)
    }

    fn unanswered(detail: impl Into<String>) -> Self {
        Self::with(StatusCode::BAD_GATEWAY, "unanswered", detail)
    }

    fn with(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let problem = json!({"status": status.as_u16(), "code": code, "detail": detail.into()});
        Self { status, problem: problem.as_object().cloned().unwrap_or_default() }
    }

    /// What is wrong, where, and what to do.
    pub(crate) fn text(&self) -> String {
        let part = |name: &str| self.problem.get(name).and_then(Value::as_str);
        let mut text = part("detail").or(part("title")).unwrap_or_default().to_owned();
        if let Some(pointer) = part("pointer") {
            text.push_str(&format!(" (at {pointer})"));
        }
        for fault in self.problem.get("errors").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| fault.get(name).and_then(Value::as_str).unwrap_or_default();
            text.push_str(&format!("\n{}: {}", part("pointer"), part("detail")));
        }
        // Where something is not there, it names a call of HTTP.
        if let Some(hint) = part("hint").filter(|_| part("code") != Some("not_found")) {
            text.push_str(&format!("\n{hint}"));
        }
        text
    }
}

/// A tool that was refused: its model is to read why.
impl From<Refusal> for CallToolResult {
    fn from(refusal: Refusal) -> Self {
        let meta = Map::from_iter([("callboard/problem".to_owned(), Value::Object(refusal.problem.clone()))]);
        Self::error(vec![ContentBlock::text(refusal.text())]).with_meta(Some(MetaObject(meta)))
    }
}

/// Anything else that was refused.
impl From<Refusal> for ErrorData {
    fn from(refusal: Refusal) -> Self {
        let (text, data) = (refusal.text(), Some(Value::Object(refusal.problem.clone())));
        match refusal.status {
            StatusCode::NOT_FOUND | StatusCode::GONE => Self::resource_not_found(text, data),
            status if status.is_client_error() => Self::invalid_params(text, data),
            _ => Self::internal_error(text, data),
        }
    }
}
