//! The browser of a session.

use std::io;

use callboard_api as api;
use callboard_core::{
    browser::{Act, BrowserCall, CloseTab, Inspect, Navigate, OpenTab},
    prompt::observed::Observed,
};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{ReadBrowser, Right, UseBrowser},
};
use crate::browsers::Browsers;

impl Authorized<ReadBrowser> {
    /// Read what the browser shows
    pub(crate) async fn read_browser(&self) -> Result<Answer<api::Browser>, CallError> {
        Ok(Answer::ok(shown(self).await?))
    }

    /// Look at the page in a tab
    pub(crate) async fn inspect_tab(&self, inspect: Inspect) -> Result<Answer<api::BrowserAnswer>, CallError> {
        Ok(Answer::ok(ask(self, BrowserCall::Inspect(inspect)).await?))
    }

    /// List the pictures of pages
    pub(crate) async fn list_screenshots(&self) -> Result<Answer<api::ScreenshotList>, CallError> {
        let screenshots = browsers(self)?.screenshots().list(self.session.id()).await.map_err(unreadable)?;
        Ok(Answer::ok(api::ScreenshotList { screenshots }))
    }

    /// Get a picture of a page: the bytes of a PNG file
    pub(crate) async fn read_screenshot(&self, file: &str) -> Result<Vec<u8>, CallError> {
        let read = browsers(self)?.screenshots().read(self.session.id(), file).await.map_err(unreadable)?;
        read.ok_or_else(|| no_screenshot(file))
    }
}

impl Authorized<UseBrowser> {
    /// Open a page in a new tab
    pub(crate) async fn open_tab(
        &self,
        tab: OpenTab,
        options: WriteOptions,
    ) -> Result<Answer<api::BrowserAnswer>, CallError> {
        self.change(BrowserCall::Open(tab), options).await
    }

    /// Close a tab, or end the browser
    pub(crate) async fn close_tab(
        &self,
        tab: CloseTab,
        options: WriteOptions,
    ) -> Result<Answer<api::BrowserAnswer>, CallError> {
        self.change(BrowserCall::Close(tab), options).await
    }

    /// Show another page in a tab
    pub(crate) async fn navigate(
        &self,
        to: Navigate,
        options: WriteOptions,
    ) -> Result<Answer<api::BrowserAnswer>, CallError> {
        self.change(BrowserCall::Navigate(to), options).await
    }

    /// Do something in a tab
    pub(crate) async fn act(&self, act: Act, options: WriteOptions) -> Result<Answer<api::BrowserAnswer>, CallError> {
        self.change(BrowserCall::Act(act), options).await
    }

    /// Take a picture of a tab, and keep it
    pub(crate) async fn take_screenshot(
        &self,
        wanted: api::TakeScreenshot,
        options: WriteOptions,
    ) -> Result<Answer<api::TakenScreenshot>, CallError> {
        let take = async |_: bool| {
            let browsers = browsers(self)?;
            let (tab_name, taken) = browsers.screenshot(&self.session, wanted.tab_name).await?;
            let (id, now) = (self.session.id(), self.session.now().await?);
            let file = browsers.screenshots().keep(id, &taken.png, now).await.map_err(unreadable)?;
            let path = format!("/v1/sessions/{id}/browser/screenshots/{file}");
            Ok::<_, CallError>(api::TakenScreenshot { file, path, tab_name, covered: taken.covered })
        };
        Ok(Answer::ok(self.idempotent(&options, take).await?))
    }

    /// Remove a picture of a page
    pub(crate) async fn remove_screenshot(&self, file: &str, options: WriteOptions) -> Result<(), CallError> {
        self.expect(&options).await?;
        let removed = browsers(self)?.screenshots().remove(self.session.id(), file).await.map_err(unreadable)?;
        if removed || options.request.is_some() { Ok(()) } else { Err(no_screenshot(file)) }
    }

    async fn change(&self, call: BrowserCall, options: WriteOptions) -> Result<Answer<api::BrowserAnswer>, CallError> {
        Ok(Answer::ok(self.idempotent(&options, async |_| ask(self, call).await).await?))
    }
}

async fn ask<R: Right>(caller: &Authorized<R>, call: BrowserCall) -> Result<api::BrowserAnswer, CallError> {
    let browsers: &dyn callboard_engine::Browsers = browsers(caller)?;
    let result = browsers.call(&caller.session, call).await?;
    Ok(api::BrowserAnswer { result, tabs: shown(caller).await?.tabs })
}

async fn shown<R: Right>(caller: &Authorized<R>) -> Result<api::Browser, CallError> {
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
    CallError::not_found(format!("there is no picture {file:?}"))
}

fn unreadable(error: io::Error) -> CallError {
    CallError::new("io", format!("the pictures of pages cannot be read or written: {error}"))
}
