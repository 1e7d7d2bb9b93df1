//! Acting on a page as a person does: with the mouse and the keyboard.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use crate::{
    Browser, BrowserError,
    browser::{Live, Target},
    keys::Key,
    navigate::Arrived,
    page::FoundElement,
    selectors::Selector,
};

/// Something to do on a page. Selectors are CSS, `text=…` or `role=NAME[name="…"]`, with ` >> nth=N` where several match.
#[derive(Clone, Debug)]
pub enum Action {
    /// Click on an element.
    Click {
        /// Which one.
        selector: String,
    },
    /// Type into a field, in the place of what stands in it.
    Type {
        /// Which field.
        selector: String,
        /// What to type, in pieces.
        text: Vec<Piece>,
    },
    /// Press a key, such as `Enter` or `Control+a`.
    Press {
        /// The element that gets the focus first. Without one the key goes to what has the focus.
        selector: Option<String>,
        /// The key.
        key: String,
    },
    /// Select options of a list by their values or their texts.
    Select {
        /// Which list.
        selector: String,
        /// The options; more than one where the list allows it.
        options: Vec<String>,
    },
    /// Wait for something.
    Wait(WaitFor),
    /// Scroll.
    Scroll {
        /// The element to bring into view. Without one the page is scrolled by `pixels`.
        selector: Option<String>,
        /// How far down; negative numbers go up.
        pixels: i32,
    },
}

/// A piece of a text to type.
#[derive(Clone, Debug)]
pub enum Piece {
    /// As it is.
    Plain(String),
    /// A secret.
    Secret(Secret),
}

/// A value that is typed only into pages of these origins, and never comes back out of the browser.
#[derive(Clone)]
pub struct Secret {
    /// Its name, which may be shown.
    pub name: String,
    /// The value.
    pub value: Zeroizing<String>,
    /// The origins of top-level pages into which it may be typed: `https://accounts.example.com`.
    pub origins: Vec<String>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("origins", &self.origins).finish_non_exhaustive()
    }
}

/// What to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// An element that is visible.
    Selector(String),
    /// A text on the page.
    Text(String),
    /// Some time.
    Time(Duration),
}

/// How often the page is asked again for something that is not there yet.
pub(crate) const BETWEEN: Duration = Duration::from_millis(60);
/// After this time a page that an action loads has begun to load.
const BEGINS: Duration = Duration::from_millis(60);
/// A longer text is put in as one piece.
const MOST_KEYS: usize = 200;

impl Browser {
    /// Does something on the page of a tab. If that loads a page, it is waited for.
    pub async fn act(&self, name: &str, action: Action) -> Result<Arrived, BrowserError> {
        let (live, restarted) = self.live().await?;
        let target = self.target(name)?;
        let started = Instant::now();
        let before = live.proxy.as_ref().map_or(0, |proxy| proxy.last_failure());
        let pretends = self.pretend(&live, &target).await?;
        let done = self.perform(&live, &target, &action).await;
        if pretends {
            self.stop_pretending(&live, &target).await?;
        }
        done?;
        let loaded = match action {
            Action::Wait(_) | Action::Scroll { .. } => true,
            _ => self.settle(&target).await,
        };
        if loaded && self.inner.shared.tabs().by_target(&target.id).is_some() {
            self.inner.refresh(&live, &target).await;
        }
        self.inner.check_landing(&live, &target, before)?;
        Ok(Arrived { restarted, ..self.inner.arrived(&target, loaded, started.elapsed()) })
    }

    /// A tab behind others takes no input. So that a call in one tab does not bring it to the front, it is only told that it is there.
    async fn pretend(&self, live: &Live, target: &Target) -> Result<bool, BrowserError> {
        let behind = self.inner.shared.change(|tabs| {
            let behind = tabs.active.as_ref() != Some(&target.id);
            if let Some(tab) = tabs.by_target(&target.id).filter(|_| behind) {
                tab.pretends = true;
            }
            behind
        });
        if behind {
            let params = json!({"enabled": true});
            let _: Value =
                live.devtools.call(Some(&target.session), "Emulation.setFocusEmulationEnabled", params).await?;
        }
        Ok(behind)
    }

