//! What is asked of the browser of a session, and what is answered.

use std::sync::Arc;

use callboard_api as api;
use callboard_browser::{Arrived, Browser, BrowserChange, Notice, Screenshot, SnapshotLimits, TokenLimit};
use callboard_core::{
    browser::{Act, BrowserCall, BrowserStep, CloseTab, Extract, Inspect, Inspection, Navigate, OpenTab},
    conversation::ToolResult,
    prompt::observed::{Observed, Tab},
};
use callboard_engine::{Error, Session, sizes};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::broadcast::{Receiver, error::TryRecvError};

use super::{
    Browsers, act,
    told::{self, refused},
};

/// How many tokens the text of a page has at most.
const PAGE_TOKENS: usize = 6_000;

/// How many bytes a picture has at most that models are shown.
const SHOWN_BYTES: usize = 3 << 20;

fn tokens(text: &str) -> usize {
    usize::try_from(sizes().count(text).0).unwrap_or(usize::MAX)
}

impl callboard_engine::Browsers for Browsers {
    fn call<'a>(&'a self, session: &'a Session, call: BrowserCall) -> BoxFuture<'a, Result<ToolResult, Error>> {
        Box::pin(async move {
            let told = match call {
                BrowserCall::Open(tab) => self.open_tab(session, tab).await,
                BrowserCall::Close(tab) => self.close_tab(session, tab).await,
                BrowserCall::Navigate(to) => self.navigate(session, to).await,
                BrowserCall::Act(act) => self.do_actions(session, act).await,
                BrowserCall::Inspect(inspect) => return self.inspect(session, inspect).await,
            };
            told.map(ToolResult::from)
        })
    }

    fn act<'a>(
        &'a self,
        session: &'a Session,
        tab_name: Option<&'a str>,
        steps: &'a [BrowserStep],
    ) -> BoxFuture<'a, Result<Map<String, Value>, Error>> {
        Box::pin(self.node_acts(session, tab_name, steps))
    }

    fn extract<'a>(
        &'a self,
        session: &'a Session,
        tab_name: Option<&'a str>,
        fields: &'a [(Arc<str>, Extract)],
    ) -> BoxFuture<'a, Result<Map<String, Value>, Error>> {
        Box::pin(self.node_reads(session, tab_name, fields))
    }

    fn tabs<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Observed<Vec<Tab>>> {
        Box::pin(async move {
            let patience = self.0.settings.patience;
            let seen = async { self.running(session).await };
            let browser = match tokio::time::timeout(patience, seen).await {
                Ok(Ok(Some(browser))) => browser,
                Ok(Ok(None)) => return Observed::Absent,
                Ok(Err(error)) => return Observed::Failed(error.to_string()),
                Err(_) => return Observed::Failed("the browser is still being started".to_owned()),
            };
            match browser.ping(patience).await {
                Ok(()) => Observed::Seen(browser.tabs().into_iter().map(seen_as).collect()),
                Err(error) => Observed::Failed(error.to_string()),
            }
        })
    }
}

fn seen_as(tab: callboard_browser::TabState) -> Tab {
    let callboard_browser::TabState { name, url, title, active } = tab;
    Tab { name, url, title, active }
}

impl Browsers {
    async fn open_tab(&self, session: &Session, OpenTab { url, tab_name }: OpenTab) -> Result<String, Error> {
        act::no_secret(&url, "/url")?;
        self.check(&url)?;
        let browser = self.started(session).await?;
        let mut changes = browser.changes();
        let page = browser.open(&url, &tab_name).await.map_err(refused)?;
        let done = format!("Opened the tab {tab_name:?}.");
        Ok(told::navigated(&done, &page, &notices(&mut changes)))
    }

    async fn navigate(&self, session: &Session, to: Navigate) -> Result<String, Error> {
        let Navigate { url, tab_name, .. } = to;
        act::no_secret(&url, "/url")?;
        let (browser, tab) = self.tab(session, tab_name).await?;
        let mut changes = browser.changes();
        let page = browser.navigate(&tab, &url).await.map_err(refused)?;
        let done = format!("The tab {tab:?} was led there.");
        Ok(told::navigated(&done, &page, &notices(&mut changes)))
    }

    async fn close_tab(&self, session: &Session, CloseTab { tab_name }: CloseTab) -> Result<String, Error> {
        let Some(name) = tab_name else {
            self.end(session.id()).await?;
            return Ok("Ended the browser, with all of its tabs.".to_owned());
        };
        let browser = self.running(session).await?.ok_or_else(told::no_tab)?;
        browser.close(&name).await.map_err(refused)?;
        Ok(format!("Closed the tab {name:?}."))
    }

