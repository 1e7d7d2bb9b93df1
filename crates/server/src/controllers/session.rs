//! Sessions.

use axum::{extract, http::StatusCode};
use callboard_core::{
    agent::Agent,
    entry::Actor,
    error::ConflictKind,
    id::{Seq, SessionId},
    prompt::profile::Profile,
    run::Limits,
    session::{Grant, SessionPatch, Settings, Share, Ttl, Visible},
    state::State,
    step::Steps,
    time::Timestamp,
    view::View,
};
use callboard_engine::{Board, Error, NewBoardSession, Session, SessionInfo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    caller::{Authorized, AuthorizedOnServer},
    cursor, files,
    idempotency::Attempt,
    params::{Query, SessionName, number},
    problem::Problem,
    rights::{ChangeSession, CreateSession, DeleteSession, ForkSession, ListSessions, Rank, ReadSession},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(read, update, delete)).routes(routes!(fork))
}

/// A session, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionBody {
    #[schema(value_type = String)]
    id: SessionId,
    /// The number of its last entry.
    #[schema(value_type = u64)]
    head: Seq,
    title: Option<String>,
    /// A worker sees of others only who they are.
    #[schema(value_type = Vec<shape::agent::AgentShape>)]
    agents: Vec<Agent>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    last_activity: Timestamp,
    /// `null` is never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = shape::session::TtlShape)]
    ttl_seconds: Ttl,
    /// What the user and the manager see besides.
    #[serde(flatten)]
    #[schema(value_type = More, inline)]
    more: Option<More>,
}

/// What the user and the manager see of a session besides.
#[derive(Serialize, ToSchema)]
struct More {
    #[schema(value_type = shape::session::AudienceShape, required = false)]
    default_visibility: Visible,
    #[schema(value_type = Vec<shape::session::ShareShape>, required = false)]
    share: Vec<Share>,
    #[schema(value_type = Vec<shape::session::GrantShape>, required = false)]
    grant: Vec<Grant>,
    #[schema(value_type = shape::profile::ProfileShape, required = false)]
    prompt: Profile,
    #[schema(value_type = shape::session::LimitsShape, required = false)]
    limits: Limits,
    #[serde(skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<shape::step::StepShape>, required = false)]
    steps: Steps,
}

impl SessionBody {
    /// What the user sees of it.
    fn of(info: SessionInfo) -> Self {
        let SessionInfo { id, head, created_at, last_activity, expires_at, agents, settings } = info;
        let Settings { title, default_visibility, share, grant, prompt, ttl_seconds, limits, steps } = settings;
        let more = Some(More { default_visibility, share, grant, prompt, limits, steps });
        Self { id, head, title, agents, created_at, last_activity, expires_at, ttl_seconds, more }
    }

    /// What a viewer sees of it.
    fn seen(view: &View<'_>, info: SessionInfo) -> Self {
        let mut seen = Self::of(info);
        if !view.is_in_charge() {
            seen.more = None;
            let own = |agent: &Agent| view.agent() == Some(&agent.name);
            let public = |agent: Agent| Agent { instructions: None, model: None, tools: Vec::new(), ..agent };
            seen.agents =
                seen.agents.into_iter().map(|agent| if own(&agent) { agent } else { public(agent) }).collect();
        }
        seen
    }
}

/// What is known of a session of this state, which its last entry was its last use of.
fn known(id: &SessionId, state: &State) -> SessionInfo {
    let settings = state.session.settings.clone();
    SessionInfo {
        id: id.clone(),
        head: state.head.seq,
        created_at: state.session.created_at,
        last_activity: state.last_at,
        expires_at: settings.ttl_seconds.expires_at(state.last_at),
        agents: state.team.agents().cloned().collect(),
        settings,
    }
}

/// A session that was made, as its first answer shows it and every later one to the same request.
pub(super) async fn made(session: &Session) -> Result<serde_json::Value, Problem> {
    let body = SessionBody::of(session.info().await?);
    serde_json::to_value(body)
        .map_err(|error| Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string()))
}

