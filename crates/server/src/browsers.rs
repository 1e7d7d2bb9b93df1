//! The browsers of sessions: one for each that needs one. It is started when a page is opened first, and ends with its session
//! or with the server.

mod act;
mod ask;
mod node;
mod screenshots;
mod settings;
mod told;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use callboard_browser::{
    Browser, BrowserChange, BrowserError, BrowserStatus, MaskFn, Profile, ReservedPorts, Rules, Way,
};
use callboard_core::{
    browser::{CHANGED, NOTICED},
    error::Error as Refusal,
    id::SessionId,
};
use callboard_engine::{Board, Ephemeral, Error, Mask, Session};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::settings::BrowserSettings;
use self::{screenshots::Screenshots, told::refused};

/// All browsers of a server. Its clones are the same.
#[derive(Clone)]
pub(crate) struct Browsers(Arc<Inner>);

struct Inner {
    board: Board,
    settings: BrowserSettings,
    /// The addresses of the server itself, which no page may reach.
    own: Vec<SocketAddr>,
    reserved: ReservedPorts,
    open: Mutex<BTreeMap<SessionId, Arc<SessionBrowser>>>,
    screenshots: Screenshots,
    closing: CancellationToken,
    tasks: TaskTracker,
}

/// The place of the browser of a session.
pub(crate) struct SessionBrowser {
    session: Session,
    /// What hides the secrets of the session, as it was known at the last call.
    mask: Arc<RwLock<Arc<Mask>>>,
    /// Locked while the browser is started or ended, and never while it works.
    browser: tokio::sync::Mutex<Option<Browser>>,
}

impl Browsers {
    /// The browsers of a server that listens on `own`.
    pub(crate) fn new(
        board: Board,
        settings: &BrowserSettings,
        own: Vec<SocketAddr>,
        closing: CancellationToken,
    ) -> Self {
        let screenshots = Screenshots::new(settings.screenshots.clone());
        let settings = settings.clone();
        let (reserved, open, tasks) = Default::default();
        Self(Arc::new(Inner { board, settings, own, reserved, open, screenshots, closing, tasks }))
    }

    /// The pictures of pages.
    pub(crate) fn screenshots(&self) -> &Screenshots {
        &self.0.screenshots
    }

    /// How the browser of a session is; `None` where it has none.
    pub(crate) async fn status(&self, session: &SessionId) -> Option<BrowserStatus> {
        let place = self.place(session)?;
        let browser = tokio::time::timeout(self.0.settings.patience, place.browser.lock()).await.ok()?.clone();
        browser.map(|browser| browser.status())
    }

    /// Ends the browser of a session, if it has one.
    pub(crate) async fn end(&self, session: &SessionId) -> Result<(), Error> {
        let Some(place) = self.open().remove(session) else { return Ok(()) };
        end(&place).await.map_err(refused)
    }

    /// Ends the browser of a session that is gone, and removes its pictures.
    pub(crate) async fn forget(&self, session: &SessionId) {
        if let Err(error) = self.end(session).await {
            tracing::warn!(%session, %error, "the browser of a session that is gone could not be ended in order");
        }
        self.screenshots().forget(session).await;
    }

