//! The browser of a session.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Created,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ReadBrowser, UseBrowser},
    },
    params::ScreenshotFile,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read))
        .routes(routes!(open))
        .routes(routes!(close))
        .routes(routes!(navigate))
        .routes(routes!(act))
        .routes(routes!(inspect))
        .routes(routes!(take_screenshot))
        .routes(routes!(list_screenshots))
        .routes(routes!(read_screenshot, remove_screenshot))
}

/// Read which tabs are open
///
/// It starts no browser. The first `open` does.
#[utoipa::path(get, path = "/v1/sessions/{session}/browser", tag = "browser", operation_id = "read_browser",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The open tabs", body = api::Browser)))]
async fn read(caller: Authorized<ReadBrowser>) -> Result<Answer<api::Browser>, CallError> {
    caller.read_browser().await
}

/// Open a page in a new tab
///
/// The browser of the session is started where it is not there yet. An address that the server may not open is 403
/// `address_refused`.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/open", tag = "browser", operation_id = "open_tab",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::OpenTab,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn open(
    caller: Authorized<UseBrowser>,
    request: RequestBody<api::OpenTab>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.open_tab(request.body, request.options).await
}

/// Close a tab
///
/// Without a tab the whole browser ends.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/close", tag = "browser", operation_id = "close_tab",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::CloseTab,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn close(
    caller: Authorized<UseBrowser>,
    request: RequestBody<api::CloseTab>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.close_tab(request.body, request.options).await
}

/// Show another page in a tab
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/navigate", tag = "browser", operation_id = "navigate_tab",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::Navigate,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn navigate(
    caller: Authorized<UseBrowser>,
    request: RequestBody<api::Navigate>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.navigate(request.body, request.options).await
}

/// Do something in a tab
///
/// One action, or several in order until one fails. To type a secret, name it: `{{secret:NAME}}`.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/action", tag = "browser", operation_id = "act_in_tab",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::Act,
    responses((status = OK, description = "What came of each action", body = api::BrowserAnswer)))]
async fn act(
    caller: Authorized<UseBrowser>,
    request: RequestBody<api::Act>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.act(request.body, request.options).await
}

/// Look at the page in a tab
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/inspect", tag = "browser", operation_id = "inspect_tab",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::Inspect,
    responses((status = OK, description = "The page, in outline or whole", body = api::BrowserAnswer)))]
async fn inspect(
    caller: Authorized<ReadBrowser>,
    request: RequestBody<api::Inspect>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.inspect_tab(request.body).await
}

/// Take a picture of a tab
///
/// It is a file beside the journal, and goes with the session. Fields and texts that show secrets that were typed are painted
/// over.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/screenshot", tag = "browser",
    operation_id = "take_screenshot",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::TakeScreenshot,
    responses((status = CREATED, description = "The picture", body = api::TakenScreenshot)))]
async fn take_screenshot(
    caller: Authorized<UseBrowser>,
    request: RequestBody<api::TakeScreenshot>,
) -> Result<Created<api::TakenScreenshot>, CallError> {
    caller.take_screenshot(request.body, request.options).await.map(Created)
}

/// List the pictures of pages
#[utoipa::path(get, path = "/v1/sessions/{session}/browser/screenshots", tag = "browser",
    operation_id = "list_screenshots",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The pictures, the oldest first", body = api::ScreenshotList)))]
async fn list_screenshots(caller: Authorized<ReadBrowser>) -> Result<Answer<api::ScreenshotList>, CallError> {
    caller.list_screenshots().await
}

/// Get a picture of a page
#[utoipa::path(get, path = "/v1/sessions/{session}/browser/screenshots/{file}", tag = "browser",
    operation_id = "read_screenshot",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("file" = String, Path, description = "The name of the file")),
    responses((status = OK, description = "The picture", body = Vec<u8>, content_type = "image/png")))]
async fn read_screenshot(
    caller: Authorized<ReadBrowser>,
    ScreenshotFile(file): ScreenshotFile,
) -> Result<Response, CallError> {
    let png = caller.read_screenshot(&file).await?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("image/png"))], png).into_response())
}

/// Remove a picture of a page
#[utoipa::path(delete, path = "/v1/sessions/{session}/browser/screenshots/{file}", tag = "browser",
    operation_id = "remove_screenshot",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("file" = String, Path, description = "The name of the file")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn remove_screenshot(
    caller: Authorized<UseBrowser>,
    ScreenshotFile(file): ScreenshotFile,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.remove_screenshot(&file, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
