//! Sessions.

mod follow;

use axum::extract::{FromRequest as _, Request, State};
use callboard_core::{
    entry::Actor,
    error::ConflictKind,
    id::{Seq, SessionId},
    session::{SessionPatch, Settings},
    state,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{Error, NewBoardSession, Session, SessionInfo, store::Row};

use crate::{
    body::PatchBody,
    call::*,
    caller::AuthorizedOnServer,
    cursor::{self, SessionPlace},
    files,
    idempotency::Attempt,
    resources::collection::check_collections,
    rights::{CreateSession, DeleteSession, ForkSession, ListSessions, ReadSession},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_sessions, create_session))
        .routes(routes!(read_session, update_session, delete_session))
        .routes(routes!(fork_session))
        .routes(routes!(follow::follow_sessions))
}

/// List sessions
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(api::SessionsQuery),
    responses((status = OK, description = "The sessions", body = api::SessionList)))]
async fn list_sessions(
    server: AuthorizedOnServer<ListSessions>,
    Query(query): Query<api::SessionsQuery>,
) -> Result<Answer<api::SessionList>, CallError> {
    let api::SessionsQuery { limit, cursor, q, order } = query;
    let (board, limit) = (&server.app.board, limit.unwrap_or(LIMIT).min(LIMIT));
    let words = q.map(|q| q.to_lowercase());
    let is_wanted = |info: &SessionInfo| {
        let has = |text: &str| words.as_ref().is_none_or(|words| text.to_lowercase().contains(words));
        has(info.id.as_str()) || info.settings.title.as_deref().is_some_and(has)
    };
    // A cursor goes on in the order of the page that gave it.
    let place = match cursor.as_deref().map(cursor::session).transpose()? {
        Some(place) => place,
        None if order == api::SessionOrder::Id => SessionPlace::After(None),
        None => SessionPlace::Behind(None),
    };
    let more_than_limit = limit.saturating_add(1);
    let (infos, next_cursor) = match place {
        SessionPlace::After(id) => {
            let mut infos = board.sessions_that(id.as_ref(), more_than_limit, is_wanted).await?;
            let next = cursor::cut(&mut infos, limit, |info| info.id.to_string());
            (infos, next)
        }
        SessionPlace::Behind(last) => {
            let mut infos = board.recent_sessions(last.as_ref(), more_than_limit, is_wanted).await?;
            let next = cursor::cut(&mut infos, limit, |info| cursor::timed(info.last_activity, &info.id));
            (infos, next)
        }
    };
    let sessions = infos.iter().map(|info| whole(&server.app, SessionInfo::clone(info))).collect();
    Ok(Answer::ok(api::SessionList { sessions, next_cursor }))
}

/// Create a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions",
    request_body = Option<api::NewSession>,
    responses((status = CREATED, description = "The new session", body = api::Session)))]
pub(crate) async fn create_session(
    server: AuthorizedOnServer<CreateSession>,
    RequestBody { body, options }: RequestBody<api::NewSession>,
) -> Result<Answer<api::Session>, CallError> {
    let app = &server.app;
    let id = body.id.clone().unwrap_or_else(|| app.board.new_id());
    let make = |attempt| make_session(app, body, attempt);
    Ok(Answer::ok(app.idempotent(Actor::User, &options, None, id, make).await?).created())
}

/// Read a session
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions",
    responses((status = OK, description = "The session, as the caller may see it", body = api::Session)))]
async fn read_session(caller: Authorized<ReadSession>) -> Result<Answer<api::Session>, CallError> {
    let look = |view: View<'_>, info: SessionInfo| (info.head, whole(&caller.app, info).seen(&view));
    let (head, body) = caller.session.info_with_last(&caller.viewer(), look).await?;
    Ok(Answer::ok(body).at(head))
}

/// Change the settings or the team of a session
///
/// What is left out stays as it is. The objects `prompt`, `limits` and `compression` are merged as RFC 7396 says: null takes a
/// field away.
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions",
    request_body = Option<api::SessionPatch>,
    responses((status = OK, description = "The session after the change", body = api::Session)))]
async fn update_session(
    caller: Authorized<SessionPatch>,
    PatchBody { body, given, options }: PatchBody<SessionPatch>,
) -> Result<Answer<api::Session>, CallError> {
    let body = SessionPatch { given: Some(given), ..body };
    if let Some(names) = &body.collections {
        if !caller.is_user() {
            return Err(caller.forbidden("name collections"));
        }
        check_collections(&caller.app.board, names).await?;
    }
    let look = |view: View<'_>, _| Ok(whole(&caller.app, known(caller.session.id(), view.state)).seen(&view));
    caller.change(options, body, look).await
}

/// Delete a session with all its data
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions",
    responses((status = NO_CONTENT, description = "The session is deleted")))]
async fn delete_session(
    State(app): State<App>,
    caller: Result<Authorized<DeleteSession>, CallError>,
    id: Result<InPath<SessionId>, CallError>,
    request: Request,
) -> Result<StatusCode, CallError> {
    let caller = match caller {
        // Only the user is told that a session is not there.
        Err(error) if error.code != "not_found" => return Err(error),
        caller => caller,
    };
    let InPath(id) = id?;
    let RequestBody { options, .. } = RequestBody::<Empty>::from_request(request, &app).await?;
    // With an idempotency key, a session that is gone counts as deleted by this very request if it was begun before.
    let was_gone = match caller {
        Ok(caller) => {
            caller.expect(&options).await?;
            false
        }
        Err(_) if options.request.is_some() => true,
        Err(error) => return Err(error),
    };
    app.idempotent(Actor::User, &options, None, id, |attempt| remove(&app, attempt, was_gone)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fork a session
///
/// The new session's journal is a copy of the beginning of this one's.
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions",
    request_body = Option<api::Fork>,
    responses((status = CREATED, description = "The new session", body = api::Session)))]
