//! Opening addresses.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Browser, BrowserError,
    browser::{Inner, Live, Target},
    page::TabPage,
    rules::plain_host,
};

/// Where a tab is after a page was opened in it, or something was done on its page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Arrived {
    /// The address that the tab shows now, which may be another than the one asked for.
    pub url: String,
    /// The title of the page.
    pub title: String,
    /// The page has loaded, or nothing was loaded. If not, the tab can be used all the same; `url` says what it shows.
    pub loaded: bool,
    /// How long that took, in milliseconds.
    pub took_ms: u64,
    /// The browser had ended, and was started again for this.
    pub restarted: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "loaderId")]
    loader: Option<String>,
    #[serde(rename = "errorText")]
    error: Option<String>,
    #[serde(rename = "isDownload", default)]
    download: bool,
}

impl Browser {
    /// Opens an address in a new tab with this name, which becomes the active one. If the address cannot be loaded, the tab is closed again.
    pub async fn open(&self, url: &str, name: &str) -> Result<Arrived, BrowserError> {
        let chars = name.chars().count();
        if name.trim() != name || !(1..=100).contains(&chars) || name.chars().any(char::is_control) {
            return Err(BrowserError::BadName { name: name.to_owned() });
        }
        self.inner.check_url(url)?;
        let (live, restarted) = self.live().await?;
        let shared = &self.inner.shared;
        {
            let tabs = shared.tabs();
            let limit = shared.settings.limits.tabs;
            if tabs.is_named(name) {
                return Err(BrowserError::NameTaken { name: name.to_owned() });
            }
            if tabs.all.len() >= limit {
                return Err(BrowserError::TooManyTabs { limit });
            }
        }
        let target = self.inner.new_tab(&live, name).await?;
        match self.inner.load(&live, &target, url, shared.settings.timeouts.load).await {
            Ok(page) => Ok(Arrived { restarted, ..page }),
            Err(error) => {
                self.close(name).await?;
                Err(error)
            }
        }
    }

    /// Opens an address in a tab and waits until the page has loaded, at most as long as [`crate::Timeouts::load`] says.
    pub async fn navigate(&self, name: &str, url: &str) -> Result<Arrived, BrowserError> {
        self.inner.check_url(url)?;
        let (live, restarted) = self.live().await?;
        // A crashed page is loaded anew by this.
        self.inner.shared.tabs().by_name(name)?.crashed = false;
        let target = self.target(name)?;
        let page = self.inner.load(&live, &target, url, self.inner.shared.settings.timeouts.load).await?;
        Ok(Arrived { restarted, ..page })
    }
}

impl Inner {
    fn check_url(&self, url: &str) -> Result<url::Url, BrowserError> {
        let shared = &self.shared;
        let refused = |reason| BrowserError::AddressRefused { url: shared.mask.url(url), reason };
        shared.settings.rules.check_url(url).map_err(refused)
    }

    /// Checks the address, opens it, and waits until it has loaded.
    pub(crate) async fn load(
        &self,
        live: &Live,
        target: &Target,
        url: &str,
        limit: Duration,
    ) -> Result<Arrived, BrowserError> {
        let started = Instant::now();
        let address = self.check_url(url)?;
        if let (Some(host), Some(port)) = (address.host_str(), address.port_or_known_default()) {
            let own = self.shared.settings.reserved.addresses();
            // The proxy checks again, what the page loads too; this gives the reason before anything is sent.
            if let Err(reason) = self.shared.settings.rules.resolve(host, port, &own).await {
                let shown = self.shared.mask.url(url);
                return Err(if reason.contains(" is unknown: ") {
                    BrowserError::CannotLoad { url: shown, reason }
                } else {
                    BrowserError::AddressRefused { url: shown, reason }
                });
            }
        }
        let before = live.proxy.as_ref().map_or(0, |proxy| proxy.last_failure());
        let session = Some(target.session.as_str());
        let asked = live
            .devtools
            .call_within::<Answer>(limit, session, "Page.navigate", json!({"url": address.as_str()}))
            .await;
        let answer = match asked {
            Ok(answer) => answer,
            // The server sends nothing: without this the tab would go on waiting.
            Err(BrowserError::TimedOut { .. }) => {
                let _: Value = live.devtools.call(session, "Page.stopLoading", json!({})).await?;
                return Ok(self.arrived(target, false, started.elapsed()));
            }
            Err(error) => return Err(error),
        };
        self.check_answer(live, target, &answer, url, before)?;
        let loaded = match &answer.loader {
            // Within the same document.
            None => true,
            Some(loader) => {
                let left = limit.saturating_sub(started.elapsed());
                let loaded = self.shared.until(left, |tabs| {
                    // Another document may have come in between, by a redirect in the page.
                    let tab = tabs.by_target(&target.id)?;
                    let same =
                        tab.loaded == *loader || (tab.loader != *loader && !tab.loader.is_empty() && !tab.loading);
                    (same && tab.loaded == tab.loader).then_some(())
                });
                loaded.await.is_some()
            }
        };
        if loaded {
            self.refresh(live, target).await;
        }
        self.check_landing(live, target, before)?;
        Ok(self.arrived(target, loaded, started.elapsed()))
    }