/// How many sessions are given where nothing is said.
const LIMIT: usize = 1000;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// At most so many; 1,000 where it is left out, which is also the most.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^(3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]){1,128}$")]
    cursor: Option<String>,
    /// `id`, or `recent` for the ones used last, the last one first: these are no pages, but the first of all, behind a
    /// cursor of those with later ids.
    #[serde(default)]
    #[param(value_type = OrderShape, inline, required = false)]
    order: Order,
}

/// In which order sessions are given.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// By their ids.
    #[default]
    Id,
    /// By their last use.
    Recent,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SessionOrder, rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum OrderShape {
    Id,
    Recent,
}

/// Sessions, by id or by their last use.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    sessions: Vec<SessionBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List sessions
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions", params(ListQuery),
    responses((status = OK, description = "Sessions by id", body = SessionList)))]
async fn list(
    server: AuthorizedOnServer<ListSessions>,
    Query(query): Query<ListQuery>,
) -> Result<Answer<SessionList>, Problem> {
    let limit = query.limit.unwrap_or(LIMIT).min(LIMIT);
    let after = query.cursor.as_deref().map(cursor::session).transpose()?;
    if query.order == Order::Recent {
        let recent = server.app.board.recent_sessions(after.as_ref(), limit).await?;
        let sessions = recent.into_iter().map(SessionBody::of).collect();
        return Ok(Answer::ok(SessionList { sessions, next_cursor: None }));
    }
    let mut infos = server.app.board.sessions(after.as_ref(), limit.saturating_add(1)).await?;
    let next_cursor = cursor::cut(&mut infos, limit, |info| info.id.as_str());
    let sessions = infos.into_iter().map(SessionBody::of).collect();
    Ok(Answer::ok(SessionList { sessions, next_cursor }))
}

/// What a new session is made of.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSession)]
pub(crate) struct NewSessionBody {
    /// Its name; a new one where it is left out.
    #[schema(value_type = Option<shape::text::SessionId>)]
    id: Option<SessionId>,
    #[schema(value_type = Option<shape::text::Title>)]
    title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::agent::AgentShape>)]
    agents: Vec<Agent>,
    #[schema(value_type = Option<shape::session::AudienceShape>)]
    default_visibility: Option<Visible>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::session::ShareShape>)]
    share: Vec<Share>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::session::GrantShape>)]
    grant: Vec<Grant>,
    #[schema(value_type = Option<shape::profile::ProfileShape>)]
    prompt: Option<Profile>,
    /// The inactivity after which it expires: seconds above 0, or `never`.
    #[schema(value_type = Option<shape::session::TtlShape>)]
    ttl_seconds: Option<Ttl>,
    #[schema(value_type = Option<shape::session::LimitsShape>)]
    limits: Option<Limits>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::step::StepShape>)]
    steps: Steps,
}

/// Make a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "create_session",
    request_body = Option<NewSessionBody>,
    responses((status = CREATED, description = "The session", body = SessionBody)))]
async fn create(
    server: AuthorizedOnServer<CreateSession>,
    request: RequestBody<NewSessionBody>,
) -> Result<Answer<Value>, Problem> {
    let RequestBody { body, options } = request;
    let board = &server.app.board;
    let id = body.id.clone().unwrap_or_else(|| board.new_id());
    let made =
        server.app.idempotent(Actor::User, &options, None, id, |attempt| make_session(board, body, attempt)).await?;
    Ok(Answer::created(made))
}

async fn make_session(board: &Board, body: NewSessionBody, attempt: Attempt<SessionId>) -> Result<Value, Problem> {
    let NewSessionBody { title, agents, default_visibility, share, grant, prompt, ttl_seconds, limits, steps, .. } =
        body;
    let settings = Settings {
        title,
        default_visibility: default_visibility.unwrap_or_default(),
        share,
        grant,
        prompt: prompt.unwrap_or_default(),
        ttl_seconds: ttl_seconds.unwrap_or(board.default_ttl()),
        limits: limits.unwrap_or_default(),
        steps,
    };
    let new = NewBoardSession { id: Some(attempt.intent.clone()), agents, settings: Some(settings) };
    let session = match board.create(new).await {
        Err(error) if attempt.is_repeat && error.is(ConflictKind::SessionExists) => {
            board.session(&attempt.intent).await?
        }
        session => session?,
    };
    made(&session).await
}

