//! Callers: who calls, through whose eyes, and whether they may.

use std::marker::PhantomData;

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
};
use callboard_core::{
    agent,
    command::{Command, KeptAnswer},
    entry::{Actor, Hash},
    error::Error as Refusal,
    id::{AgentName, SessionId},
    state::State,
    viewer::Viewer,
};
use callboard_engine::{Error, Receipt, Session};
use serde_json::Value;

use crate::{
    app::App,
    idempotency::Attempt,
    params,
    problem::Problem,
    rights::{Rank, Right},
    secret,
    write_options::WriteOptions,
};

/// A call on a session by somebody who has the right to it.
pub(crate) struct Authorized<R> {
    pub(crate) app: App,
    pub(crate) session: Session,
    /// Who calls, or as whom.
    pub(crate) actor: Actor,
    /// What that is to the session.
    pub(crate) rank: Rank,
    /// The token that let the caller in, where it is one of this session.
    pub(crate) token: Option<Hash>,
    right: PhantomData<R>,
}

/// A call that adds to a session. Where its caller may so whatever the session is like, nobody looks at the store before:
/// what is added is decided on what is true by then.
pub(crate) struct AuthorizedToAdd<R>(Authorized<R>);

/// A call on the server by somebody who has the right to it.
pub(crate) struct AuthorizedOnServer<R> {
    pub(crate) app: App,
    right: PhantomData<R>,
}

impl<R> Authorized<R> {
    /// Through whose eyes the caller sees.
    pub(crate) fn viewer(&self) -> Viewer {
        self.actor.clone().into()
    }

    /// The agent that calls, or as which the user does.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match &self.actor {
            Actor::Agent(name) => Some(name),
            Actor::User | Actor::System => None,
        }
    }

    /// Executes a command on these terms.
    pub(crate) async fn execute<C: Command<Answer: KeptAnswer>>(
        &self,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, Problem> {
        self.execute_as(self.actor.clone(), options, command).await
    }

    /// The same for somebody as whom the caller may act.
    pub(crate) async fn execute_as<C: Command<Answer: KeptAnswer>>(
        &self,
        by: Actor,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, Problem> {
        let session = &self.session;
        let WriteOptions { expected, request } = options;
        Ok(match request {
            Some(request) => session.execute_once(by, expected, request, command).await?,
            None => session.execute_at(by, expected, command).await?,
        })
    }

    /// Does on these terms what is outside of the journal; once where the request carries a key. `work` is told whether
    /// the same request was begun before.
    pub(crate) async fn idempotent<W>(
        &self,
        options: &WriteOptions,
        work: impl FnOnce(bool) -> W,
    ) -> Result<Value, Problem>
    where
        W: Future<Output = Result<Value, Problem>>,
    {
        let work = async |attempt: Attempt<()>| {
            self.expect(options).await?;
            work(attempt.is_repeat).await
        };
        self.app.idempotent(self.actor.clone(), options, Some(self.session.id()), (), work).await
    }

    /// Refuses what is asked for on another head than the session has.
    pub(crate) async fn expect(&self, options: &WriteOptions) -> Result<(), Problem> {
        let Some(expected) = options.expected else { return Ok(()) };
        let head = self.session.state().await?.head.seq;
        if head == expected { Ok(()) } else { Err(Error::Stale { expected, head }.into()) }
    }

    /// That the caller may not do one thing of those that the call does.
    pub(crate) fn forbidden(&self, what: &'static str) -> Problem {
        Refusal::Forbidden { who: self.actor.to_string(), what, hint: "ask the user" }.into()
    }
}

impl<R: Right> FromRequestParts<App> for Authorized<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let credentials = Credentials::of(parts, app)?;
        let id = params::session_id(parts, app).await?;
        let (session, state, actor) = credentials.enter(app, &id).await?;
        let actor = as_agent(parts, actor, &state)?;
        let rank = rank(&actor, &state);
        if !R::WHO.allows(rank, &state) {
            return Err(forbidden::<R>(&actor));
        }
        let token = if let Credentials::Token(token) = credentials { Some(secret::hash(&token)) } else { None };
        Ok(Self { app: app.clone(), session, actor, rank, token, right: PhantomData })
    }
}

impl<R: Right> FromRequestParts<App> for AuthorizedToAdd<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if let Credentials::User = Credentials::of(parts, app)?
            && params::acting(parts)?.is_none()
            && let Some(session) = app.board.known_session(&params::session_id(parts, app).await?)
        {
            let (actor, rank, right) = (Actor::User, Rank::User, PhantomData);
            return Ok(Self(Authorized { app: app.clone(), session, actor, rank, token: None, right }));
        }
        Authorized::from_request_parts(parts, app).await.map(Self)
    }
}

