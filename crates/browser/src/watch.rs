//! What DevTools events say about the tabs.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Notice, Way,
    devtools::{DevtoolsCommand, Event, Events},
    dialogs,
    tabs::{Shared, Tab, Tabs},
};

const WATCH: &str = include_str!("page/watch.js");
/// The name of the world, beside that of the page, in which our scripts run.
pub(crate) const WORLD: &str = "callboard";
const REPORT: &str = "callboardReport";

pub(crate) struct Watcher {
    pub(crate) shared: Arc<Shared>,
    /// Answers when the proxy asks for a password.
    pub(crate) credentials: Option<(String, String)>,
}

impl Events for Watcher {
    fn on_event(&mut self, event: Event) -> Vec<DevtoolsCommand> {
        let Event { method, session, params } = event;
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        match method.as_ref() {
            "Target.attachedToTarget" => return self.on_attached(&params),
            "Target.targetCreated" => return self.on_created(&params),
            "Target.targetDestroyed" => self.on_destroyed(text("targetId")),
            "Target.targetCrashed" => self.on_tab_crashed(text("targetId")),
            "Fetch.requestPaused" => {
                let params = json!({"requestId": text("requestId")});
                return vec![DevtoolsCommand { session, method: "Fetch.continueRequest", params }];
            }
            "Fetch.authRequired" => return self.on_auth(session, text("requestId")),
            "Browser.downloadWillBegin" => self.shared.notice(Notice::DownloadRefused {
                url: self.shared.mask.url(text("url")),
                file: self.shared.mask.text(text("suggestedFilename")),
            }),
            "Page.javascriptDialogOpening" => {
                let (notice, command) =
                    dialogs::answer(&self.name_of(session.as_deref()), session, &params, &self.shared.mask);
                self.shared.notice(notice);
                return vec![command];
            }
            "Page.fileChooserOpened" => {
                self.shared.notice(Notice::FileRefused { tab: self.name_of(session.as_deref()) })
            }
            "Page.windowOpen" => text("url").clone_into(&mut self.shared.tabs().next_pop_up_url),
            "Page.frameNavigated"
            | "Page.navigatedWithinDocument"
            | "Page.frameStartedLoading"
            | "Page.frameStoppedLoading"
            | "Page.lifecycleEvent"
            | "Runtime.bindingCalled" => self.on_page(&method, session.as_deref(), &params),
            _ => {}
        }
        Vec::new()
    }

    fn on_end(&mut self) {
        let crashed = self.shared.change(|tabs| {
            // What was open stays in the list, to be opened again.
            tabs.all.retain(|tab| tab.name.is_some());
            for tab in &mut tabs.all {
                tab.session = None;
            }
            tabs.anchor = None;
            tabs.anchor_session = None;
            !tabs.stopping
        });
        if crashed {
            self.shared.notice(Notice::Crashed);
        }
    }
}

impl Watcher {
    fn name_of(&self, session: Option<&str>) -> String {
        self.shared.tabs().by_session(session).and_then(|tab| tab.name.clone()).unwrap_or_default()
    }

    fn on_auth(&self, session: Option<String>, request: &str) -> Vec<DevtoolsCommand> {
        let answer = match &self.credentials {
            Some((user, password)) => json!({"response": "ProvideCredentials", "username": user, "password": password}),
            None => json!({"response": "Default"}),
        };
        let params = json!({"requestId": request, "authChallengeResponse": answer});
        vec![DevtoolsCommand { session, method: "Fetch.continueWithAuth", params }]
    }

    /// In a browser that is not ours, only what our tabs open is attached to.
    fn on_created(&self, params: &Value) -> Vec<DevtoolsCommand> {
        let Some(info) = target_info(params) else { return Vec::new() };
        let ours = |opener: &String| self.shared.tabs().by_target(opener).is_some();
        if matches!(self.shared.settings.way, Way::Start { .. })
            || info.kind != "page"
            || !info.opener.as_ref().is_some_and(ours)
        {
            return Vec::new();
        }
        let params = json!({"targetId": info.id, "flatten": true});
        vec![DevtoolsCommand { session: None, method: "Target.attachToTarget", params }]
    }

    fn on_attached(&self, params: &Value) -> Vec<DevtoolsCommand> {
        let (Some(info), Some(session)) = (target_info(params), params.get("sessionId").and_then(Value::as_str)) else {
            return Vec::new();
        };
        if info.kind != "page" {
            return Vec::new();
        }
        let attached = self.shared.change(|tabs| self.attach(tabs, &info, session));
        match attached {
            Attached::Anchor => Vec::new(),
            Attached::Tab => set_up(session),
            Attached::PopUp(notice) => {
                self.shared.notice(notice);
                set_up(session)
            }
            Attached::Refused(notice) => {
                self.shared.notice(notice);
                // While the new window waits, the page that opens it waits too.
                let session = Some(session.to_owned());
                let run = DevtoolsCommand { session, method: "Runtime.runIfWaitingForDebugger", params: json!({}) };
                vec![
                    run,
                    DevtoolsCommand {
                        session: None,
                        method: "Target.closeTarget",
                        params: json!({"targetId": info.id}),
                    },
                ]
            }
        }
    }

