//! Callers: who calls, as whom, and with which right.

pub(crate) mod from_request;

use std::{marker::PhantomData, sync::Arc};

use callboard_api as api;
use callboard_core::{
    command::{Command, KeptAnswer},
    entry::{Actor, Hash},
    error::Error as Refusal,
    id::{AgentName, BadName, CollectionName, Seq, SessionId},
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{Error, Receipt, Session};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    answer::Answer, app::App, call_error::CallError, idempotency::Attempt, rights::Permission, secret,
    write_options::WriteOptions,
};

/// Who calls, as far as the call says.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The proof of who it is.
    pub(crate) credentials: Credentials,
    /// The name of the agent as which the call is made, if it names one.
    pub(crate) acting: Option<String>,
}

/// The proof of who a caller is.
#[derive(Clone, Debug)]
pub(crate) enum Credentials {
    /// The caller is the user: it has a user token, or none is needed.
    User,
    /// The caller has a token that is not a user token. It may be one of a session.
    Token(String),
}

/// A caller with the right `R` in a session.
#[derive(Clone)]
pub(crate) struct Authorized<R> {
    pub(crate) app: App,
    pub(crate) session: Session,
    /// Who calls, or as whom.
    pub(crate) actor: Actor,
    /// Whether this is the user or the manager.
    pub(crate) in_charge: bool,
    /// The hash of the caller's token, if it is one of this session.
    pub(crate) token: Option<Hash>,
    right: PhantomData<R>,
}

/// A caller with the right `R` to add to a session. If the caller has the right in any state of the session, the append
/// comes without a look at the store before it.
pub(crate) struct AuthorizedToAdd<R>(Authorized<R>);

/// A caller with the right `R` on the server.
pub(crate) struct AuthorizedOnServer<R> {
    pub(crate) app: App,
    right: PhantomData<R>,
}

impl<R: Permission> Authorized<R> {
    /// Lets a caller into a session, if it has the right.
    pub(crate) async fn enter(app: &App, caller: &Caller, id: &SessionId) -> Result<Self, CallError> {
        let (session, state, actor) = caller.credentials.enter(app, id).await?;
        app.asking.settle(&session, &state).await;
        let actor = caller.actor(actor, &state)?;
        let in_charge = match &actor {
            Actor::Agent(name) => state.team.manager().is_some_and(|manager| manager.name == *name),
            Actor::User | Actor::System => true,
        };
        state.check(R::RIGHT, &actor)?;
        let token = match &caller.credentials {
            Credentials::User => None,
            Credentials::Token(token) => Some(secret::hash(token)),
        };
        Ok(Self { app: app.clone(), session, actor, in_charge, token, right: PhantomData })
    }

    /// Lets a caller into a collection: the user alone. Agents find what is in it through their sessions.
    pub(crate) async fn enter_collection(app: &App, caller: &Caller, name: &CollectionName) -> Result<Self, CallError> {
        AuthorizedOnServer::<R>::enter(app, caller).await?;
        let session = app.board.collection(name).await?;
        let (app, actor, right) = (app.clone(), Actor::User, PhantomData);
        Ok(Self { app, session, actor, in_charge: true, token: None, right })
    }
}

impl<R: Permission> AuthorizedToAdd<R> {
    /// Lets a caller into a session, if it has the right.
    pub(crate) async fn enter(app: &App, caller: &Caller, id: &SessionId) -> Result<Self, CallError> {
        if let (Credentials::User, None) = (&caller.credentials, &caller.acting)
            && let Some(session) = app.board.known_session(id)
        {
            // Where nobody else calls, nobody else ends what a server left that died.
            if let Ok(state) = session.known() {
                app.asking.settle(&session, &state).await;
            }
            let (app, actor, right) = (app.clone(), Actor::User, PhantomData);
            return Ok(Self(Authorized { app, session, actor, in_charge: true, token: None, right }));
        }
        Authorized::enter(app, caller, id).await.map(Self)
    }
}

