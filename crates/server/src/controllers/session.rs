//! Sessions.

use axum::{extract, http::StatusCode};
use callboard_api as api;
use callboard_core::{
    entry::Actor,
    error::ConflictKind,
    id::{Seq, SessionId},
    session::{SessionPatch, Settings},
    state::State,
    view::View,
};
use callboard_engine::{Board, Error, NewBoardSession, Session, SessionInfo};
use serde_json::Value;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, Created},
    app::App,
    body::{Empty, RequestBody},
    caller::{Authorized, AuthorizedOnServer},
    cursor, files,
    idempotency::Attempt,
    params::{Query, SessionName},
    problem::Problem,
    rights::{ChangeSession, CreateSession, DeleteSession, ForkSession, ListSessions, Rank, ReadSession},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(read, update, delete)).routes(routes!(fork))
}

/// What the user sees of a session.
fn whole(info: SessionInfo) -> api::Session {
    let SessionInfo { id, head, created_at, last_activity, expires_at, agents, settings } = info;
    let Settings { title, default_visibility, share, grant, prompt, ttl_seconds, limits, steps } = settings;
    let settings = Some(api::SessionSettings { default_visibility, share, grant, prompt, limits, steps });
    api::Session { id, head, title, agents, created_at, last_activity, expires_at, ttl_seconds, settings }
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
    let body = whole(session.info().await?);
    serde_json::to_value(body)
        .map_err(|error| Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string()))
}

/// How many sessions are given where nothing is said.
const LIMIT: usize = 1000;

/// List sessions
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions", params(api::SessionsQuery),
    responses((status = OK, description = "Sessions by id", body = api::SessionList)))]
async fn list(
    server: AuthorizedOnServer<ListSessions>,
    Query(query): Query<api::SessionsQuery>,
) -> Result<Answer<api::SessionList>, Problem> {
    server.list_sessions(query).await
}

/// Make a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "create_session",
    request_body = Option<api::NewSession>,
    responses((status = CREATED, description = "The session", body = api::Session)))]
async fn create(
    server: AuthorizedOnServer<CreateSession>,
    request: RequestBody<api::NewSession>,
) -> Result<Created<Value>, Problem> {
    server.create_session(request).await.map(Created)
}

async fn make_session(board: &Board, body: api::NewSession, attempt: Attempt<SessionId>) -> Result<Value, Problem> {
    let api::NewSession { title, agents, default_visibility, share, grant, prompt, ttl_seconds, limits, steps, .. } =
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
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The session, as far as the caller may know it", body = api::Session)))]
async fn read(caller: Authorized<ReadSession>) -> Result<Answer<api::Session>, Problem> {
    caller.read_session().await
}

/// Change a session or its team
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "update_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::SessionPatch>,
    responses((status = OK, description = "The session after it", body = api::Session)))]
async fn update(
    caller: Authorized<ChangeSession>,
    request: RequestBody<SessionPatch>,
) -> Result<Answer<api::Session>, Problem> {
    caller.update_session(request).await
}

/// Delete all there is of a session
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "delete_session",
    params(("session" = api::SessionId, Path, description = "The session")),
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

/// Make a session whose journal is the beginning of this one's
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions", operation_id = "fork_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::Fork>,
    responses((status = CREATED, description = "The fork", body = api::Session)))]
async fn fork(caller: Authorized<ForkSession>, request: RequestBody<api::Fork>) -> Result<Created<Value>, Problem> {
    caller.fork_session(request).await.map(Created)
}

impl AuthorizedOnServer<ListSessions> {
    /// List sessions
    pub(crate) async fn list_sessions(&self, query: api::SessionsQuery) -> Result<Answer<api::SessionList>, Problem> {
        let limit = query.limit.unwrap_or(LIMIT).min(LIMIT);
        let after = query.cursor.as_deref().map(cursor::session).transpose()?;
        if query.order == api::SessionOrder::Recent {
            let recent = self.app.board.recent_sessions(after.as_ref(), limit).await?;
            let sessions = recent.into_iter().map(whole).collect();
            return Ok(Answer::ok(api::SessionList { sessions, next_cursor: None }));
        }
        let mut infos = self.app.board.sessions(after.as_ref(), limit.saturating_add(1)).await?;
        let next_cursor = cursor::cut(&mut infos, limit, |info| info.id.as_str());
        let sessions = infos.into_iter().map(whole).collect();
        Ok(Answer::ok(api::SessionList { sessions, next_cursor }))
    }
}

impl AuthorizedOnServer<CreateSession> {
    /// Make a session
    pub(crate) async fn create_session(&self, request: RequestBody<api::NewSession>) -> Result<Answer<Value>, Problem> {
        let RequestBody { body, options } = request;
        let board = &self.app.board;
        let id = body.id.clone().unwrap_or_else(|| board.new_id());
        let made =
            self.app.idempotent(Actor::User, &options, None, id, |attempt| make_session(board, body, attempt)).await?;
        Ok(Answer::ok(made))
    }
}

impl Authorized<ReadSession> {
    /// Read a session
    pub(crate) async fn read_session(&self) -> Result<Answer<api::Session>, Problem> {
        let look = |view: View<'_>, info: SessionInfo| (info.head, whole(info).seen(&view));
        let (head, body) = self.session.info_seen(&self.viewer(), look).await?;
        Ok(Answer::ok(body).at(head))
    }
}

impl Authorized<ChangeSession> {
    /// Change a session or its team
    pub(crate) async fn update_session(
        &self,
        request: RequestBody<SessionPatch>,
    ) -> Result<Answer<api::Session>, Problem> {
        let receipt = self.execute(request.options, request.body).await?;
        let look = |view: View<'_>| Ok(whole(known(self.session.id(), view.state)).seen(&view));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
}

impl Authorized<ForkSession> {
    /// Make a session whose journal is the beginning of this one's
    pub(crate) async fn fork_session(&self, request: RequestBody<api::Fork>) -> Result<Answer<Value>, Problem> {
        let RequestBody { body: api::Fork { at, id }, options } = request;
        if at.is_some() && self.rank != Rank::User {
            return Err(self.forbidden("fork at an earlier entry"));
        }
        let at = match at {
            Some(at) => at,
            None => self.session.state().await?.head.seq,
        };
        let intent = Intent { id: id.unwrap_or_else(|| self.app.board.new_id()), at };
        let make = async |attempt| {
            self.expect(&options).await?;
            make_fork(self, attempt).await
        };
        let made = self.app.idempotent(self.actor.clone(), &options, None, intent, make).await?;
        Ok(Answer::ok(made))
    }
}

/// What is made for a request, also where it comes again.
#[derive(serde::Serialize, serde::Deserialize)]
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
