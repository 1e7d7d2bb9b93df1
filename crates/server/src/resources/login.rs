//! Logging in from a browser.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::{call::*, caller::Credentials, login::cookie, public_url::PublicUrl};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(log_in)).routes(routes!(log_out)).routes(routes!(read_me))
}

/// Log in from a browser
///
/// The answer sets a cookie that stands for the token. It counts for requests of pages of this server, as long as the token
/// is valid, until 12 hours without use, or until the server is restarted.
#[utoipa::path(post, path = "/v1/login", tag = "server", request_body = api::Login,
    responses((status = OK, description = "The browser is logged in", body = api::Me)))]
async fn log_in(
    State(app): State<App>,
    headers: HeaderMap,
    request: RequestBody<api::Login>,
) -> Result<Response, CallError> {
    let credentials = Credentials::of(&app, &request.body.token);
    let me = credentials.me(&app).await?;
    app.logins.end(&headers);
    let handle = app.logins.begin(request.body.token);
    let handle = handle.map_err(|error| CallError::new("no_randomness", error.to_string()))?;
    Ok(with_cookie(&app, &headers, Some(&handle), Answer::ok(me).into_response()))
}

/// Log out
///
/// The cookie is invalid from then on.
#[utoipa::path(post, path = "/v1/logout", tag = "server",
    responses((status = NO_CONTENT, description = "The browser is logged out")))]
async fn log_out(
    State(app): State<App>,
    credentials: Credentials,
    headers: HeaderMap,
    _: RequestBody<Empty>,
) -> Result<Response, CallError> {
    app.logins.end(&headers);
    credentials.me(&app).await?;
    Ok(with_cookie(&app, &headers, None, StatusCode::NO_CONTENT.into_response()))
}

/// Say who the caller is
#[utoipa::path(get, path = "/v1/me", tag = "server",
    responses((status = OK, description = "Who the caller is", body = api::Me)))]
async fn read_me(State(app): State<App>, credentials: Credentials) -> Result<Answer<api::Me>, CallError> {
    credentials.me(&app).await.map(Answer::ok)
}

fn with_cookie(app: &App, headers: &HeaderMap, handle: Option<&str>, mut response: Response) -> Response {
    let url = app.settings.public_url.as_ref();
    // The origin was let in by the guard, so it is that of a page that this server or a proxy of it has sent.
    let origin = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let is_secure = origin || app.settings.tls.is_some() || url.is_some_and(PublicUrl::is_secure);
    let cookie = cookie(handle, url.map_or("", PublicUrl::path), is_secure);
    response.headers_mut().extend(HeaderValue::from_str(&cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
    response
}
