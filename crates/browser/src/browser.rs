//! The browser: started on demand, started again when it has ended, and its tabs by name.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{sync::broadcast, task::JoinHandle};

use crate::{
    BrowserChange, BrowserError, Notice, Settings, TabState, Way,
    chromium::{Chromium, is_sandboxed},
    devtools::DevTools,
    proxy::{OWN_HOST, Proxy},
    tabs::Shared,
    watch::Watcher,
};

/// A browser with named tabs. Clones are the same browser; it ends when the last one is dropped, or with [`Browser::stop`].
#[derive(Clone)]
pub struct Browser {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    live: tokio::sync::Mutex<Option<Arc<Live>>>,
    status: Mutex<BrowserStatus>,
    restarts: AtomicU32,
    /// Screenshots need their tab in front, so they are taken one by one.
    pub(crate) front: tokio::sync::Mutex<()>,
}

/// How the browser is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BrowserStatus {
    /// It is there.
    pub running: bool,
    /// Its process, if it is ours.
    pub pid: Option<u32>,
    /// Its pages run in Chromium's sandbox. They do not as root, and it is not known of an attached browser.
    pub sandboxed: bool,
    /// All of its traffic goes through the rules. That of an attached browser does not.
    pub guarded: bool,
    /// How often it was started again after it had ended.
    pub restarts: u32,
}

/// One life of the browser.
pub(crate) struct Live {
    pub(crate) devtools: DevTools,
    pub(crate) proxy: Option<Proxy>,
    chromium: Mutex<Option<Chromium>>,
    task: JoinHandle<()>,
}

/// A tab as a call uses it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) session: String,
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "targetId")]
    target: String,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Browser {
    /// Starts the browser, or attaches to it.
    pub async fn start(settings: Settings) -> Result<Self, BrowserError> {
        let browser = Self {
            inner: Arc::new(Inner {
                shared: Arc::new(Shared::new(settings)),
                live: tokio::sync::Mutex::default(),
                status: Mutex::default(),
                restarts: AtomicU32::new(0),
                front: tokio::sync::Mutex::default(),
            }),
        };
        let mut live = browser.inner.live.lock().await;
        *live = Some(Arc::new(browser.inner.launch().await?));
        drop(live);
        Ok(browser)
    }

    /// The tabs as they are now, in the order in which they were opened. Also there while the browser is not.
    pub fn tabs(&self) -> Vec<TabState> {
        self.inner.shared.list()
    }

    /// Every change of the tabs, and every notice, from now on. A receiver that falls more than 1,024 behind is told so.
    pub fn changes(&self) -> broadcast::Receiver<BrowserChange> {
        self.inner.shared.subscribe()
    }

    /// How the browser is.
    pub fn status(&self) -> BrowserStatus {
        let status = self.inner.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let live = self.inner.live.try_lock().ok().and_then(|live| live.clone());
        // While it is being started, what was known before is said.
        let running = live.map_or(status.running, |live| live.devtools.is_alive());
        BrowserStatus { running, restarts: self.inner.restarts.load(Ordering::Relaxed), ..status }
    }

    /// Asks the browser for a sign of life. It is not started for that.
    pub async fn ping(&self, limit: Duration) -> Result<(), BrowserError> {
        let gone = || BrowserError::Gone { during: "a look at it".to_owned() };
        let asked = async {
            let live = self.inner.live.lock().await.clone().filter(|live| live.devtools.is_alive()).ok_or_else(gone)?;
            let _: Value = live.devtools.call_within(limit, None, "Browser.getVersion", json!({})).await?;
            Ok(())
        };
        let timed_out = |_| BrowserError::TimedOut { what: "the answer of the browser".to_owned(), limit };
        tokio::time::timeout(limit, asked).await.map_err(timed_out)?
    }

    /// Closes a tab. Its page is not asked.
    pub async fn close(&self, name: &str) -> Result<(), BrowserError> {
        let (live, _) = self.live().await?;
        let target = self.target(name)?;
        let _: Value = live.devtools.call(None, "Target.closeTarget", json!({"targetId": target.id})).await?;
        let shared = &self.inner.shared;
        let closed =
            shared.until(shared.settings.timeouts.command, |tabs| tabs.by_target(&target.id).is_none().then_some(()));
        if closed.await.is_none() {
            shared.change(|tabs| tabs.all.retain(|tab| tab.target != target.id));
        }
        Ok(())
    }

    /// Ends the browser: first it is asked to, then its process is killed. A browser that was attached to keeps running. A later call starts it anew, without tabs.
    pub async fn stop(&self) -> Result<(), BrowserError> {
        let mut live = self.inner.live.lock().await;
        self.inner.shared.tabs().stopping = true;
        let ended = match live.take() {
            Some(live) => self.inner.end(&live).await,
            None => Ok(()),
        };
        self.inner.shared.change(|tabs| *tabs = crate::tabs::Tabs::default());
        *self.inner.status.lock().unwrap_or_else(PoisonError::into_inner) = BrowserStatus::default();
        ended
    }

    /// The browser as it runs, and whether it had to be started again for this call.
    pub(crate) async fn live(&self) -> Result<(Arc<Live>, bool), BrowserError> {
        let mut slot = self.inner.live.lock().await;
        if let Some(live) = slot.as_ref().filter(|live| live.devtools.is_alive()) {
            return Ok((live.clone(), false));
        }
        if let Some(dead) = slot.take() {
            self.inner.end(&dead).await?;
        }
        let live = Arc::new(self.inner.launch().await?);
        *slot = Some(live.clone());
        self.inner.restarts.fetch_add(1, Ordering::Relaxed);
        let names = self.inner.open_again(&live).await?;
        self.inner.shared.notice(Notice::Restarted { tabs: names });
        Ok((live, true))
    }

    /// The tab with this name, if its page can be used.
    pub(crate) fn target(&self, name: &str) -> Result<Target, BrowserError> {
        let mut tabs = self.inner.shared.tabs();
        let tab = tabs.by_name(name)?;
        if tab.crashed {
            return Err(BrowserError::TabCrashed { name: name.to_owned() });
        }
        let session =
            tab.session.clone().ok_or_else(|| BrowserError::Gone { during: format!("the use of the tab {name}") })?;
        Ok(Target { id: tab.target.clone(), session })
    }
}