impl<R: Permission> AuthorizedOnServer<R> {
    /// Lets a caller call the server, if it has the right.
    pub(crate) async fn enter(app: &App, caller: &Caller) -> Result<Self, CallError> {
        if let Credentials::Token(token) = &caller.credentials {
            let id = secret::session_of(token).ok_or_else(unknown)?;
            let (_, _, actor) = caller.credentials.enter(app, &id).await?;
            return Err(match actor {
                Actor::User => CallError::forbidden("a token of one session may only do what concerns that session")
                    .hint("use a token of the server"),
                actor => R::RIGHT.refuse(&actor).into(),
            });
        }
        match &caller.acting {
            Some(name) => Err(R::RIGHT.refuse(&Actor::Agent(agent_name(name)?)).into()),
            None => Ok(Self { app: app.clone(), right: PhantomData }),
        }
    }
}

impl<R> Authorized<R> {
    /// Who reads: what is hidden from this viewer does not exist for the caller.
    pub(crate) fn viewer(&self) -> Viewer {
        self.actor.clone().into()
    }

    /// Whether the user calls, and not as an agent.
    pub(crate) fn is_user(&self) -> bool {
        self.agent().is_none()
    }

    /// The agent that calls, or as which the user does.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match &self.actor {
            Actor::Agent(name) => Some(name),
            Actor::User | Actor::System => None,
        }
    }

    /// Executes a command under these conditions.
    pub(crate) async fn execute<C: Command<Answer: KeptAnswer>>(
        &self,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, CallError> {
        self.execute_as(self.actor.clone(), options, command).await
    }

    /// The same for somebody as whom the caller may act.
    pub(crate) async fn execute_as<C: Command<Answer: KeptAnswer>>(
        &self,
        by: Actor,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, CallError> {
        let session = &self.session;
        let WriteOptions { expected, request } = options;
        Ok(match request {
            Some(request) => session.execute_once(by, expected, request, command).await?,
            None => session.execute_at(by, expected, command).await?,
        })
    }

    /// Executes a command under these conditions, and answers with what `look` sees behind it.
    pub(crate) async fn change<C: Command<Answer: KeptAnswer>, T>(
        &self,
        options: WriteOptions,
        command: C,
        look: impl FnOnce(View<'_>, C::Answer) -> Result<T, Refusal>,
    ) -> Result<Answer<T>, CallError> {
        let Receipt { answer, head } = self.execute(options, command).await?;
        let seen = self.session.view_at(&self.viewer(), head, |view| look(view, answer)).await?;
        Ok(Answer::ok(seen).at(head))
    }

    /// Does work outside of the journal under these conditions, once if the request has a key. `work` is told whether
    /// the same request was begun before.
    pub(crate) async fn idempotent<T, W>(
        &self,
        options: &WriteOptions,
        work: impl FnOnce(bool) -> W,
    ) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned,
        W: Future<Output = Result<T, CallError>>,
    {
        let work = async |attempt: Attempt<()>| {
            self.expect(options).await?;
            work(attempt.is_repeat).await
        };
        self.app.idempotent(self.actor.clone(), options, Some(self.session.id()), (), work).await
    }

    /// Fails with `stale` if the session has another head than the caller expects.
    pub(crate) async fn expect(&self, options: &WriteOptions) -> Result<(), CallError> {
        let Some(expected) = options.expected else { return Ok(()) };
        let head = self.session.state().await?.head.seq;
        if head == expected { Ok(()) } else { Err(Error::Stale { expected, head }.into()) }
    }

    /// The error for one thing that the call can do, but not for this caller.
    pub(crate) fn forbidden(&self, what: &'static str) -> CallError {
        Refusal::Forbidden { who: self.actor.called().to_owned(), what, hint: "ask the user" }.into()
    }

    /// Looks at the session as it is now, or for the user as it was after the entry `at`.
    pub(crate) async fn look_at<T>(
        &self,
        at: Option<u64>,
        look: impl FnOnce(View<'_>) -> Result<T, Refusal>,
    ) -> Result<T, CallError> {
        Ok(match at {
            None => self.session.view(&self.viewer(), look).await?,
            Some(_) if !self.is_user() => {
                return Err(self.forbidden("look at the session as of an earlier entry"));
            }
            Some(at) => self.session.view_at(&self.viewer(), Seq(at), look).await?,
        })
    }
}

impl<R> AuthorizedToAdd<R> {
    /// Executes a command under these conditions.
    pub(crate) async fn execute<C: Command<Answer: KeptAnswer> + Clone>(
        self,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, CallError> {
        match self.0.execute(options.clone(), command.clone()).await {
            // Another session may have this name by now.
            Err(error) if error.code == "not_found" => {
                let (app, id) = (&self.0.app, self.0.session.id());
                let session = match app.board.session(id).await {
                    Err(Error::NoSession { .. }) if self.0.is_user() => return Err(no_session(app, id).await),
                    session => session?,
                };
                Authorized { session, ..self.0 }.execute(options, command).await
            }
            executed => executed,
        }
    }
}

impl Credentials {
    /// The credentials behind a token. Whether they are valid is not known yet.
    pub(crate) fn of(app: &App, token: &str) -> Self {
        match app.user_tokens.contains(&secret::hash(token)) {
            true => Self::User,
            false => Self::Token(token.to_owned()),
        }
    }

    /// Who has these credentials.
    pub(crate) async fn me(&self, app: &App) -> Result<api::Me, CallError> {
        let (login, project) = (!app.user_tokens.is_empty(), app.files.is_some());
        let Self::Token(token) = self else {
            return Ok(api::Me { name: "user".to_owned(), role: None, session: None, login, project });
        };
        let id = secret::session_of(token).ok_or_else(unknown)?;
        let (_, state, actor) = self.enter(app, &id).await?;
        let (name, role) = match actor {
            Actor::Agent(name) => (name.to_string(), Some(state.team.agent(&name)?.role)),
            Actor::User | Actor::System => ("user".to_owned(), None),
        };
        Ok(api::Me { name, role, session: Some(id), login, project })
    }

    /// Lets a caller into a session. A token of another session opens nothing, not even the knowledge that this one exists.
    async fn enter(&self, app: &App, id: &SessionId) -> Result<(Session, Arc<State>, Actor), CallError> {
        let token = match self {
            Self::User => None,
            Self::Token(token) if secret::session_of(token).as_ref() == Some(id) => Some(token),
            Self::Token(_) => return Err(unknown()),
        };
        let session = match app.board.session(id).await {
            Err(Error::NoSession { .. }) if token.is_some() => return Err(unknown()),
            Err(Error::NoSession { .. }) => return Err(no_session(app, id).await),
            session => session?,
        };
        // It was looked up in the store a moment ago.
        let state = session.known()?;
        let Some(token) = token else { return Ok((session, state, Actor::User)) };
        let (hash, now) = (secret::hash(token), app.now());
        let has_expired = state.tokens.of_hash(hash).is_some_and(|token| token.has_expired(now));
        let refused = || if has_expired { expired() } else { unknown() };
        let actor = state.tokens.actor(hash, &state.team, now).ok_or_else(refused)?;
        Ok((session, state, actor))
    }
}

/// What the user is told of a session that is not there. One for a collection says where those are.
async fn no_session(app: &App, id: &SessionId) -> CallError {
    let error = CallError::from(app.board.why_missing(id).await);
    match id.as_collection() {
        Some(name) => error.hint(format!("collections are at /v1/collections/{name}")),
        None => error,
    }
}

fn expired() -> CallError {
    CallError::unauthorized("the token has expired").hint("ask whoever made it for another one")
}

fn unknown() -> CallError {
    CallError::unauthorized(
        "the token is not valid here: it is unknown, was revoked, belongs to another session, or its agent has left",
    )
}

impl Caller {
    /// As whom the call is made. The user may act as any agent, an agent only as itself.
    fn actor(&self, actor: Actor, state: &State) -> Result<Actor, CallError> {
        let Some(name) = &self.acting else { return Ok(actor) };
        let name = agent_name(name)?;
        match actor {
            Actor::Agent(own) if own == name => Ok(Actor::Agent(own)),
            Actor::Agent(own) => {
                let hint = "leave `as` out, or use the token of the other agent";
                Err(CallError::forbidden(format!("{own} may not act as {name}")).hint(hint))
            }
            Actor::User | Actor::System => Ok(Actor::Agent(state.team.agent(&name)?.name.clone())),
        }
    }
}

/// The name of an agent. An invalid name is the name of no agent.
fn agent_name(name: &str) -> Result<AgentName, CallError> {
    let nobody = |error: BadName| {
        let absent = CallError::not_found("agent", &error.text);
        let detail = format!("{}: {}", absent.detail, error.rule);
        CallError { detail, ..absent }
    };
    name.parse().map_err(nobody)
}