    async fn stop_pretending(&self, live: &Live, target: &Target) -> Result<(), BrowserError> {
        let params = json!({"enabled": false});
        let stopped =
            live.devtools.call::<Value>(Some(&target.session), "Emulation.setFocusEmulationEnabled", params).await;
        self.inner.shared.change(|tabs| {
            if let Some(tab) = tabs.by_target(&target.id) {
                tab.pretends = false;
            }
        });
        match stopped {
            // The action closed the tab.
            Err(BrowserError::Refused { .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn perform(&self, live: &Live, target: &Target, action: &Action) -> Result<(), BrowserError> {
        match action {
            Action::Click { selector } => self.click(live, target, selector).await,
            Action::Type { selector, text } => self.type_text(live, target, selector, text).await,
            Action::Press { selector, key } => self.press(live, target, selector.as_deref(), key).await,
            Action::Select { selector, options } => {
                let selector = Selector::parse(selector)?;
                let argument = json!({"selector": selector, "options": options});
                self.find(live, target, &selector, "choose", &argument).await.map(drop)
            }
            Action::Wait(wait) => self.wait(live, target, wait).await,
            Action::Scroll { selector: Some(selector), .. } => {
                let selector = Selector::parse(selector)?;
                self.find(live, target, &selector, "scrollTo", &selector).await.map(drop)
            }
            Action::Scroll { selector: None, pixels } => {
                let Point { x, y } = live.run(target, "middle", &()).await?;
                let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": pixels});
                mouse(live, target, wheel).await
            }
        }
    }

    async fn click(&self, live: &Live, target: &Target, selector: &str) -> Result<(), BrowserError> {
        let selector = Selector::parse(selector)?;
        let FoundElement { x, y, .. } = self.find(live, target, &selector, "aim", &selector).await?;
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1});
            mouse(live, target, event).await?;
        }
        Ok(())
    }

    async fn press(&self, live: &Live, target: &Target, selector: Option<&str>, key: &str) -> Result<(), BrowserError> {
        let key = Key::parse(key)?;
        if let Some(selector) = selector {
            let selector = Selector::parse(selector)?;
            self.find(live, target, &selector, "focusAny", &selector).await?;
        }
        keyboard(live, target, &key).await
    }

    async fn type_text(
        &self,
        live: &Live,
        target: &Target,
        selector: &str,
        pieces: &[Piece],
    ) -> Result<(), BrowserError> {
        let selector = Selector::parse(selector)?;
        let secret = pieces.iter().any(|piece| matches!(piece, Piece::Secret(_)));
        let field = json!({"selector": selector, "replace": true, "secret": secret});
        let again = json!({"selector": selector, "replace": false, "secret": secret});
        let found = self.find(live, target, &selector, "focusField", &field).await?;
        // All are checked before a piece of any is typed.
        for piece in pieces {
            if let Piece::Secret(secret) = piece {
                allowed(secret, &found.origin)?;
            }
        }
        keyboard(live, target, &Key::parse("Delete")?).await?;
        for piece in pieces {
            match piece {
                Piece::Plain(text) => type_plain(live, target, text).await?,
                Piece::Secret(secret) => {
                    self.inner.shared.mask.add(&secret.value);
                    // What was typed before may have led elsewhere. Between this check and the typing the page could only be
                    // left for another whose field takes the focus at once.
                    let found = self.find(live, target, &selector, "focusField", &again).await?;
                    allowed(secret, &found.origin)?;
                    insert(live, target, &secret.value).await?;
                }
            }
        }
        Ok(())
    }

    async fn wait(&self, live: &Live, target: &Target, wait: &WaitFor) -> Result<(), BrowserError> {
        let limit = self.inner.shared.settings.timeouts.wait;
        let source = match wait {
            WaitFor::Time(time) if *time > limit => {
                return Err(BrowserError::TimedOut { what: "waiting so long".into(), limit });
            }
            WaitFor::Time(time) => {
                sleep(*time).await;
                return Ok(());
            }
            WaitFor::Selector(selector) => selector.clone(),
            WaitFor::Text(text) => format!("text={text}"),
        };
        let selector = Selector::parse(&source)?;
        let end = Instant::now() + limit;
        loop {
            let there: There = live.run(target, "isThere", &selector).await?;
            match there {
                There { bad: Some(reason), .. } => return Err(BrowserError::BadSelector { selector: source, reason }),
                There { there: true, .. } => return Ok(()),
                _ if Instant::now() > end => {
                    return Err(BrowserError::TimedOut { what: format!("waiting for `{source}`"), limit });
                }
                _ => sleep(BETWEEN).await,
            }
        }
    }

    /// Asks the page for an element, for a moment also again, since pages build themselves step by step.
    async fn find(
        &self,
        live: &Live,
        target: &Target,
        selector: &Selector,
        function: &str,
        argument: &impl Serialize,
    ) -> Result<FoundElement, BrowserError> {
        let shared = &self.inner.shared;
        let end = Instant::now() + shared.settings.timeouts.find;
        loop {
            let found: FoundElement = live.run(target, function, argument).await?;
            if !found.may_change() || Instant::now() > end {
                return found.into_element(selector, &shared.mask);
            }
            sleep(BETWEEN).await;
        }
    }

    /// Waits until a page that the action may have begun to load has loaded; false if it has not within the limit.
    async fn settle(&self, target: &Target) -> bool {
        sleep(BEGINS).await;
        let shared = &self.inner.shared;
        let loaded = shared.until(shared.settings.timeouts.settle, |tabs| {
            // A tab that is gone loads nothing.
            tabs.by_target(&target.id).is_none_or(|tab| !tab.loading).then_some(())
        });
        loaded.await.is_some()
    }
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct There {
    bad: Option<String>,
    #[serde(default)]
    there: bool,
}

fn allowed(secret: &Secret, origin: &str) -> Result<(), BrowserError> {
    let same = |allowed: &String| {
        url::Url::parse(allowed).is_ok_and(|allowed| allowed.origin().ascii_serialization() == origin)
    };
    // A page without an origin of its own has the origin `null`, which is that of every such page.
    if origin != "null" && secret.origins.iter().any(same) {
        return Ok(());
    }
    Err(BrowserError::SecretNotAllowed {
        name: secret.name.clone(),
        origin: origin.to_owned(),
        allowed: secret.origins.clone(),
    })
}

async fn type_plain(live: &Live, target: &Target, text: &str) -> Result<(), BrowserError> {
    if text.chars().count() > MOST_KEYS {
        return insert(live, target, text).await;
    }
    for c in text.replace("\r\n", "\n").chars() {
        match Key::for_char(c) {
            Some(key) => keyboard(live, target, &key).await?,
            None => insert(live, target, &c.to_string()).await?,
        }
    }
    Ok(())
}

async fn insert(live: &Live, target: &Target, text: &str) -> Result<(), BrowserError> {
    let _: Value = live.devtools.call(Some(&target.session), "Input.insertText", json!({"text": text})).await?;
    Ok(())
}

async fn keyboard(live: &Live, target: &Target, key: &Key) -> Result<(), BrowserError> {
    for event in key.events() {
        let _: Value = live.devtools.call(Some(&target.session), "Input.dispatchKeyEvent", event).await?;
    }
    Ok(())
}

async fn mouse(live: &Live, target: &Target, event: Value) -> Result<(), BrowserError> {
    let sent = live.devtools.call::<Value>(Some(&target.session), "Input.dispatchMouseEvent", event).await;
    match sent {
        // The press closed the tab.
        Err(BrowserError::Refused { reason, .. }) if reason.contains("closed") || reason.contains("not found") => {
            Ok(())
        }
        other => other.map(drop),
    }
}
