//! `callboard browser`.

use std::path::PathBuf;

use callboard_api as api;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Context, transfer::unwritable};
use crate::{cli::On, client::Client, failure::Failure, output::Output, parse, terminal};

#[derive(Debug, Subcommand)]
pub(crate) enum Browser {
    /// List the open tabs, and how the browser runs
    #[command(after_help = "Example:\n  callboard browser status --url http://127.0.0.1:7420")]
    Status(On),
    /// Open a page in a new tab; the first one starts the browser
    #[command(after_help = "Example:\n  callboard browser open https://example.com \"Main Tab\"")]
    Open {
        #[command(flatten)]
        on: On,
        /// The address of the page
        address: String,
        /// The name of the tab
        #[arg(default_value = "Main Tab")]
        tab: String,
    },
    /// Show another page in a tab
    #[command(after_help = "Example:\n  callboard browser go https://example.com/login --tab \"Main Tab\"")]
    Go {
        #[command(flatten)]
        tab: Tab,
        /// The address of the page
        address: String,
    },
    /// Print what a page says: in outline, or all of it with selectors
    #[command(
        after_help = "Examples:\n  callboard browser inspect\n  callboard browser inspect --whole\n  callboard browser inspect --for \"login fields\""
    )]
    Inspect {
        #[command(flatten)]
        tab: Tab,
        /// All that people can see on it, with stable selectors
        #[arg(long)]
        whole: bool,
        /// What to look for in the outline
        #[arg(long = "for", value_name = "TEXT", conflicts_with = "whole")]
        instruction: Option<String>,
    },
    /// Do something in a tab
    #[command(
        after_help = "Examples:\n  callboard browser act click \"#next\"\n  callboard browser act type \"#password\" \"{{secret:gmail_creds.password}}\"\n  callboard browser act press Enter\n  callboard browser act wait \"Welcome\"\n  callboard browser act --steps '[{\"action\": \"click\", \"selector\": \"#next\"}, {\"action\": \"wait\", \"value\": \"Welcome\"}]'"
    )]
    Act(ActIn),
    /// Take a picture of a tab
    #[command(after_help = "Example:\n  callboard browser screenshot --output page.png")]
    Screenshot {
        #[command(flatten)]
        tab: Tab,
        /// A file to write the picture to
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// Close a tab, or end the browser
    #[command(after_help = "Examples:\n  callboard browser close \"Main Tab\"\n  callboard browser close --all")]
    Close {
        #[command(flatten)]
        on: On,
        /// The tab
        #[arg(required_unless_present = "all")]
        tab: Option<String>,
        /// End the browser, with all of its tabs
        #[arg(long, conflicts_with = "tab")]
        all: bool,
    },
}