    fn check_answer(
        &self,
        live: &Live,
        target: &Target,
        answer: &Answer,
        url: &str,
        before: u64,
    ) -> Result<(), BrowserError> {
        let Some(error) = &answer.error else { return Ok(()) };
        let url = self.shared.mask.url(url);
        if answer.download {
            return Err(BrowserError::CannotLoad { url, reason: "it is a download, and those are refused".into() });
        }
        self.check_landing(live, target, before)?;
        let failure = live.proxy.as_ref().and_then(|proxy| proxy.failure_since(before, |_| error.contains("TUNNEL")));
        match failure {
            Some(failure) if failure.refused => Err(BrowserError::AddressRefused { url, reason: failure.reason }),
            Some(failure) => Err(BrowserError::CannotLoad { url, reason: failure.reason }),
            None => Err(BrowserError::CannotLoad { url, reason: error.clone() }),
        }
    }

    /// Whether the tab shows what the proxy says instead of a page.
    pub(crate) fn check_landing(&self, live: &Live, target: &Target, before: u64) -> Result<(), BrowserError> {
        let shown = self.shared.tabs().by_target(&target.id).map(|tab| tab.url.clone()).unwrap_or_default();
        let Some(address) = url::Url::parse(&shown).ok().filter(url::Url::has_host) else { return Ok(()) };
        let place = (plain_host(address.host_str().unwrap_or_default()), address.port_or_known_default());
        let same = |failure: &crate::proxy::Failure| (failure.host.clone(), Some(failure.port)) == place;
        let url = self.shared.mask.url(&shown);
        match live.proxy.as_ref().and_then(|proxy| proxy.failure_since(before, same)) {
            Some(failure) if failure.refused => Err(BrowserError::AddressRefused { url, reason: failure.reason }),
            Some(failure) => Err(BrowserError::CannotLoad { url, reason: failure.reason }),
            None => Ok(()),
        }
    }

    /// What the tab shows, without secrets.
    pub(crate) fn arrived(&self, target: &Target, loaded: bool, took: Duration) -> Arrived {
        let mut tabs = self.shared.tabs();
        let (url, title) =
            tabs.by_target(&target.id).map(|tab| (tab.url.clone(), tab.title.clone())).unwrap_or_default();
        drop(tabs);
        let (url, title) = (self.shared.mask.url(&url), self.shared.mask.text(&title));
        let took_ms = took.as_millis().try_into().unwrap_or(u64::MAX);
        Arrived { url, title, loaded, took_ms, restarted: false }
    }

    /// Asks the page for its address and title: its own report may still be under way.
    pub(crate) async fn refresh(&self, live: &Live, target: &Target) {
        match live.run::<TabPage>(target, "place", &()).await {
            Ok(place) => self.shared.change(|tabs| {
                if let Some(tab) = tabs.by_target(&target.id) {
                    tab.show(place.url, place.title);
                }
            }),
            // The tab was closed, or hangs: what is known already stays.
            Err(error) => tracing::debug!(%error, "a page does not say what it is"),
        }
    }
}