async fn fork_session(
    caller: Authorized<ForkSession>,
    RequestBody { body, options }: RequestBody<api::Fork>,
) -> Result<Answer<api::Session>, CallError> {
    let api::Fork { at, id } = body;
    if at.is_some() && !caller.is_user() {
        return Err(caller.forbidden("fork at an earlier entry"));
    }
    if id.is_some() && !caller.is_user() {
        // Whether an id is taken is not for the team to know.
        return Err(CallError::invalid("/id", "only the user chooses the id of a fork: leave it out"));
    }
    let at = match at {
        Some(at) => at,
        None => caller.session.state().await?.head.seq,
    };
    if let Some(id) = &id {
        caller.session.check_name("/id", id.as_str()).await?;
    }
    let intent = Intent { id: id.unwrap_or_else(|| caller.app.board.new_id()), at };
    let make = async |attempt: Attempt<Intent>| {
        caller.expect(&options).await?;
        let Intent { id, at } = attempt.intent;
        let fork = caller.app.board.fork(&caller.session, Some(at), &id, attempt.is_repeat).await?;
        created(&caller.app, &fork).await
    };
    let made = caller.app.idempotent(caller.actor.clone(), &options, None, intent, make).await?;
    Ok(Answer::ok(made).created())
}

/// What the user sees of a session.
fn whole(app: &App, info: SessionInfo) -> api::Session {
    let overview = Some(at_a_glance(app, &info));
    let SessionInfo { id, head, created_at, last_activity, expires_at, agents, settings, .. } = info;
    let (title, ttl_seconds) = (settings.title, settings.ttl_seconds);
    let settings = Some(api::SessionSettings {
        default_visibility: settings.default_visibility,
        share: settings.share,
        grant: settings.grant,
        prompt: settings.prompt,
        limits: settings.limits,
        steps: settings.steps,
        compression: settings.compression,
        collections: settings.collections,
    });
    api::Session { id, head, title, agents, created_at, last_activity, expires_at, ttl_seconds, settings, overview }
}

/// What is known of a session at a glance.
fn at_a_glance(app: &App, info: &SessionInfo) -> api::SessionOverview {
    let mut usage = api::SessionUsage::default();
    for (_, used) in &info.used {
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(used.prompt_tokens);
        usage.completion_tokens = usage.completion_tokens.saturating_add(used.completion_tokens);
    }
    usage.total_tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    api::SessionOverview {
        entries: info.head.0,
        size_bytes: info.size_bytes,
        last: info.last.clone(),
        largest_prompt: info.largest_prompt.clone(),
        run: info.run.clone(),
        needs_user: info.needs_user,
        usage,
        cost: app.cost(info.used.iter().map(|(model, usage)| (model.as_deref(), *usage))),
    }
}

/// A session with this state, whose last use was its last entry.
fn known(id: &SessionId, state: &state::State) -> SessionInfo {
    let expires_at = state.session.settings.ttl_seconds.expires_at(state.last_at);
    SessionInfo::of(id.clone(), state, Row { head: state.head, expires_at, last_activity: state.last_at })
}

/// The answer of a call that created a session. A repeat of the call gives the same one.
pub(super) async fn created(app: &App, session: &Session) -> Result<api::Session, CallError> {
    Ok(whole(app, session.info().await?))
}

/// The most sessions on a page.
const LIMIT: usize = 1000;

async fn make_session(
    app: &App,
    body: api::NewSession,
    attempt: Attempt<SessionId>,
) -> Result<api::Session, CallError> {
    let board = &app.board;
    check_collections(board, &body.collections).await?;
    let sets = match &body.context_sets_from {
        Some(source) => board.session(source).await?.sets_for(&Viewer::User, &body.agents).await?,
        None => Vec::new(),
    };
    let settings = Settings {
        title: body.title,
        default_visibility: body.default_visibility.unwrap_or_default(),
        share: body.share,
        grant: body.grant,
        prompt: body.prompt.unwrap_or_default(),
        ttl_seconds: body.ttl_seconds.unwrap_or(board.settings().ttl),
        limits: body.limits.unwrap_or_default(),
        steps: body.steps,
        compression: body.compression.unwrap_or_default(),
        collections: body.collections,
    };
    let new = NewBoardSession { id: Some(attempt.intent.clone()), agents: body.agents, sets, settings: Some(settings) };
    let session = match board.create(new).await {
        Err(error) if attempt.is_repeat && error.is(ConflictKind::SessionExists) => {
            board.session(&attempt.intent).await?
        }
        session => session?,
    };
    created(app, &session).await
}

async fn remove(app: &App, attempt: Attempt<SessionId>, was_gone: bool) -> Result<(), CallError> {
    let deleted = app.board.delete(&attempt.intent).await;
    if let (Ok(()), Some(files)) = (&deleted, &app.files) {
        files.end(&attempt.intent, files::now(&app.board).await?).await;
    }
    if let (Ok(()), Some(browsers)) = (&deleted, &app.browsers) {
        browsers.forget(&attempt.intent).await;
    }
    match deleted {
        Err(Error::NoSession { .. }) if attempt.is_repeat && was_gone => Ok(()),
        deleted => Ok(deleted?),
    }
}

/// The fork that a request creates. A repeat of the request creates the same.
#[derive(serde::Serialize, serde::Deserialize)]
struct Intent {
    id: SessionId,
    at: Seq,
}
