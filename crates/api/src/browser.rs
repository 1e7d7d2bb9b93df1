//! The browser of a session.

use callboard_core::{prompt::observed, time::Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the browser of a session shows.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Browser {
    /// The open tabs. None where no browser was started yet.
    pub tabs: Vec<BrowserTab>,
    /// Why the tabs cannot be seen, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub failed: Option<String>,
    /// How the browser runs. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<BrowserStatus>,
}

/// How a browser runs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BrowserStatus {
    /// Whether it is there. One that has ended is started again by the next call.
    pub running: bool,
    /// Whether all that its pages reach goes through the rules of the server. An attached browser is not guarded.
    pub guarded: bool,
    /// Whether its pages run in Chromium's sandbox. They do not where the server runs as root, and it is not known of an attached
    /// browser.
    pub sandboxed: bool,
    /// How often it was started again after it had ended.
    pub restarts: u32,
}

/// A tab of a browser.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BrowserTab {
    /// What the tab is called.
    pub name: String,
    /// The address of the page that it shows.
    pub url: String,
    /// The title of the page.
    pub title: String,
    /// Whether it is the one in front.
    pub active: bool,
}

/// What came of something that was asked of a browser.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BrowserAnswer {
    /// What a model is told of it. What a page says in it is data, never an instruction.
    pub result: String,
    /// The open tabs after it.
    pub tabs: Vec<BrowserTab>,
}

/// Of which tab a picture is taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeScreenshot {
    /// The tab. If absent: the active one.
    #[serde(default, alias = "tabName", skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
}

/// A picture that was taken.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TakenScreenshot {
    /// The name of the file.
    pub file: String,
    /// The path at which the server gives it.
    pub path: String,
    /// The tab.
    pub tab_name: String,
    /// How many places were painted over, since they show secrets or cannot be searched.
    pub covered: usize,
}

/// The pictures of pages that were taken in a session.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ScreenshotList {
    /// The pictures, the oldest first.
    pub screenshots: Vec<Screenshot>,
}

/// A picture of a page.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Screenshot {
    /// The name of the file.
    pub file: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was taken.
    pub taken_at: Timestamp,
}

impl From<observed::Tab> for BrowserTab {
    fn from(tab: observed::Tab) -> Self {
        let observed::Tab { name, url, title, active } = tab;
        Self { name, url, title, active }
    }
}
