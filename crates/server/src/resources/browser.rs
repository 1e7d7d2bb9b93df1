//! The browser of a session.

use std::io;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use callboard_core::{browser::BrowserCall, error::Error as Refusal, prompt::observed::Observed};

use crate::{
    browsers::Browsers,
    call::*,
    params::ScreenshotFile,
    rights::{Permission, ReadBrowser, UseBrowser},
    write_options::WriteOptions,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_browser))
        .routes(routes!(open_tab))
        .routes(routes!(close_tab))
        .routes(routes!(navigate_tab))
        .routes(routes!(act_in_tab))
        .routes(routes!(inspect_tab))
        .routes(routes!(take_screenshot))
        .routes(routes!(list_screenshots))
        .routes(routes!(read_screenshot, remove_screenshot))
}

/// Read which tabs are open
///
/// It starts no browser. The first `open` does.
#[utoipa::path(get, path = "/v1/sessions/{session}/browser", tag = "browser",
    responses((status = OK, description = "The open tabs", body = api::Browser)))]
async fn read_browser(caller: Authorized<ReadBrowser>) -> Result<Answer<api::Browser>, CallError> {
    Ok(Answer::ok(shown(&caller).await?))
}

/// Open a page in a new tab
///
/// The browser of the session is started where it is not there yet. An address that the server may not open is 403
/// `address_refused`.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/open", tag = "browser",
    request_body = api::OpenTab,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn open_tab(
    caller: Authorized<UseBrowser>,
    RequestBody { body: tab, options }: RequestBody<api::OpenTab>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.call(BrowserCall::Open(tab), options).await
}

/// Close a tab
///
/// Without a tab the whole browser ends.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/close", tag = "browser",
    request_body = api::CloseTab,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn close_tab(
    caller: Authorized<UseBrowser>,
    RequestBody { body: tab, options }: RequestBody<api::CloseTab>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.call(BrowserCall::Close(tab), options).await
}

/// Show another page in a tab
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/navigate", tag = "browser",
    request_body = api::Navigate,
    responses((status = OK, description = "What came of it", body = api::BrowserAnswer)))]
async fn navigate_tab(
    caller: Authorized<UseBrowser>,
    RequestBody { body: to, options }: RequestBody<api::Navigate>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.call(BrowserCall::Navigate(to), options).await
}

/// Do something in a tab
///
/// One action, or several in order until one fails. To type a secret, name it: `{{secret:NAME}}`.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/action", tag = "browser",
    request_body = api::Act,
    responses((status = OK, description = "What came of each action", body = api::BrowserAnswer)))]
async fn act_in_tab(
    caller: Authorized<UseBrowser>,
    RequestBody { body: act, options }: RequestBody<api::Act>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    caller.call(BrowserCall::Act(act), options).await
}

/// Look at the page in a tab
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/inspect", tag = "browser",
    request_body = api::Inspect,
    responses((status = OK, description = "The page, in outline or whole", body = api::BrowserAnswer)))]
async fn inspect_tab(
    caller: Authorized<ReadBrowser>,
    RequestBody { body: inspect, .. }: RequestBody<api::Inspect>,
) -> Result<Answer<api::BrowserAnswer>, CallError> {
    if inspect.inspection_type == api::Inspection::Screenshot {
        let instead = "pictures are taken with POST …/browser/screenshot, which gives the path of the file";
        return Err(Refusal::invalid("/inspection_type", instead).into());
    }
    Ok(Answer::ok(ask(&caller, BrowserCall::Inspect(inspect)).await?))
}

/// Take a picture of a tab
///
/// It is a file beside the journal, and goes with the session. Fields and texts that show secrets of the session are painted
/// over, and so are frames that cannot be read where it has any.
#[utoipa::path(post, path = "/v1/sessions/{session}/browser/screenshot", tag = "browser",
    request_body = api::TakeScreenshot,
    responses((status = CREATED, description = "The picture", body = api::TakenScreenshot)))]
async fn take_screenshot(
    caller: Authorized<UseBrowser>,
    RequestBody { body: wanted, options }: RequestBody<api::TakeScreenshot>,
) -> Result<Answer<api::TakenScreenshot>, CallError> {
    let take = async |_: bool| {
        let (kept, _) = browsers(&caller)?.screenshot(&caller.session, wanted.tab_name).await?;
        Ok::<_, CallError>(kept)
    };
    Ok(Answer::ok(caller.idempotent(&options, take).await?).created())
}

