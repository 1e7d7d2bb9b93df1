//! Errors.

use std::{path::PathBuf, time::Duration};

/// Why the browser did not do what it was asked. No error contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// There is no Chromium on this machine.
    #[error(
        "no Chromium found ({looked}); install it, such as with `apt-get install chromium`, or name its path in the variable CHROMIUM"
    )]
    NotInstalled {
        /// Where it was looked for.
        looked: String,
    },
    /// Chromium is there but does not start.
    #[error("cannot start {path}: {reason}")]
    CannotStart {
        /// The program.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// There is no browser to attach to.
    #[error(
        "cannot attach to the browser at {url}: {reason}; start it with --remote-debugging-port and check the address"
    )]
    CannotAttach {
        /// Its DevTools address.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The browser ended in the middle of a call.
    #[error("the browser ended during {during}; call again, which starts it anew")]
    Gone {
        /// The DevTools command that was under way.
        during: String,
    },
    /// It took too long.
    #[error("{what} took longer than {} s; the tab can still be used", .limit.as_secs_f64())]
    TimedOut {
        /// What took too long.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// Chromium refused a DevTools command.
    #[error("the browser refused {method}: {reason}")]
    Refused {
        /// The command.
        method: String,
        /// What Chromium says.
        reason: String,
    },
    /// A DevTools answer is not as expected.
    #[error("the answer of the browser to {method} is not understood: {reason}")]
    NotUnderstood {
        /// The command.
        method: String,
        /// What is wrong.
        reason: String,
    },
    /// No tab has this name.
    #[error("there is no tab \"{name}\"; open tabs: {}", listed(.open))]
    NoTab {
        /// The name that was asked for.
        name: String,
        /// The names of the tabs that are open.
        open: Vec<String>,
    },
    /// Another tab has this name.
    #[error("there already is a tab \"{name}\"; navigate in it, close it, or take another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The name is no name for a tab.
    #[error("a tab's name has 1 to 100 characters and no control characters, not {name:?}")]
    BadName {
        /// The name.
        name: String,
    },
    /// There are too many tabs.
    #[error("there are already {limit} tabs; close one first")]
    TooManyTabs {
        /// The most tabs there may be.
        limit: usize,
    },
    /// The page's process ended.
    #[error("the page in tab \"{name}\" crashed; navigate in it again, or close it")]
    TabCrashed {
        /// The tab.
        name: String,
    },
    /// The address must not be opened.
    #[error("{url} is refused: {reason}")]
    AddressRefused {
        /// The address, with secrets hidden.
        url: String,
        /// Which rule refuses it, and what would allow it.
        reason: String,
    },
    /// The page could not be loaded.
    #[error("cannot load {url}: {reason}")]
    CannotLoad {
        /// The address, with secrets hidden.
        url: String,
        /// What Chromium says.
        reason: String,
    },
    /// The selector cannot be read.
    #[error("`{selector}` is no selector: {reason}; use CSS, `text=…` or `role=button[name=\"…\"]`")]
    BadSelector {
        /// The selector.
        selector: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The selector matches nothing.
    #[error("`{selector}` matches nothing{}", nearest_text(.nearest))]
    NothingMatches {
        /// The selector.
        selector: String,
        /// What on the page is nearest to it, each with its selector.
        nearest: Vec<String>,
    },
    /// The selector matches several elements.
    #[error("`{selector}` matches {count} elements, the first: {}; be more exact, or add ` >> nth=0`", listed(.examples))]
    SeveralMatch {
        /// The selector.
        selector: String,
        /// How many elements it matches.
        count: usize,
        /// The first of them, each with its own selector.
        examples: Vec<String>,
    },
    /// The element cannot be used in this way.
    #[error("`{selector}` cannot be used: {reason}")]
    NotUsable {
        /// The selector.
        selector: String,
        /// Why not.
        reason: String,
    },
    /// A list has no such option.
    #[error("`{selector}` has no option \"{option}\"; its options: {}", listed(.options))]
    NoOption {
        /// The selector.
        selector: String,
        /// What was to be selected.
        option: String,
        /// The options, at most 30.
        options: Vec<String>,
    },
    /// There is no such key.
    #[error("there is no key \"{key}\"; use names such as Enter, Tab, Escape, ArrowDown, a, Control+a")]
    BadKey {
        /// The key.
        key: String,
    },
    /// A secret must not be typed into this page.
    #[error("the secret \"{name}\" must not be typed into {origin}; it may be typed into: {}", listed(.allowed))]
    SecretNotAllowed {
        /// The name of the secret.
        name: String,
        /// The origin of the tab's page.
        origin: String,
        /// The origins that are allowed for this secret.
        allowed: Vec<String>,
    },
    /// A script of ours failed on the page.
    #[error("the page could not be read: {reason}")]
    Unreadable {
        /// What the script says.
        reason: String,
    },
    /// What shows secrets could not be painted over in a picture.
    #[error("there is no picture: the page shows secrets that could not be painted over; {reason}")]
    NotCovered {
        /// Why not.
        reason: String,
    },
    /// The file system or the network of this machine failed.
    #[error("cannot {what}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl BrowserError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotInstalled { .. } => "browser_not_installed",
            Self::CannotStart { .. } => "browser_cannot_start",
            Self::CannotAttach { .. } => "browser_cannot_attach",
            Self::Gone { .. } => "browser_gone",
            Self::TimedOut { .. } => "browser_timed_out",
            Self::Refused { .. } => "browser_refused",
            Self::NotUnderstood { .. } => "browser_not_understood",
            Self::NoTab { .. } => "no_such_tab",
            Self::NameTaken { .. } => "tab_name_taken",
            Self::BadName { .. } => "bad_tab_name",
            Self::TooManyTabs { .. } => "too_many_tabs",
            Self::TabCrashed { .. } => "tab_crashed",
            Self::AddressRefused { .. } => "address_refused",
            Self::CannotLoad { .. } => "cannot_load",
            Self::BadSelector { .. } => "bad_selector",
            Self::NothingMatches { .. } => "nothing_matches",
            Self::SeveralMatch { .. } => "several_match",
            Self::NotUsable { .. } => "not_usable",
            Self::NoOption { .. } => "no_such_option",
            Self::BadKey { .. } => "bad_key",
            Self::SecretNotAllowed { .. } => "secret_not_allowed",
            Self::Unreadable { .. } => "page_unreadable",
            Self::NotCovered { .. } => "secrets_not_covered",
            Self::Io { .. } => "browser_io",
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn nearest_text(nearest: &[String]) -> String {
    if nearest.is_empty() { ", and nothing is near".to_owned() } else { format!("; nearest: {}", nearest.join(", ")) }
}
