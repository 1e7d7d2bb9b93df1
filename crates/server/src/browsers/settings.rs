//! How the browsers of a server are started, and how far they may go.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use callboard_browser::Rules;

/// How the browsers of a server are started, and how far they may go.
#[derive(Clone, Debug)]
pub struct BrowserSettings {
    /// The DevTools address of a running browser that all sessions use, each with tabs of its own. It is unguarded: its pages
    /// reach what they like. If absent: each session has a Chromium of its own.
    pub attach: Option<String>,
    /// Without windows.
    pub headless: bool,
    /// The path of Chromium. If absent: it is looked for.
    pub program: Option<PathBuf>,
    /// The value of `PATH` in which Chromium is looked for.
    pub search_path: Option<OsString>,
    /// A folder in which the profile of each session is kept. If absent: a profile goes with its browser.
    pub profiles: Option<PathBuf>,
    /// A folder for the pictures of pages, which nothing else writes to. If absent: one that goes with the server.
    pub screenshots: Option<PathBuf>,
    /// Which addresses pages may reach.
    pub rules: Rules,
    /// How many sessions may have a browser at the same time.
    pub most: usize,
    /// How often pictures of sessions that are gone are looked for.
    pub sweep_every: Duration,
    /// How long a prompt waits for a sign of life of a browser.
    pub patience: Duration,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self {
            attach: None,
            headless: true,
            program: None,
            search_path: None,
            profiles: None,
            screenshots: None,
            rules: Rules::default(),
            most: 16,
            sweep_every: Duration::from_secs(60),
            patience: Duration::from_millis(700),
        }
    }
}