    fn attach(&self, tabs: &mut Tabs, info: &TargetInfo, session: &str) -> Attached {
        let own = matches!(self.shared.settings.way, Way::Start { .. });
        if own && tabs.anchor.is_none() {
            tabs.anchor = Some(info.id.clone());
            tabs.anchor_session = Some(session.to_owned());
            return Attached::Anchor;
        }
        let mut tab =
            Tab { target: info.id.clone(), session: Some(session.to_owned()), url: info.url.clone(), ..Tab::default() };
        if info.opener.is_none() && tabs.opening > 0 {
            tabs.all.push(tab);
            return Attached::Tab;
        }
        let opener = info.opener.as_ref().and_then(|opener| tabs.by_target(opener)).and_then(|tab| tab.name.clone());
        let wanted = std::mem::take(&mut tabs.next_pop_up_url);
        let url = self.shared.mask.url(if info.url.is_empty() { &wanted } else { &info.url });
        if tabs.all.len() >= self.shared.settings.limits.tabs {
            return Attached::Refused(Notice::PopUpRefused { opener, url });
        }
        let name = loop {
            tabs.pop_ups += 1;
            let name = format!("popup-{}", tabs.pop_ups);
            if !tabs.is_named(&name) {
                break name;
            }
        };
        tab.name = Some(name.clone());
        tabs.all.push(tab);
        Attached::PopUp(Notice::PopUpOpened { name, opener, url })
    }

    fn on_destroyed(&self, target: &str) {
        self.shared.change(|tabs| {
            tabs.all.retain(|tab| tab.target != target);
            if tabs.active.as_deref() == Some(target) {
                tabs.active = None;
            }
        });
    }

    fn on_tab_crashed(&self, target: &str) {
        let name = self.shared.change(|tabs| {
            let tab = tabs.by_target(target)?;
            tab.crashed = true;
            tab.loading = false;
            tab.name.clone()
        });
        if let Some(tab) = name {
            self.shared.notice(Notice::TabCrashed { tab });
        }
    }

    fn on_page(&self, method: &str, session: Option<&str>, params: &Value) {
        self.shared.change(|tabs| {
            let Some(tab) = tabs.by_session(session) else { return };
            let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
            // The main frame of a page has the id of its target.
            let main = text("frameId") == tab.target;
            match method {
                "Page.frameNavigated" => on_navigated(tab, params),
                "Page.navigatedWithinDocument" if main => text("url").clone_into(&mut tab.url),
                "Page.frameStartedLoading" if main => tab.loading = true,
                "Page.frameStoppedLoading" if main => tab.loading = false,
                "Page.lifecycleEvent" if main => on_lifecycle(tab, text("name"), text("loaderId")),
                "Runtime.bindingCalled" if text("name") == REPORT => {
                    let Ok(report) = serde_json::from_str::<Report>(text("payload")) else { return };
                    tab.show(report.url, report.title);
                    let target = (report.visible && !tab.pretends && tab.name.is_some()).then(|| tab.target.clone());
                    tabs.active = target.or(tabs.active.take());
                }
                _ => {}
            }
        });
    }
}

/// The first page of a tab is told of by these events alone.
fn on_lifecycle(tab: &mut Tab, name: &str, loader: &str) {
    if matches!(name, "init" | "commit" | "load") {
        loader.clone_into(&mut tab.loader);
        tab.crashed = false;
    }
    if name == "load" {
        loader.clone_into(&mut tab.loaded);
    }
}

fn on_navigated(tab: &mut Tab, params: &Value) {
    let Some(frame) = params.get("frame").filter(|frame| frame.get("parentId").is_none()) else { return };
    let text = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
    // What could not be loaded shows an error page, which has the address as that of something else.
    let failed = text("unreachableUrl");
    tab.url = if failed.is_empty() { format!("{}{}", text("url"), text("urlFragment")) } else { failed.to_owned() };
    text("loaderId").clone_into(&mut tab.loader);
    tab.crashed = false;
}

enum Attached {
    Anchor,
    Tab,
    PopUp(Notice),
    Refused(Notice),
}

struct TargetInfo {
    id: String,
    kind: String,
    url: String,
    opener: Option<String>,
}

fn target_info(params: &Value) -> Option<TargetInfo> {
    let info = params.get("targetInfo")?;
    let text = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(TargetInfo { id: text("targetId")?, kind: text("type")?, url: text("url")?, opener: text("openerId") })
}

/// What the script in the page reports.
#[derive(Deserialize)]
struct Report {
    url: String,
    title: String,
    visible: bool,
}

/// Everything that a new page needs before its first script runs. The binding and the script are in a world that the
/// page does not see.
fn set_up(session: &str) -> Vec<DevtoolsCommand> {
    let script = json!({"source": WATCH, "worldName": WORLD, "runImmediately": true});
    [
        ("Page.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
        ("Page.setInterceptFileChooserDialog", json!({"enabled": true})),
        ("Runtime.enable", json!({})),
        ("Runtime.addBinding", json!({"name": REPORT, "executionContextName": WORLD})),
        ("Page.addScriptToEvaluateOnNewDocument", script),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ]
    .into_iter()
    .map(|(method, params)| DevtoolsCommand { session: Some(session.to_owned()), method, params })
    .collect()
}
