//! A base URL for programs that use OpenAI's or Anthropic's clients: they go on as they are, and their conversation is kept in a
//! session. Each request is a turn: what is new in it is appended, the prompt is Callboard's, and the answer passes as it comes.

mod again;
mod conversation;
mod declared;
mod dialect;
mod keyed;
mod known;
mod pass;
mod unknown;

use axum::{
    Json, Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
    routing::any,
};
use bytes::Bytes;
use callboard_api as api;
use callboard_core::{
    count::Tokens,
    entry::{Actor, Hash},
    exact::with_quoted,
    id::{AgentName, SessionId, ThreadId},
    prompt::{LayoutName, profile::Profile},
    run::own::AnswerTurn,
};
use callboard_engine::{DEFAULT_WINDOW, PromptSpec, window_of};
use callboard_model::{Forwarded, ModelError, ModelName};
use serde_json::{Map, Value};

use self::{
    conversation::Conversation,
    dialect::{Asked, Complaint, Dialect, Mode, texts},
};
use crate::{
    app::App,
    body::{self, RequestBody},
    call_error::CallError,
    caller::{Authorized, AuthorizedOnServer, Caller, Credentials},
    resources::{prompt, session},
    rights::{CreateSession, ReadSession},
    secret,
    surrogates::repair,
    write_options::{WriteOptions, write_options},
};

/// The routes: with a session and an agent in the path, or an access token that says them.
pub(crate) fn routes(app: &App) -> Router {
    let mut router = Router::new();
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        for (before, names) in [("/gateway/{session}/{agent}", true), ("/gateway", false)] {
            let begin = format!("{before}/{}", dialect.provider().as_str());
            let app = app.clone();
            let answer = move |request: Request| {
                let app = app.clone();
                async move {
                    let answered = answer(&app, dialect, names, request).await;
                    answered.unwrap_or_else(|complaint| complaint.response(dialect))
                }
            };
            // The base URL itself, with a slash at its end or without, and what is below it.
            for end in ["", "/", "/{*path}"] {
                router = router.route(&format!("{begin}{end}"), any(answer.clone()));
            }
        }
    }
    router
}

/// Who asks, and where.
struct Place {
    session: SessionId,
    agent: AgentName,
    /// What the calls are made with.
    caller: Caller,
    is_user: bool,
}

async fn answer(app: &App, dialect: Dialect, names: bool, request: Request) -> Result<Response, Complaint> {
    let (parts, body) = request.into_parts();
    let credentials = credentials(app, &parts.headers)?;
    let segments: Vec<String> = parts.uri.path().split('/').skip(2).map(decoded).collect();
    let place = place(app, credentials, names.then_some(&segments)).await?;
    let path = segments.get(if names { 3 } else { 1 }..).unwrap_or_default().join("/");
    let path = path.strip_prefix("v1/").unwrap_or(&path);
    let mode = Mode::of(&parts.headers)?;
    let dialect = if path == "responses" && dialect == Dialect::OpenAi { Dialect::Responses } else { dialect };
    let method = parts.method.clone();
    match (dialect, &method, path) {
        (Dialect::OpenAi, &Method::POST, "chat/completions")
        | (Dialect::Responses, &Method::POST, "responses")
        | (Dialect::Anthropic, &Method::POST, "messages") => {
            chat(app, place, Call { dialect, mode, body: read(app, &parts, body).await?, parts }, path).await
        }
        (Dialect::Anthropic, &Method::POST, "messages/count_tokens") => {
            count(app, place, Call { dialect, mode, body: read(app, &parts, body).await?, parts }, path).await
        }
        (Dialect::OpenAi, &Method::POST, "embeddings") => {
            let Sent { bytes, .. } = read(app, &parts, body).await?;
            pass_on(app, dialect, path, &parts.headers, Some(bytes)).await
        }
        // Clients open their connection with it.
        (_, &Method::HEAD, "" | "v1") => Ok(StatusCode::NO_CONTENT.into_response()),
        (_, &Method::GET, "" | "v1") => Ok(about(dialect, &place)),
        (_, &Method::GET, "models") => pass_on(app, dialect, path, &parts.headers, None).await,
        _ => Err(Complaint::new(
            StatusCode::NOT_FOUND,
            format!("{method} {path} is not answered here: {} are", dialect.calls().join(", ")),
        )),
    }
}

