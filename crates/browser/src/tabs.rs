//! The tabs as they are now.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::sync::{broadcast, watch};

use crate::{BrowserError, Notice, Settings, mask::Mask};

/// A tab as callers see it. Its address and title have no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TabState {
    /// The name that a caller gave it.
    pub name: String,
    /// The address that it shows.
    pub url: String,
    /// The title of its page.
    pub title: String,
    /// It is the one in front. At most one tab is.
    pub active: bool,
}

/// Something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserChange {
    /// The tabs, as they are now.
    Tabs(Vec<TabState>),
    /// Something happened that nobody asked for.
    Notice(Notice),
}

/// A tab as we know it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tab {
    /// `None` until the call that opened it has said which one it is.
    pub(crate) name: Option<String>,
    pub(crate) target: String,
    /// `None` while the browser is gone.
    pub(crate) session: Option<String>,
    pub(crate) url: String,
    pub(crate) title: String,
    /// The document that is in the main frame, and the last one that has loaded.
    pub(crate) loader: String,
    pub(crate) loaded: String,
    pub(crate) loading: bool,
    pub(crate) crashed: bool,
    /// It is told that it is in front, so that it takes input; what it reports about that is not believed.
    pub(crate) pretends: bool,
}

impl Tab {
    /// What its page says of itself. A page of Chromium about an error is not what was asked for.
    pub(crate) fn show(&mut self, url: String, title: String) {
        if !url.starts_with("chrome-error:") {
            self.url = url;
        }
        self.title = title;
    }
}

#[derive(Default)]
pub(crate) struct Tabs {
    pub(crate) all: Vec<Tab>,
    /// The target of the active tab.
    pub(crate) active: Option<String>,
    /// The blank tab that Chromium starts with. It is not listed, and keeps Chromium open when the last tab is closed.
    pub(crate) anchor: Option<String>,
    pub(crate) anchor_session: Option<String>,
    /// How many calls are about to open a tab, which may be attached before they know it.
    pub(crate) opening: usize,
    pub(crate) pop_ups: usize,
    /// What the last window that a page opens is to show.
    pub(crate) next_pop_up_url: String,
    /// The browser is told to end, so its end is no crash.
    pub(crate) stopping: bool,
}

impl Tabs {
    pub(crate) fn by_session(&mut self, session: Option<&str>) -> Option<&mut Tab> {
        session.and_then(|session| self.all.iter_mut().find(|tab| tab.session.as_deref() == Some(session)))
    }

    pub(crate) fn by_target(&mut self, target: &str) -> Option<&mut Tab> {
        self.all.iter_mut().find(|tab| tab.target == target)
    }

    pub(crate) fn by_name(&mut self, name: &str) -> Result<&mut Tab, BrowserError> {
        let open = self.all.iter().filter_map(|tab| tab.name.clone()).collect();
        let found = self.all.iter_mut().find(|tab| tab.name.as_deref() == Some(name));
        found.ok_or_else(|| BrowserError::NoTab { name: name.to_owned(), open })
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.all.iter().any(|tab| tab.name.as_deref() == Some(name))
    }
}

/// What the calls and the connection's task share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) mask: Mask,
    tabs: Mutex<Tabs>,
    version: watch::Sender<u64>,
    changes: broadcast::Sender<BrowserChange>,
    last: Mutex<Vec<TabState>>,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
        let mask = Mask::new(settings.mask.clone());
        let (version, changes) = (watch::Sender::new(0), broadcast::Sender::new(1024));
        Self { settings, mask, tabs: Mutex::default(), version, changes, last: Mutex::default() }
    }

    /// For a moment; never across a wait.
    pub(crate) fn tabs(&self) -> MutexGuard<'_, Tabs> {
        self.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the tabs and tells everyone who waits.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Tabs) -> T) -> T {
        let answer = change(&mut self.tabs());
        // The lists are compared and sent in the order in which they were made.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.list();
        if *last != now {
            last.clone_from(&now);
            // Nobody may be listening.
            let _ = self.changes.send(BrowserChange::Tabs(now));
        }
        drop(last);
        self.version.send_modify(|version| *version += 1);
        answer
    }

    pub(crate) fn notice(&self, notice: Notice) {
        tracing::debug!(?notice, "browser");
        // Nobody may be listening.
        let _ = self.changes.send(BrowserChange::Notice(notice));
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<BrowserChange> {
        self.changes.subscribe()
    }

    pub(crate) fn list(&self) -> Vec<TabState> {
        let tabs = self.tabs();
        let listed = tabs.all.iter().filter_map(|tab| {
            Some(TabState {
                name: tab.name.clone()?,
                url: self.mask.url(&tab.url),
                title: self.mask.text(&tab.title),
                active: tabs.active.as_ref() == Some(&tab.target),
            })
        });
        listed.collect()
    }

    /// Waits until the tabs are so; `None` if they are not within the limit.
    pub(crate) async fn until<T>(&self, limit: Duration, mut test: impl FnMut(&mut Tabs) -> Option<T>) -> Option<T> {
        let mut version = self.version.subscribe();
        let waited = async {
            loop {
                if let Some(answer) = test(&mut self.tabs()) {
                    return Some(answer);
                }
                // The sender is in `self`, so this cannot fail while we are here.
                version.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, waited).await.ok().flatten()
    }
}