impl Inner {
    async fn launch(&self) -> Result<Live, BrowserError> {
        let settings = &self.shared.settings;
        self.shared.tabs().stopping = false;
        let (live, status) = match &settings.way {
            Way::Start { headless } => self.start_chromium(*headless).await?,
            Way::Attach { url } => {
                let address = devtools_address(url, settings.timeouts.start).await?;
                if let Some(port) = url::Url::parse(&address).ok().and_then(|address| address.port_or_known_default()) {
                    settings.reserved.reserve(port);
                }
                let watcher = Watcher { shared: self.shared.clone(), credentials: None };
                let (devtools, task) = DevTools::connect(&address, settings.timeouts.command, watcher).await?;
                let live = Live { devtools, proxy: None, chromium: Mutex::new(None), task };
                (live, BrowserStatus { running: true, ..BrowserStatus::default() })
            }
        };
        let _: Value = live.devtools.call(None, "Target.setDiscoverTargets", json!({"discover": true})).await?;
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        Ok(live)
    }

    async fn start_chromium(&self, headless: bool) -> Result<(Live, BrowserStatus), BrowserError> {
        let settings = &self.shared.settings;
        let shared = self.shared.clone();
        let proxy = Proxy::start(settings.rules.clone(), settings.reserved.clone(), move |failure| {
            let host = format!("{}:{}", failure.host, failure.port);
            let (host, reason) = (shared.mask.text(&host), shared.mask.text(&failure.reason));
            shared.notice(Notice::AddressRefused { host, reason });
        });
        let proxy = proxy.await?;
        let chromium = Chromium::start(settings, headless, proxy.port).await?;
        proxy.refuse_port(chromium.port);
        let credentials = Some((proxy.user.clone(), proxy.password.clone()));
        let watcher = Watcher { shared: self.shared.clone(), credentials };
        let (devtools, task) = DevTools::connect(&chromium.url, settings.timeouts.command, watcher).await?;
        let status =
            BrowserStatus { running: true, pid: chromium.pid(), sandboxed: is_sandboxed(), guarded: true, restarts: 0 };
        let live = Live { devtools, proxy: Some(proxy), chromium: Mutex::new(Some(chromium)), task };
        let pages = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{"type": "page", "exclude": false}, {"exclude": true}]});
        let _: Value = live.devtools.call(None, "Target.setAutoAttach", pages).await?;
        let downloads = json!({"behavior": "deny", "eventsEnabled": true});
        let _: Value = live.devtools.call(None, "Browser.setDownloadBehavior", downloads).await?;
        self.give_password(&live).await?;
        Ok((live, status))
    }

    /// Lets Chromium ask for the password of the proxy once, in the blank tab. It keeps it as long as it runs.
    async fn give_password(&self, live: &Live) -> Result<(), BrowserError> {
        let limit = self.shared.settings.timeouts.start;
        let anchor = self.shared.until(limit, |tabs| tabs.anchor_session.clone()).await;
        let anchor = anchor.ok_or(BrowserError::TimedOut { what: "the first tab of the browser".into(), limit })?;
        let session = Some(anchor.as_str());
        let own = format!("http://{OWN_HOST}/");
        let asked = json!({"handleAuthRequests": true, "patterns": [{"urlPattern": format!("{own}*")}]});
        let _: Value = live.devtools.call(session, "Fetch.enable", asked).await?;
        let _: Value = live.devtools.call(session, "Page.navigate", json!({"url": own})).await?;
        let _: Value = live.devtools.call(session, "Fetch.disable", json!({})).await?;
        Ok(())
    }

    /// Opens a blank tab with this name.
    pub(crate) async fn new_tab(&self, live: &Live, name: &str) -> Result<Target, BrowserError> {
        self.shared.tabs().opening += 1;
        let claimed = self.claim_tab(live, name).await;
        self.shared.change(|tabs| {
            tabs.opening = tabs.opening.saturating_sub(1);
            if tabs.opening == 0 {
                // What nobody claimed comes from a call that failed.
                tabs.all.retain(|tab| tab.name.is_some());
            }
        });
        claimed
    }

    async fn claim_tab(&self, live: &Live, name: &str) -> Result<Target, BrowserError> {
        let limit = self.shared.settings.timeouts.command;
        let created: Created = live.devtools.call(None, "Target.createTarget", json!({"url": "about:blank"})).await?;
        let target = created.target;
        if live.proxy.is_none() {
            let params = json!({"targetId": target, "flatten": true});
            let _: Value = live.devtools.call(None, "Target.attachToTarget", params).await?;
        }
        let session =
            self.shared.until(limit, |tabs| tabs.by_target(&target).and_then(|tab| tab.session.clone())).await;
        let session = session.ok_or_else(|| BrowserError::TimedOut { what: "opening a tab".into(), limit })?;
        self.shared.change(|tabs| {
            if let Some(tab) = tabs.by_target(&target) {
                tab.name = Some(name.to_owned());
            }
            tabs.active = Some(target.clone());
        });
        Ok(Target { id: target, session })
    }

    pub(crate) async fn bring_to_front(&self, live: &Live, target: &Target) -> Result<(), BrowserError> {
        let _: Value = live.devtools.call(None, "Target.activateTarget", json!({"targetId": target.id})).await?;
        self.shared.change(|tabs| tabs.active = Some(target.id.clone()));
        Ok(())
    }

    /// Opens the tabs that were open before the browser ended, and returns their names.
    async fn open_again(&self, live: &Live) -> Result<Vec<String>, BrowserError> {
        let (lost, front) = self.shared.change(|tabs| {
            let front = tabs.active.take();
            (tabs.all.extract_if(.., |tab| tab.session.is_none()).collect::<Vec<_>>(), front)
        });
        let mut names = Vec::new();
        let mut active = None;
        for tab in lost {
            let Some(name) = tab.name else { continue };
            let target = self.new_tab(live, &name).await?;
            if let Err(error) = self.load(live, &target, &tab.url, self.shared.settings.timeouts.settle).await {
                // The tab is there, blank; the caller sees so in its state.
                tracing::debug!(%error, name, "a tab of the browser cannot be loaded again");
            }
            if front.as_ref() == Some(&tab.target) {
                active = Some(target);
            }
            names.push(name);
        }
        if let Some(target) = active {
            self.bring_to_front(live, &target).await?;
        }
        Ok(names)
    }

    async fn end(&self, live: &Live) -> Result<(), BrowserError> {
        let chromium = live.chromium.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(chromium) = chromium else { return Ok(()) };
        let limit = self.shared.settings.timeouts.stop;
        if live.devtools.is_alive() {
            let asked = live.devtools.call_within::<Value>(limit, None, "Browser.close", json!({})).await;
            if let Err(error) = asked {
                // It may end before it answers; what does not end is killed.
                tracing::debug!(%error, "the browser was asked to end");
            }
        }
        chromium.end(limit).await
    }
}