/// What a base URL says of itself.
fn about(dialect: Dialect, place: &Place) -> Response {
    let Place { session, agent, .. } = place;
    let about = format!("a base URL for clients of the API: the conversations of {agent} in the session {session}");
    let about = serde_json::json!({"about": about, "session": session, "agent": agent, "calls": dialect.calls()});
    Json(about).into_response()
}

/// What a client sent.
struct Sent {
    bytes: Bytes,
    object: Map<String, Value>,
}

/// A call of an API.
struct Call {
    dialect: Dialect,
    mode: Mode,
    parts: Parts,
    body: Sent,
}

fn decoded(segment: &str) -> String {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// Reads the body, which is a JSON object.
async fn read(app: &App, parts: &Parts, body: Body) -> Result<Sent, Complaint> {
    let bytes = body::collect(&parts.headers, body, &app.settings.limits).await?;
    let repaired = repair(&bytes);
    let json: &[u8] = repaired.as_ref().map_or(&bytes, |repaired| &repaired.json);
    let mut object: Map<String, Value> = serde_json::from_slice(json)
        .map_err(|error| Complaint::new(StatusCode::BAD_REQUEST, format!("the body is no JSON object: {error}")))?;
    // What was said keeps its digits. In schemas of tools a number stays one.
    if let Some(quoted) = with_quoted(json) {
        let said: Map<String, Value> = serde_json::from_str(&quoted).unwrap_or_default();
        object.extend(said.into_iter().filter(|(field, _)| ["input", "messages"].contains(&field.as_str())));
    }
    Ok(Sent { bytes, object })
}

/// The token, in either API's header. Where the server wants none, any key of a client does.
fn credentials(app: &App, headers: &HeaderMap) -> Result<Credentials, CallError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    let token = bearer.or(text("x-api-key")).map(str::trim).filter(|token| !token.is_empty());
    match token {
        Some(token) if !app.user_tokens.is_empty() || secret::session_of(token).is_some() => {
            Ok(Credentials::of(app, token))
        }
        None if !app.user_tokens.is_empty() => {
            Err(CallError::unauthorized("this server requires a token as the API key"))
        }
        _ => Ok(Credentials::User),
    }
}

/// The session and the agent that the path names, or else the token.
async fn place(app: &App, credentials: Credentials, named: Option<&Vec<String>>) -> Result<Place, Complaint> {
    let me = credentials.me(app).await?;
    let is_user = me.role.is_none();
    let (session, agent) = match (named.map(Vec::as_slice), &me.session) {
        (Some([session, agent, ..]), _) => (session.clone(), agent.clone()),
        (_, Some(session)) if !is_user => (session.to_string(), me.name.clone()),
        _ => {
            let told = "the base URL names no session and agent: use /gateway/SESSION/AGENT, or an agent's access token as the API key";
            return Err(Complaint::new(StatusCode::NOT_FOUND, told));
        }
    };
    if let Some(own) = me.session.as_ref().filter(|own| own.as_str() != session) {
        return Err(CallError::unauthorized(format!("this token is for the session {own} alone")).into());
    }
    if !is_user && agent != me.name {
        return Err(CallError::forbidden(format!("this token is {}'s alone", me.name)).into());
    }
    let session = SessionId::try_from(session).map_err(|error| CallError::not_found("session", error.text))?;
    let agent: AgentName = agent.parse().map_err(|_| CallError::not_found("agent", &agent))?;
    Ok(Place { session, agent, caller: Caller { credentials, acting: None }, is_user })
}

/// Who asks in the session, if it is there. Only the user may ask where it is not.
async fn present(app: &App, place: &Place) -> Result<Option<Authorized<ReadSession>>, Complaint> {
    match Authorized::enter(app, &place.caller, &place.session).await {
        Err(error) if error.code == "not_found" && place.is_user => Ok(None),
        entered => Ok(Some(entered?)),
    }
}

