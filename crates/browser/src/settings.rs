//! How a browser is started and how far it may go.

use std::{path::PathBuf, time::Duration};

use crate::{MaskFn, ReservedPorts, Rules};

/// How to start a browser. [`Settings::default`] starts a headless Chromium with a fresh profile and the strictest rules.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Start Chromium, or attach to one.
    pub way: Way,
    /// The path of Chromium, as the caller found it in its variables. Without one it is looked for in `PATH`.
    pub program: Option<PathBuf>,
    /// The value of `PATH` in which Chromium is looked for. Without one the usual folders are searched.
    pub search_path: Option<std::ffi::OsString>,
    /// Where the profile is.
    pub profile: Profile,
    /// Which addresses pages may reach.
    pub rules: Rules,
    /// The ports that no page may reach. Browsers of one program share them.
    pub reserved: ReservedPorts,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How many tabs there may be and how large their windows are.
    pub limits: Limits,
    /// Finds the secrets that are hidden in everything that comes out of the browser.
    pub mask: Option<MaskFn>,
}

/// Where the browser comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Start Chromium.
    Start {
        /// Without a window.
        headless: bool,
    },
    /// Attach to a running one. It is unguarded: its pages reach what they like, and it is left running at the end.
    Attach {
        /// Its DevTools address: `http://127.0.0.1:9222` or `ws://…`.
        url: String,
    },
}

impl Default for Way {
    fn default() -> Self {
        Self::Start { headless: true }
    }
}

/// Where cookies and storage of pages are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// In a new folder that goes with the browser.
    #[default]
    Fresh,
    /// In this folder, which stays. Only one browser at a time can use it.
    Kept(PathBuf),
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until Chromium answers after its start.
    pub start: Duration,
    /// One DevTools command.
    pub command: Duration,
    /// Until a page has loaded.
    pub load: Duration,
    /// Until a page that an action loads has loaded.
    pub settle: Duration,
    /// How long an element that is not there is waited for.
    pub find: Duration,
    /// The longest [`crate::Action::Wait`].
    pub wait: Duration,
    /// Until Chromium has ended by itself; then it is killed.
    pub stop: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            command: Duration::from_secs(10),
            load: Duration::from_secs(20),
            settle: Duration::from_secs(5),
            find: Duration::from_secs(1),
            wait: Duration::from_secs(60),
            stop: Duration::from_secs(5),
        }
    }
}

/// Sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most tabs. Windows that pages open become tabs with names of their own, `popup-1`, `popup-2` and so on; those that would
    /// be too many are closed.
    pub tabs: usize,
    /// Width of the window in pixels.
    pub width: u32,
    /// Height of the window in pixels.
    pub height: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tabs: 20, width: 1280, height: 900 }
    }
}