impl<R> AuthorizedToAdd<R> {
    /// Executes a command on these terms.
    pub(crate) async fn execute<C: Command<Answer: KeptAnswer> + Clone>(
        self,
        options: WriteOptions,
        command: C,
    ) -> Result<Receipt<C::Answer>, Problem> {
        match self.0.execute(options.clone(), command.clone()).await {
            // There may be another session under this name by now.
            Err(problem) if problem.code == "not_found" => {
                let session = self.0.app.board.session(self.0.session.id()).await?;
                Authorized { session, ..self.0 }.execute(options, command).await
            }
            executed => executed,
        }
    }
}

impl<R: Right> FromRequestParts<App> for AuthorizedOnServer<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let credentials = Credentials::of(parts, app)?;
        if let Credentials::Token(token) = &credentials {
            let id = secret::session_of(token).ok_or_else(unknown)?;
            let (_, _, actor) = credentials.enter(app, &id).await?;
            return Err(match actor {
                Actor::User => Refusal::Forbidden {
                    who: "a token of one session".to_owned(),
                    what: "do what is not of that session",
                    hint: "use a token of the server",
                }
                .into(),
                actor => forbidden::<R>(&actor),
            });
        }
        if let Some(agent) = params::acting(parts)? {
            return Err(forbidden::<R>(&Actor::Agent(agent)));
        }
        Ok(Self { app: app.clone(), right: PhantomData })
    }
}

/// What a call shows of its caller.
enum Credentials {
    /// It is the user's.
    User,
    /// It has a token that may be one of a session.
    Token(String),
}

impl Credentials {
    fn of(parts: &Parts, app: &App) -> Result<Self, Problem> {
        let mut headers = parts.headers.get_all(header::AUTHORIZATION).iter();
        let Some(shown) = headers.next() else {
            return if app.user_tokens.is_empty() {
                Ok(Self::User)
            } else {
                Err(Problem::unauthorized("this server lets nobody in without a token"))
            };
        };
        let token = shown.to_str().ok().filter(|_| headers.next().is_none()).and_then(bearer);
        let token = token.ok_or_else(|| Problem::unauthorized("the header Authorization is not `Bearer TOKEN`"))?;
        if app.user_tokens.contains(&secret::hash(token)) {
            return Ok(Self::User);
        }
        Ok(Self::Token(token.to_owned()))
    }

    /// Goes into a session. A token of another session opens nothing, not even the knowledge whether this one is there.
    async fn enter(&self, app: &App, id: &SessionId) -> Result<(Session, std::sync::Arc<State>, Actor), Problem> {
        let Self::Token(token) = self else {
            let session = app.board.session(id).await?;
            // It was looked for in the store a moment ago.
            let state = session.known()?;
            return Ok((session, state, Actor::User));
        };
        if secret::session_of(token).as_ref() != Some(id) {
            return Err(unknown());
        }
        let session = match app.board.session(id).await {
            Err(Error::NoSession { .. }) => return Err(unknown()),
            session => session?,
        };
        let state = session.known()?;
        let actor = state.tokens.actor(secret::hash(token), &state.team).ok_or_else(unknown)?;
        Ok((session, state, actor))
    }
}

fn bearer(shown: &str) -> Option<&str> {
    let (scheme, token) = shown.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn unknown() -> Problem {
    Problem::unauthorized("the token is unknown here: it was revoked, is of another session, or its agent has left")
}

/// As whom the call is made: the user may say an agent, an agent only itself.
fn as_agent(parts: &Parts, actor: Actor, state: &State) -> Result<Actor, Problem> {
    let Some(name) = params::acting(parts)? else { return Ok(actor) };
    match actor {
        Actor::Agent(own) if own == name => Ok(Actor::Agent(own)),
        Actor::Agent(own) => Err(Refusal::Forbidden {
            who: Actor::Agent(own).to_string(),
            what: "act as somebody else",
            hint: "leave `as` out, or use the other agent's token",
        }
        .into()),
        Actor::User | Actor::System => Ok(Actor::Agent(state.team.agent(&name)?.name.clone())),
    }
}

fn rank(actor: &Actor, state: &State) -> Rank {
    match actor {
        Actor::User | Actor::System => Rank::User,
        Actor::Agent(name) => match state.team.agent(name).map(|agent| agent.role) {
            Ok(agent::Role::Manager) => Rank::Manager,
            _ => Rank::Worker,
        },
    }
}

fn forbidden<R: Right>(actor: &Actor) -> Problem {
    let detail = format!("{actor} may not {} {}", R::VERB, R::RESOURCE);
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail).hint(R::WHO.hint())
}