    /// Ends all browsers, once the server is closing.
    pub(crate) async fn ended(&self) {
        let places = std::mem::take(&mut *self.open());
        let ends = places.into_iter().map(|(session, place)| async move {
            if let Err(error) = end(&place).await {
                tracing::warn!(%session, %error, "a browser could not be ended in order");
            }
        });
        futures::future::join_all(ends).await;
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Removes the pictures of sessions that are gone, again and again.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(self.0.settings.sweep_every).await;
            if let Err(error) = self.screenshots().sweep(&self.0.board).await {
                tracing::warn!(%error, "the pictures of pages could not be cleaned up; trying again later");
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<SessionBrowser>>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, session: &SessionId) -> Option<Arc<SessionBrowser>> {
        // Another session may have its name by now.
        self.open().get(session).filter(|place| place.session.known().is_ok()).cloned()
    }

    /// The browser of a session, as it is; `None` where it has none.
    async fn running(&self, session: &Session) -> Result<Option<Browser>, Error> {
        let Some(place) = self.place(session.id()) else { return Ok(None) };
        place.learn(session.mask().await?);
        Ok(place.browser.lock().await.clone())
    }

    /// Refuses an address that no browser of this server opens.
    fn check(&self, url: &str) -> Result<(), Error> {
        self.0.settings.rules.check(url).map_err(refused)
    }

    /// The browser of a session, which is started where it is not there.
    async fn started(&self, session: &Session) -> Result<Browser, Error> {
        let place = self.made(session)?;
        place.learn(session.mask().await?);
        let mut browser = place.browser.lock().await;
        if let Some(browser) = &*browser {
            return Ok(browser.clone());
        }
        if self.0.closing.is_cancelled() {
            return Err(Error::Closed);
        }
        match Browser::start(self.settings_for(&place)).await {
            Ok(started) => {
                self.follow(place.session.clone(), &started);
                *browser = Some(started.clone());
                Ok(started)
            }
            Err(error) => {
                drop(browser);
                self.open().remove(session.id());
                Err(refused(error))
            }
        }
    }

    fn made(&self, session: &Session) -> Result<Arc<SessionBrowser>, Error> {
        if let Some(place) = self.place(session.id()) {
            return Ok(place);
        }
        let mut open = self.open();
        let most = self.0.settings.most;
        if open.len() >= most && !open.contains_key(session.id()) {
            let what = format!("{most} sessions have a browser, and this server runs no more: end one first");
            return Err(Refusal::Outside { code: "too_many_browsers", what }.into());
        }
        let (mask, browser) = Default::default();
        let place = Arc::new(SessionBrowser { session: session.clone(), mask, browser });
        open.insert(session.id().clone(), place.clone());
        Ok(place)
    }

    fn settings_for(&self, place: &SessionBrowser) -> callboard_browser::Settings {
        let Inner { settings, own, reserved, .. } = &*self.0;
        let way = match &settings.attach {
            Some(url) => Way::Attach { url: url.clone() },
            None => Way::Start { headless: settings.headless },
        };
        let profile = match &settings.profiles {
            Some(folder) => Profile::Kept(folder.join(place.session.id().as_str())),
            None => Profile::Fresh,
        };
        let refuse = settings.rules.refuse.iter().chain(own).copied().collect();
        let (mask, same) = (place.mask.clone(), place.mask.clone());
        let any = move || !mask.read().unwrap_or_else(PoisonError::into_inner).is_empty();
        let find = move |text: &str| same.read().unwrap_or_else(PoisonError::into_inner).found(text);
        callboard_browser::Settings {
            way,
            program: settings.program.clone(),
            search_path: settings.search_path.clone(),
            profile,
            rules: Rules { refuse, ..settings.rules.clone() },
            reserved: reserved.clone(),
            mask: Some(MaskFn::new(any, find)),
            ..callboard_browser::Settings::default()
        }
    }

    /// Tells those who listen to the session what happens in its browser, until either is gone.
    fn follow(&self, session: Session, browser: &Browser) {
        let (browsers, mut changes, closing) = (self.clone(), browser.changes(), self.0.closing.clone());
        let supervisor = self.0.board.settings().supervisor.clone();
        self.0.tasks.spawn(async move {
            let following = supervisor.once("browser", async move {
                let mut gone = pin!(session.when(|_| None::<()>));
                loop {
                    tokio::select! {
                        biased;
                        () = closing.cancelled() => return,
                        _ = &mut gone => return browsers.forget(session.id()).await,
                        change = changes.recv() => match change {
                            Ok(change) => session.tell(event(change)),
                            // The next change has all tabs again.
                            Err(RecvError::Lagged(_)) => {}
                            Err(RecvError::Closed) => return,
                        },
                    }
                }
            });
            following.await;
        });
    }
}

impl SessionBrowser {
    fn learn(&self, mask: Arc<Mask>) {
        *self.mask.write().unwrap_or_else(PoisonError::into_inner) = mask;
    }
}

async fn end(place: &SessionBrowser) -> Result<(), BrowserError> {
    match place.browser.lock().await.take() {
        Some(browser) => browser.stop().await,
        None => Ok(()),
    }
}

/// A change as those who listen hear of it.
fn event(change: BrowserChange) -> Ephemeral {
    let (kind, data) = match change {
        BrowserChange::Tabs(tabs) => (CHANGED, json!({ "tabs": tabs })),
        // A notice always has a form in JSON.
        BrowserChange::Notice(notice) => (NOTICED, serde_json::to_value(notice).unwrap_or(Value::Null)),
    };
    Ephemeral::Browser { kind, data: data.into() }
}
