//! Sessions.

use callboard_api as api;
use callboard_core::{
    entry::Actor,
    error::ConflictKind,
    id::{Seq, SessionId},
    session::{SessionPatch, Settings},
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{Error, LargestPrompt, LastEntry, NewBoardSession, Overview, RunOverview, Session, SessionInfo};

use super::{
    Answer, Authorized, AuthorizedIfThere, AuthorizedOnServer, CallError, WriteOptions,
    collection::check_collections,
    cursor,
    idempotency::Attempt,
    rights::{ChangeSession, CreateSession, DeleteSession, ForkSession, ListSessions, Rank, ReadSession},
};
use crate::{app::App, files};

/// What the user sees of a session.
fn whole(app: &App, info: SessionInfo) -> api::Session {
    let SessionInfo { id, head, created_at, last_activity, expires_at, agents, settings, overview, last } = info;
    let overview = Some(at_a_glance(app, head, overview, last));
    let Settings {
        title,
        default_visibility,
        share,
        grant,
        prompt,
        ttl_seconds,
        limits,
        steps,
        compression,
        collections,
    } = settings;
    let settings = Some(api::SessionSettings {
        default_visibility,
        share,
        grant,
        prompt,
        limits,
        steps,
        compression,
        collections,
    });
    api::Session { id, head, title, agents, created_at, last_activity, expires_at, ttl_seconds, settings, overview }
}

/// What is known of a session at a glance.
fn at_a_glance(app: &App, head: Seq, overview: Overview, last: Option<LastEntry>) -> api::SessionOverview {
    let Overview { largest_prompt, run, needs_user, used, size_bytes } = overview;
    let largest_prompt = largest_prompt.map(|LargestPrompt { agent, tokens, window, warn_at }| api::LargestPrompt {
        agent,
        tokens,
        window,
        warn_at,
    });
    let run = run.map(|RunOverview { id, kind, status, reason, started_at }| api::SessionRun {
        id,
        kind,
        status,
        reason,
        started_at,
    });
    let last = last.map(|LastEntry { seq, at, by, kind, sentence }| api::LastEntry { seq, at, by, kind, sentence });
    let cost = app.cost(used.iter().map(|(model, usage)| (model.as_deref(), *usage)));
    let mut usage = api::SessionUsage::default();
    for (_, used) in used {
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(used.prompt_tokens);
        usage.completion_tokens = usage.completion_tokens.saturating_add(used.completion_tokens);
    }
    usage.total_tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    api::SessionOverview { entries: head.0, size_bytes, last, largest_prompt, run, needs_user, usage, cost }
}

/// A session with this state, whose last use was its last entry.
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
        overview: Overview::of(state),
        last: None,
    }
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
    let api::NewSession {
        title,
        agents,
        default_visibility,
        share,
        grant,
        prompt,
        ttl_seconds,
        limits,
        steps,
        compression,
        collections,
        context_sets_from,
        ..
    } = body;
    let board = &app.board;
    check_collections(board, &collections).await?;
    let sets = match context_sets_from {
        Some(source) => board.session(&source).await?.sets_for(&Viewer::User, &agents).await?,
        None => Vec::new(),
    };
    let settings = Settings {
        title,
        default_visibility: default_visibility.unwrap_or_default(),
        share,
        grant,
        prompt: prompt.unwrap_or_default(),
        ttl_seconds: ttl_seconds.unwrap_or(board.default_ttl()),
        limits: limits.unwrap_or_default(),
        steps,
        compression: compression.unwrap_or_default(),
        collections,
    };
    let new = NewBoardSession { id: Some(attempt.intent.clone()), agents, sets, settings: Some(settings) };
    let session = match board.create(new).await {
        Err(error) if attempt.is_repeat && error.is(ConflictKind::SessionExists) => {
            board.session(&attempt.intent).await?
        }
        session => session?,
    };
    created(app, &session).await
}