/// The address of the WebSocket of a running browser.
async fn devtools_address(url: &str, limit: std::time::Duration) -> Result<String, BrowserError> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let cannot = |reason: String| BrowserError::CannotAttach { url: url.to_owned(), reason };
    if url.starts_with("ws://") {
        return Ok(url.to_owned());
    }
    let parsed = url::Url::parse(url).map_err(|error| cannot(error.to_string()))?;
    let (Some(host), Some(port), "http") = (parsed.host_str(), parsed.port_or_known_default(), parsed.scheme()) else {
        return Err(cannot("it is neither http:// nor ws://".into()));
    };
    let asked = async {
        let mut stream = tokio::net::TcpStream::connect((host, port)).await?;
        let request = format!("GET /json/version HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        // The answer is short, and some versions keep the connection open behind it.
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") && !answer.ends_with(b"}\n") && answer.len() < 65_536 {
            if stream.read_buf(&mut answer).await? == 0 {
                break;
            }
        }
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = tokio::time::timeout(limit, asked).await.map_err(|_| cannot("no answer".into()))?;
    let answer = answer.map_err(|error| cannot(error.to_string()))?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    let version: Value = serde_json::from_str(body).map_err(|_| cannot("what answers is no browser".into()))?;
    let address = version.get("webSocketDebuggerUrl").and_then(Value::as_str);
    address.map(str::to_owned).ok_or_else(|| cannot("it names no address for DevTools".into()))
}