/// Which tab is meant.
#[derive(Args, Debug)]
pub(crate) struct Tab {
    #[command(flatten)]
    pub(crate) on: On,
    /// The tab (default: the active one)
    #[arg(long = "tab", value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Do something in a tab
#[derive(Args, Debug)]
pub(crate) struct ActIn {
    #[command(flatten)]
    pub(crate) tab: Tab,
    /// What is done
    #[arg(required_unless_present = "steps", value_parser = parse::one_of::<api::ActionKind>(api::ActionKind::ALL.map(api::ActionKind::as_str).into()))]
    pub(crate) action: Option<api::ActionKind>,
    /// Where, as a selector, and what: `click SELECTOR`, `type SELECTOR TEXT`, `select SELECTOR OPTION`, `press KEY`, `wait TEXT|MILLISECONDS`, `scroll PIXELS`
    #[arg(num_args = 0..=2, allow_negative_numbers = true)]
    pub(crate) words: Vec<String>,
    /// The element that is waited for, scrolled to, or has the key pressed
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Several actions in order, as JSON; - for the standard input
    #[arg(long, value_name = "JSON", conflicts_with_all = ["action", "words", "selector"])]
    pub(crate) steps: Option<String>,
    /// Why, for whoever reads it later
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

pub(super) async fn execute(context: &Context, command: Browser) -> Result<(), Failure> {
    // Each command is a process, and a browser ends with the process that started it.
    if matches!(context.client, Client::Local(_)) {
        return Err(Failure::usage("no_browser", "the browser of a session lives in a server, and this is a store")
            .hint("start `callboard serve`, and name it with --url http://127.0.0.1:7420"));
    }
    match command {
        Browser::Status(on) => context.get(&on, &["browser"]).await?.print(context.output, status).await,
        Browser::Open { on, address, tab } => {
            post(context, &on, "open", &api::OpenTab { url: address, tab_name: tab }).await
        }
        Browser::Go { tab, address } => {
            let body = api::Navigate { url: address, tab_name: tab.name, reason: None };
            post(context, &tab.on, "navigate", &body).await
        }
        Browser::Inspect { tab, whole, instruction } => {
            let inspection_type =
                if whole { api::Inspection::DomSnapshot } else { api::Inspection::LightweightExploration };
            let body = api::Inspect { tab_name: tab.name, inspection_type, instruction, selector: None };
            post(context, &tab.on, "inspect", &body).await
        }
        Browser::Act(args) => {
            let on = args.tab.on.clone();
            post(context, &on, "action", &act(args)?).await
        }
        Browser::Screenshot { tab, output } => screenshot(context, tab, output).await,
        Browser::Close { on, tab, all: _ } => post(context, &on, "close", &api::CloseTab { tab_name: tab }).await,
    }
}

async fn post(context: &Context, on: &On, what: &str, body: &impl serde::Serialize) -> Result<(), Failure> {
    let people = |answer: &api::BrowserAnswer, output: Output| output.line(&answer.result);
    context.post(on, &["browser", what], body).await?.print(context.output, people).await
}

/// What is to be done, as it was written.
fn act(args: ActIn) -> Result<api::Act, Failure> {
    let ActIn { tab, action, words, selector, steps, reason } = args;
    let act = api::Act { tab_name: tab.name, action: None, selector: None, value: None, actions: Vec::new(), reason };
    if let Some(steps) = steps {
        let actions = serde_json::from_str(&terminal::text(&steps)?).map_err(|error| {
            Failure::usage("invalid", format!("the steps are not understood: {error}"))
                .hint("write for instance '[{\"action\": \"click\", \"selector\": \"#next\"}]'")
        })?;
        return Ok(api::Act { actions, ..act });
    }
    let mut words = words.into_iter();
    let (first, second) = (words.next(), words.next());
    let (selector, value) = match action {
        Some(api::ActionKind::Click | api::ActionKind::Type | api::ActionKind::Select) => (first.or(selector), second),
        _ if second.is_some() => {
            return Err(Failure::usage("usage", "this takes one word; name an element with --selector"));
        }
        _ => (selector, first),
    };
    Ok(api::Act { action, selector, value, ..act })
}

async fn screenshot(context: &Context, tab: Tab, output: Option<PathBuf>) -> Result<(), Failure> {
    let session = context.session_on(&tab.on).await?;
    let body = api::TakeScreenshot { tab_name: tab.name };
    let call = session.post(&["browser", "screenshot"], &body);
    let taken = call.answer::<api::TakenScreenshot>().await?;
    let Some(path) = output else {
        taken.print(context.output, |taken, output| output.line(&taken.path));
        return Ok(());
    };
    let png = session.get(&["browser", "screenshots", &taken.it.file]).bytes().await?;
    std::fs::write(&path, &png).map_err(|error| unwritable(&path, &error))?;
    let answer = json!({"file": taken.it.file, "path": taken.it.path, "written_to": path});
    context.output.answer(&answer, |output| output.line(format!("wrote {}", path.display())));
    Ok(())
}

fn status(browser: &api::Browser, output: Output) {
    if let Some(why) = &browser.failed {
        return output.line(format!("the browser does not work: {why}"));
    }
    let Some(status) = &browser.status else { return output.line("no browser is open") };
    let row = |tab: &api::BrowserTab| {
        let active = if tab.active { "active" } else { "" };
        vec![tab.name.clone(), active.to_owned(), tab.url.clone(), tab.title.clone()]
    };
    output.table(&["TAB", "", "ADDRESS", "TITLE"], browser.tabs.iter().map(row));
    if !status.guarded {
        output.line("not guarded: its pages reach what they like, and what they download is kept");
    } else if !status.sandboxed {
        output.line("without Chromium's sandbox, since the server runs as root");
    }
}