/// List the pictures of pages
#[utoipa::path(get, path = "/v1/sessions/{session}/browser/screenshots", tag = "browser",
    responses((status = OK, description = "The pictures, the oldest first", body = api::ScreenshotList)))]
async fn list_screenshots(caller: Authorized<ReadBrowser>) -> Result<Answer<api::ScreenshotList>, CallError> {
    let screenshots = browsers(&caller)?.screenshots().list(caller.session.id()).await.map_err(unreadable)?;
    Ok(Answer::ok(api::ScreenshotList { screenshots }))
}

/// Get a picture of a page
#[utoipa::path(get, path = "/v1/sessions/{session}/browser/screenshots/{file}", tag = "browser",
    params(InPath<ScreenshotFile>),
    responses((status = OK, description = "The picture", body = Vec<u8>, content_type = "image/png")))]
async fn read_screenshot(
    caller: Authorized<ReadBrowser>,
    InPath(ScreenshotFile(file)): InPath<ScreenshotFile>,
) -> Result<Response, CallError> {
    let read = browsers(&caller)?.screenshots().read(caller.session.id(), &file).await.map_err(unreadable)?;
    let png = read.ok_or_else(|| no_screenshot(&file))?;
    Ok(([(header::CONTENT_TYPE, "image/png")], png).into_response())
}

/// Remove a picture of a page
#[utoipa::path(delete, path = "/v1/sessions/{session}/browser/screenshots/{file}", tag = "browser",
    params(InPath<ScreenshotFile>),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn remove_screenshot(
    caller: Authorized<UseBrowser>,
    InPath(ScreenshotFile(file)): InPath<ScreenshotFile>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.expect(&options).await?;
    let screenshots = browsers(&caller)?.screenshots();
    let removed = screenshots.remove(caller.session.id(), &file).await.map_err(unreadable)?;
    // A repeat of the request finds nothing.
    if removed || options.request.is_some() { Ok(StatusCode::NO_CONTENT) } else { Err(no_screenshot(&file)) }
}

impl Authorized<UseBrowser> {
    async fn call(&self, call: BrowserCall, options: WriteOptions) -> Result<Answer<api::BrowserAnswer>, CallError> {
        Ok(Answer::ok(self.idempotent(&options, async |_| ask(self, call).await).await?))
    }
}

async fn ask<R: Permission>(caller: &Authorized<R>, call: BrowserCall) -> Result<api::BrowserAnswer, CallError> {
    let browsers: &dyn callboard_engine::Browsers = browsers(caller)?;
    let result = browsers.call(&caller.session, call).await?.text.to_string();
    Ok(api::BrowserAnswer { result, tabs: shown(caller).await?.tabs })
}

async fn shown<R: Permission>(caller: &Authorized<R>) -> Result<api::Browser, CallError> {
    let browsers = browsers(caller)?;
    let status = browsers.status(caller.session.id()).await.map(|status| api::BrowserStatus {
        running: status.running,
        guarded: status.guarded,
        sandboxed: status.sandboxed,
        restarts: status.restarts,
    });
    let (tabs, failed) = match callboard_engine::Browsers::tabs(browsers, &caller.session).await {
        Observed::Absent => (Vec::new(), None),
        Observed::Failed(why) => (Vec::new(), Some(why)),
        Observed::Seen(tabs) => (tabs.into_iter().map(Into::into).collect(), None),
    };
    Ok(api::Browser { tabs, failed, status })
}

fn browsers<R>(caller: &Authorized<R>) -> Result<&Browsers, CallError> {
    caller.app.browsers.as_ref().ok_or_else(|| {
        CallError::new("no_browser", "sessions have no browser here")
            .hint("browsers live in a server: start `callboard serve`, and name it with --url")
    })
}

fn no_screenshot(file: &str) -> CallError {
    CallError::not_found("picture", file)
}

fn unreadable(error: io::Error) -> CallError {
    CallError::new("io", format!("the pictures of pages cannot be read or written: {error}"))
}