/// The same in a session that the user's first request makes.
async fn entered(app: &App, place: &Place) -> Result<Authorized<ReadSession>, Complaint> {
    if let Some(reader) = present(app, place).await? {
        return Ok(reader);
    }
    let server = AuthorizedOnServer::<CreateSession>::enter(app, &place.caller).await?;
    let agents = serde_json::json!([{"name": place.agent, "role": "worker"}]);
    let new = serde_json::json!({"id": place.session, "agents": agents});
    let new: api::NewSession =
        serde_json::from_value(new).map_err(|error| CallError::invalid("", error.to_string()))?;
    match session::create_session(server, RequestBody { body: new, options: WriteOptions::default() }).await {
        // Somebody else was faster.
        Err(error) if error.code != "session_exists" => Err(error.into()),
        _ => Ok(Authorized::enter(app, &place.caller, &place.session).await?),
    }
}

/// What a client asks for. If it names no model, the agent's is asked, or else the usual one of the server.
async fn understood(
    app: &App,
    place: &Place,
    (dialect, mode): (Dialect, Mode),
    mut object: Map<String, Value>,
) -> Result<Asked, Complaint> {
    if mode == Mode::Manage && object.get("model").is_none_or(Value::is_null) {
        let of_agent = match present(app, place).await? {
            Some(reader) => {
                let state = reader.session.state().await?;
                state.team.agent(&place.agent).ok().and_then(|agent| agent.model.clone())
            }
            None => None,
        };
        if let Some(model) = of_agent.or_else(|| app.settings.runs.model.clone()) {
            let model: ModelName =
                model.parse().map_err(|error: ModelError| Complaint::refused("/model", &error.to_string()))?;
            object.insert("model".to_owned(), model.to_string().into());
        }
    }
    dialect.read(object, mode)
}

/// One request of a conversation.
async fn chat(app: &App, place: Place, call: Call, path: &str) -> Result<Response, Complaint> {
    let Call { dialect, mode, parts, body: Sent { bytes, object } } = call;
    let options = write_options(&parts, &bytes)?;
    let mut asked = understood(app, &place, (dialect, mode), object).await?;
    if options.request.is_some() {
        dialect.check_key(&asked)?;
    }
    let open = app.asking.begin().await?;
    let reader = entered(app, &place).await?;
    let session = &reader.session;
    let by = if place.is_user { Actor::User } else { Actor::Agent(place.agent.clone()) };
    let keyed = match keyed::begin(app, session, by, &options, (dialect, &asked)).await? {
        keyed::Begun::Answered(answer) => return Ok(answer),
        keyed::Begun::Open(keyed) => keyed,
    };
    let conversation = Conversation { session, agent: &place.agent, is_user: place.is_user, dialect };
    let placed = {
        // Requests that come at once each see what the others have added.
        let key = (Some(place.session.clone()), format!("conversation of {}", place.agent));
        let _guard = app.locks.take(key).await;
        conversation.append(&asked).await?
    };
    let state = session.known()?;
    let wanted = wanted(&place, dialect, &asked, placed.thread, &state.session.settings.prompt);
    let prompt = if mode == Mode::Record || placed.before_answer.is_some() {
        let spec = PromptSpec { at: placed.before_answer, ..wanted };
        let sent = (mode == Mode::Record).then(|| Hash::of(&bytes));
        prompt::note(&reader, &spec, sent, app.asking.name().clone()).await?
    } else {
        let asker = Some(app.asking.name().clone());
        reader.record_turn(wanted, asker, false, WriteOptions::default()).await?.body
    };
    let turn = prompt.turn.ok_or_else(|| CallError::new("internal", "the turn was not recorded"))?;
    let body = match mode {
        Mode::Record => bytes,
        Mode::Manage => {
            dialect.fill(&mut asked, prompt);
            Value::Object(asked.body).to_string().into()
        }
    };
    let request = Forwarded {
        provider: dialect.provider(),
        path: dialect.path(path),
        headers: dialect.headers(&parts.headers),
        body: Some(body),
    };
    let answered = pass::Answered {
        turn,
        answer: Authorized::<AnswerTurn>::enter(app, &place.caller, &place.session).await?,
        dialect,
        is_stream: asked.is_stream,
        is_managed: mode == Mode::Manage,
        hides_usage: mode == Mode::Manage && dialect == Dialect::OpenAi && !asked.wants_usage,
        keyed,
        _open: open,
    };
    pass::ask(app.settings.models.clone(), request, answered).await
}

