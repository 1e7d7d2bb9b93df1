//! What pages do that nobody asked for: it is handled at once and reported.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{devtools::DevtoolsCommand, mask::Mask};

/// Something that happened in the browser. Texts and addresses in it have no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// A page began a download, which was refused.
    DownloadRefused {
        /// From where.
        url: String,
        /// The name that the file would have had.
        file: String,
    },
    /// A page opened a window, which is a tab now.
    PopUpOpened {
        /// The name of the new tab.
        name: String,
        /// The tab that opened it, if it is known.
        opener: Option<String>,
        /// What it shows.
        url: String,
    },
    /// A page opened a window, which was closed, since there were too many tabs.
    PopUpRefused {
        /// The tab that opened it, if it is known.
        opener: Option<String>,
        /// What it would have shown.
        url: String,
    },
    /// A page opened a dialog, which was answered.
    DialogAnswered {
        /// The tab.
        tab: String,
        /// What kind of dialog.
        kind: DialogKind,
        /// What it said.
        message: String,
        /// Only a question whether to leave the page is accepted.
        accepted: bool,
    },
    /// A page asked for a file, and got none.
    FileRefused {
        /// The tab.
        tab: String,
    },
    /// A page wanted to reach an address that the rules refuse.
    AddressRefused {
        /// The host and port.
        host: String,
        /// Which rule.
        reason: String,
    },
    /// The page of a tab crashed.
    TabCrashed {
        /// The tab.
        tab: String,
    },
    /// The browser ended without being told to. The next call starts it again.
    Crashed,
    /// The browser was started again, and its tabs opened again.
    Restarted {
        /// The names of the tabs.
        tabs: Vec<String>,
    },
}

/// Kinds of dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogKind {
    /// A message.
    Alert,
    /// A question: yes or no.
    Confirm,
    /// A question for a text.
    Prompt,
    /// Whether to leave the page.
    BeforeUnload,
}

/// Answers a dialog.
pub(crate) fn answer(tab: &str, session: Option<String>, params: &Value, mask: &Mask) -> (Notice, DevtoolsCommand) {
    let kind = match params.get("type").and_then(Value::as_str) {
        Some("confirm") => DialogKind::Confirm,
        Some("prompt") => DialogKind::Prompt,
        Some("beforeunload") => DialogKind::BeforeUnload,
        _ => DialogKind::Alert,
    };
    let message = mask.text(params.get("message").and_then(Value::as_str).unwrap_or_default());
    let message = message.chars().take(500).collect();
    let accepted = kind == DialogKind::BeforeUnload;
    let notice = Notice::DialogAnswered { tab: tab.to_owned(), kind, message, accepted };
    (notice, DevtoolsCommand { session, method: "Page.handleJavaScriptDialog", params: json!({"accept": accepted}) })
}