    async fn do_actions(&self, session: &Session, act: Act) -> Result<String, Error> {
        let steps = act.steps("")?;
        let mut actions = Vec::with_capacity(steps.len());
        for (at, step) in steps.iter().enumerate() {
            let pointer = if act.actions.is_empty() { String::new() } else { format!("/actions/{at}") };
            actions.push(act::action(session, step, &pointer).await?);
        }
        let (browser, tab) = self.tab(session, act.tab_name).await?;
        let mut changes = browser.changes();
        let (mut lines, mut page) = (String::new(), Arrived::default());
        for (at, (step, action)) in steps.iter().zip(actions).enumerate() {
            match browser.act(&tab, action).await {
                Ok(acted) => {
                    lines.push_str(&format!("{}. {}: done{}\n", at + 1, act::in_words(step), loading(acted.loaded)));
                    page = Arrived { restarted: page.restarted || acted.restarted, ..acted };
                }
                Err(error) => {
                    return Err(told::stopped(refused(error), &lines, &act::in_words(step), at, steps.len()));
                }
            }
        }
        Ok(told::acted(&lines, &tab, &page, &notices(&mut changes)))
    }

    async fn inspect(&self, session: &Session, inspect: Inspect) -> Result<ToolResult, Error> {
        let Inspect { tab_name, inspection_type, instruction, selector } = inspect;
        let (browser, tab) = self.tab(session, tab_name).await?;
        let limit = TokenLimit { most: PAGE_TOKENS, count: tokens };
        let has_more = instruction.is_some() || selector.is_some();
        let limits = SnapshotLimits { tokens: Some(limit), within: selector, ..SnapshotLimits::default() };
        match inspection_type {
            Inspection::DomSnapshot => {
                let snapshot = browser.snapshot(&tab, &limits).await.map_err(refused)?;
                Ok(told::snapshot(&tab, &snapshot).into())
            }
            Inspection::Screenshot => self.picture(session, &browser, tab).await,
            Inspection::LightweightExploration => {
                let look = browser.look(&tab).await.map_err(refused)?;
                let page = match has_more {
                    true => Some(browser.snapshot(&tab, &limits).await.map_err(refused)?),
                    false => None,
                };
                Ok(told::look(&tab, &look, instruction.as_deref(), page.as_ref()).into())
            }
        }
    }

    /// Shows a picture of a tab.
    async fn picture(&self, session: &Session, browser: &Browser, tab: String) -> Result<ToolResult, Error> {
        let (kept, taken) = self.screenshot(session, Some(tab)).await?;
        let shown = browser.tabs().into_iter().find(|tab| tab.name == kept.tab_name);
        let url = shown.map(|tab| tab.url).unwrap_or_default();
        let is_shown = taken.png.len() <= SHOWN_BYTES;
        let text = told::picture(&kept, &url, taken.restarted, is_shown).into();
        let media = is_shown.then(|| told::image(&taken.base64()));
        Ok(ToolResult { text, media: media.into_iter().collect(), copied_from: Vec::new() })
    }

    /// Takes a picture of a tab, and keeps it as a file. Gives what is said of it, and the picture.
    pub(crate) async fn screenshot(
        &self,
        session: &Session,
        named: Option<String>,
    ) -> Result<(api::TakenScreenshot, Screenshot), Error> {
        let (browser, tab_name) = self.tab(session, named).await?;
        let taken = browser.screenshot(&tab_name).await.map_err(refused)?;
        let (id, now) = (session.id(), session.now().await?);
        let file = self.screenshots().keep(id, &taken.png, now).await.map_err(told::not_kept)?;
        let path = format!("/v1/sessions/{id}/browser/screenshots/{file}");
        Ok((api::TakenScreenshot { file, path, tab_name, covered: taken.covered }, taken))
    }

    /// The browser of a session that has one, and the tab that is meant: the named one, else the one in front.
    pub(super) async fn tab(&self, session: &Session, named: Option<String>) -> Result<(Browser, String), Error> {
        let browser = self.running(session).await?.ok_or_else(told::no_tab)?;
        let front = || browser.tabs().into_iter().find(|tab| tab.active).map(|tab| tab.name);
        let only = || browser.tabs().into_iter().next().map(|tab| tab.name);
        let tab = named.or_else(front).or_else(only).ok_or_else(told::no_tab)?;
        Ok((browser, tab))
    }
}

fn loading(loaded: bool) -> &'static str {
    if loaded { "" } else { ", and the page that it led to is still loading" }
}

/// What happened since that nobody asked for.
fn notices(changes: &mut Receiver<BrowserChange>) -> Vec<Notice> {
    let mut notices = Vec::new();
    loop {
        match changes.try_recv() {
            Ok(BrowserChange::Notice(notice)) => notices.push(notice),
            Ok(BrowserChange::Tabs(_)) | Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return notices,
        }
    }
}