impl AuthorizedOnServer<ListSessions> {
    pub(crate) async fn list_sessions(&self, query: api::SessionsQuery) -> Result<Answer<api::SessionList>, CallError> {
        let api::SessionsQuery { limit, cursor, q, order } = query;
        let (board, limit) = (&self.app.board, limit.unwrap_or(LIMIT).min(LIMIT));
        let words = q.map(|q| q.to_lowercase());
        let is_wanted = |info: &SessionInfo| {
            let has = |text: &str| words.as_ref().is_none_or(|words| text.to_lowercase().contains(words));
            has(info.id.as_str()) || info.settings.title.as_deref().is_some_and(has)
        };
        let (infos, next_cursor) = match order {
            api::SessionOrder::Id => {
                let after = cursor.as_deref().map(cursor::session).transpose()?;
                let mut infos = board.sessions_that(after.as_ref(), limit.saturating_add(1), is_wanted).await?;
                let next = cursor::cut(&mut infos, limit, |info| info.id.as_str());
                (infos, next)
            }
            api::SessionOrder::Recent => {
                let (before, after) = match cursor.as_deref().map(cursor::session_use).transpose()? {
                    None => (None, None),
                    Some(cursor::Use::Behind(place)) => (Some(place), None),
                    Some(cursor::Use::After(id)) => (None, Some(id)),
                };
                let is_wanted =
                    |info: &SessionInfo| after.as_ref().is_none_or(|after| info.id > *after) && is_wanted(info);
                let mut infos = board.recent_sessions(before.as_ref(), limit.saturating_add(1), is_wanted).await?;
                let is_more = infos.len() > limit;
                infos.truncate(limit);
                let last = infos.last().filter(|_| is_more && after.is_none());
                let next = last.map(|last| cursor::of_use(last.last_activity, &last.id));
                (infos, next)
            }
        };
        let mut sessions = Vec::with_capacity(infos.len());
        for info in infos {
            sessions.push(whole(&self.app, SessionInfo::clone(&info)));
        }
        Ok(Answer::ok(api::SessionList { sessions, next_cursor }))
    }
}

impl AuthorizedOnServer<CreateSession> {
    pub(crate) async fn create_session(
        &self,
        body: api::NewSession,
        options: WriteOptions,
    ) -> Result<Answer<api::Session>, CallError> {
        let board = &self.app.board;
        let id = body.id.clone().unwrap_or_else(|| board.new_id());
        let made = self
            .app
            .idempotent(Actor::User, &options, None, id, |attempt| make_session(&self.app, body, attempt))
            .await?;
        Ok(Answer::ok(made))
    }
}

impl Authorized<ReadSession> {
    pub(crate) async fn read_session(&self) -> Result<Answer<api::Session>, CallError> {
        let look = |view: View<'_>, info: SessionInfo| (info.head, whole(&self.app, info).seen(&view));
        let (head, body) = self.session.info_with_last(&self.viewer(), look).await?;
        Ok(Answer::ok(body).at(head))
    }
}

impl Authorized<ChangeSession> {
    pub(crate) async fn update_session(
        &self,
        body: SessionPatch,
        options: WriteOptions,
    ) -> Result<Answer<api::Session>, CallError> {
        if let Some(names) = &body.collections {
            if self.rank != Rank::User {
                return Err(self.forbidden("name collections"));
            }
            check_collections(&self.app.board, names).await?;
        }
        let receipt = self.execute(options, body).await?;
        let look = |view: View<'_>| Ok(whole(&self.app, known(self.session.id(), view.state)).seen(&view));
        let body = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
}

impl AuthorizedIfThere<DeleteSession> {
    /// Deletes a session. With an idempotency key, a session that is gone counts as deleted by this very request if it
    /// was begun before.
    pub(crate) async fn delete_session(self, options: WriteOptions) -> Result<(), CallError> {
        let was_gone = match self.caller {
            Ok(caller) => {
                caller.expect(&options).await?;
                false
            }
            Err(_) if options.request.is_some() => true,
            Err(error) => return Err(error),
        };
        let app = &self.app;
        app.idempotent(Actor::User, &options, None, self.id, |attempt| remove(app, attempt, was_gone)).await
    }
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

impl Authorized<ForkSession> {
    pub(crate) async fn fork_session(
        &self,
        body: api::Fork,
        options: WriteOptions,
    ) -> Result<Answer<api::Session>, CallError> {
        let api::Fork { at, id } = body;
        if at.is_some() && self.rank != Rank::User {
            return Err(self.forbidden("fork at an earlier entry"));
        }
        let at = match at {
            Some(at) => at,
            None => self.session.state().await?.head.seq,
        };
        if let Some(id) = &id {
            self.session.check_name("/id", id.as_str()).await?;
        }
        let intent = Intent { id: id.unwrap_or_else(|| self.app.board.new_id()), at };
        let make = async |attempt| {
            self.expect(&options).await?;
            make_fork(self, attempt).await
        };
        let made = self.app.idempotent(self.actor.clone(), &options, None, intent, make).await?;
        Ok(Answer::ok(made))
    }
}

/// The fork that a request creates. A repeat of the request creates the same.
#[derive(serde::Serialize, serde::Deserialize)]
struct Intent {
    id: SessionId,
    at: Seq,
}

async fn make_fork(caller: &Authorized<ForkSession>, attempt: Attempt<Intent>) -> Result<api::Session, CallError> {
    let (board, Intent { id, at }) = (&caller.app.board, attempt.intent);
    let fork = match attempt.is_repeat {
        true => board.fork_again(&caller.session, at, &id).await?,
        false => board.fork(&caller.session, Some(at), Some(id)).await?,
    };
    created(&caller.app, &fork).await
}