/// The prompt of a conversation. Unless the session says how large it may be, it leaves the room for the answer that the client asks for:
/// providers refuse a prompt that is longer than the window with it. At most half of the window is left.
fn wanted(place: &Place, dialect: Dialect, asked: &Asked, thread: ThreadId, profile: &Profile) -> PromptSpec {
    let model = format!("{}:{}", dialect.provider().as_str(), asked.model);
    let window = window_of(&model).unwrap_or(DEFAULT_WINDOW);
    let room = dialect.answer_tokens(asked).min(Tokens(window.0 / 2));
    let is_larger = profile.budget.is_none() && room > profile.room_for_answer(window);
    PromptSpec {
        agent: Some(place.agent.clone()),
        thread: Some(thread),
        layout: Some(LayoutName::Plain),
        model: Some(model),
        budget: is_larger.then(|| window.minus(room)),
        format: dialect.format(),
        ..PromptSpec::default()
    }
}

/// Counts the tokens of the prompt that the same request would have. Nothing is added to the conversation; one that is not known goes
/// on as it is.
async fn count(app: &App, place: Place, call: Call, path: &str) -> Result<Response, Complaint> {
    let Call { dialect, mode, parts, body: Sent { mut bytes, object } } = call;
    let mut asked = understood(app, &place, (dialect, mode), object).await?;
    let reader = present(app, &place).await?;
    if mode == Mode::Manage {
        let known = match &reader {
            Some(reader) => {
                let (session, is_user) = (&reader.session, place.is_user);
                let conversation = Conversation { session, agent: &place.agent, is_user, dialect };
                conversation.known_of(&asked).await?.map(|placed| (reader, placed))
            }
            None => None,
        };
        match known {
            Some((reader, placed)) => {
                let state = reader.session.known()?;
                let wanted = wanted(&place, dialect, &asked, placed.thread, &state.session.settings.prompt);
                let prompt = reader.prompt(wanted, false).await?;
                let new = asked.messages.split_off(placed.known);
                dialect.fill(&mut asked, prompt);
                if let Some(messages) = asked.body.get_mut("messages").and_then(Value::as_array_mut) {
                    messages.extend(to_count(new));
                }
            }
            None => {
                asked.body.insert(dialect.list().to_owned(), asked.messages.into());
            }
        }
        bytes = Value::Object(asked.body).to_string().into();
    }
    pass_on(app, dialect, path, &parts.headers, Some(bytes)).await
}

/// New messages as they are counted behind a prompt.
fn to_count(mut new: Vec<Value>) -> Vec<Value> {
    // Callboard's own marks for the cache are in the prompt.
    let said = new.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut()).flatten();
    for fields in said.filter_map(Value::as_object_mut) {
        fields.remove("cache_control");
    }
    // The calls of these results may be in the prompt in another form.
    let blocks = new.first_mut().and_then(|first| first.get_mut("content")?.as_array_mut());
    for block in blocks.into_iter().flatten() {
        if block.get("type").and_then(Value::as_str) == Some("tool_result") {
            *block = serde_json::json!({"type": "text", "text": texts(block.get("content"))});
        }
    }
    new
}

/// A request that has nothing to do with a conversation.
async fn pass_on(
    app: &App,
    dialect: Dialect,
    path: &str,
    headers: &HeaderMap,
    body: Option<Bytes>,
) -> Result<Response, Complaint> {
    let request =
        Forwarded { provider: dialect.provider(), path: dialect.path(path), headers: dialect.headers(headers), body };
    let answer = app.settings.models.forward(request).await?;
    Ok(pass::whole(answer))
}
