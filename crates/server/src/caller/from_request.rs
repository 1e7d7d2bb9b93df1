//! Callers over HTTP: the token in the header `Authorization`, or the cookie of a log-in, the session in the path, and `as` in the query.

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};

use crate::{
    app::App,
    call_error::CallError,
    caller::{Authorized, AuthorizedOnServer, AuthorizedToAdd, Caller, Credentials},
    header::one,
    params,
    rights::Permission,
};

impl<R: Permission> FromRequestParts<App> for AuthorizedToAdd<R> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        let caller = caller(parts, app)?;
        let id = params::session_id(parts, app).await?;
        Self::enter(app, &caller, &id).await
    }
}

impl<R: Permission> FromRequestParts<App> for Authorized<R> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        let caller = caller(parts, app)?;
        match params::collection(parts, app).await? {
            Some(name) => Self::enter_collection(app, &caller, &name).await,
            None => Self::enter(app, &caller, &params::session_id(parts, app).await?).await,
        }
    }
}

impl<R: Permission> FromRequestParts<App> for AuthorizedOnServer<R> {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        Self::enter(app, &caller(parts, app)?).await
    }
}

impl FromRequestParts<App> for Credentials {
    type Rejection = CallError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, CallError> {
        credentials(parts, app)
    }
}

fn caller(parts: &Parts, app: &App) -> Result<Caller, CallError> {
    Ok(Caller { credentials: credentials(parts, app)?, acting: params::acting(parts)? })
}

pub(crate) fn credentials(parts: &Parts, app: &App) -> Result<Credentials, CallError> {
    let malformed = || CallError::unauthorized("the header Authorization is not `Bearer TOKEN`");
    let shown = one(&parts.headers, header::AUTHORIZATION.as_str()).map_err(|()| malformed())?;
    let Some(shown) = shown else {
        return match app.logins.of(&parts.headers) {
            Some(token) => Ok(Credentials::of(app, &token)),
            None if app.user_tokens.is_empty() => Ok(Credentials::User),
            None => Err(CallError::unauthorized("this server requires a token")),
        };
    };
    Ok(Credentials::of(app, bearer(shown).ok_or_else(malformed)?))
}

fn bearer(shown: &str) -> Option<&str> {
    let (scheme, token) = shown.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