/// Read a session
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "read_session",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The session, as far as the caller may know it", body = SessionBody)))]
async fn read(caller: Authorized<ReadSession>) -> Result<Answer<SessionBody>, Problem> {
    let look = |view: View<'_>, info: SessionInfo| (info.head, SessionBody::seen(&view, info));
    let (head, body) = caller.session.info_seen(&caller.viewer(), look).await?;
    Ok(Answer::ok(body).at(head))
}

/// Change a session or its team
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "update_session",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<shape::session::SessionPatchShape>,
    responses((status = OK, description = "The session after it", body = SessionBody)))]
async fn update(
    caller: Authorized<ChangeSession>,
    request: RequestBody<SessionPatch>,
) -> Result<Answer<SessionBody>, Problem> {
    let receipt = caller.execute(request.options, request.body).await?;
    let look =
        |view: callboard_core::view::View<'_>| Ok(SessionBody::seen(&view, known(caller.session.id(), view.state)));
    let body = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

/// Delete all there is of a session
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "delete_session",
    params(("session" = String, Path, description = "The session")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn delete(
    extract::State(app): extract::State<App>,
    caller: Result<Authorized<DeleteSession>, Problem>,
    SessionName(id): SessionName,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    let there = match caller {
        Ok(caller) => Some(caller),
        // Only the user gets to know that there is no such session. The same request may have deleted it.
        Err(problem) if problem.status == StatusCode::NOT_FOUND && request.options.request.is_some() => None,
        Err(problem) => return Err(problem),
    };
    if let Some(caller) = &there {
        caller.expect(&request.options).await?;
    }
    let was_gone = there.is_none();
    app.idempotent(Actor::User, &request.options, None, id, |attempt| remove(&app, attempt, was_gone)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(app: &App, attempt: Attempt<SessionId>, was_gone: bool) -> Result<Value, Problem> {
    let deleted = app.board.delete(&attempt.intent).await;
    if let (Ok(()), Some(files)) = (&deleted, &app.files) {
        files.end(&attempt.intent, files::now(&app.board).await?).await;
    }
    match deleted {
        Err(Error::NoSession { .. }) if attempt.is_repeat && was_gone => Ok(Value::Null),
        deleted => Ok(deleted.map(|()| Value::Null)?),
    }
}

/// Where a session is forked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fork {
    /// The last entry that the fork has; the head where it is left out. For the user.
    #[schema(value_type = Option<u64>, minimum = 1)]
    at: Option<Seq>,
    /// The name of the fork; a new one where it is left out.
    #[schema(value_type = Option<shape::text::SessionId>)]
    id: Option<SessionId>,
}

/// Make a session whose journal is the beginning of this one's
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions", operation_id = "fork_session",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<Fork>,
    responses((status = CREATED, description = "The fork", body = SessionBody)))]
async fn fork(caller: Authorized<ForkSession>, request: RequestBody<Fork>) -> Result<Answer<Value>, Problem> {
    let RequestBody { body: Fork { at, id }, options } = request;
    if at.is_some() && caller.rank != Rank::User {
        return Err(caller.forbidden("fork at an earlier entry"));
    }
    let at = match at {
        Some(at) => at,
        None => caller.session.state().await?.head.seq,
    };
    let intent = Intent { id: id.unwrap_or_else(|| caller.app.board.new_id()), at };
    let make = async |attempt| {
        caller.expect(&options).await?;
        make_fork(&caller, attempt).await
    };
    let made = caller.app.idempotent(caller.actor.clone(), &options, None, intent, make).await?;
    Ok(Answer::created(made))
}

/// What is made for a request, also where it comes again.
#[derive(Serialize, Deserialize)]
struct Intent {
    id: SessionId,
    at: Seq,
}

async fn make_fork(caller: &Authorized<ForkSession>, attempt: Attempt<Intent>) -> Result<Value, Problem> {
    let (board, Intent { id, at }) = (&caller.app.board, attempt.intent);
    let fork = match attempt.is_repeat {
        true => board.fork_again(&caller.session, at, &id).await?,
        false => board.fork(&caller.session, Some(at), Some(id)).await?,
    };
    made(&fork).await
}
