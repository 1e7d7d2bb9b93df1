//! Tabs, their live state, and what happens to the browser.

use std::time::{Duration, Instant};

use crate::pages::{Answer, Site, click, html_of, settings, showing, start};
use callboard_browser::{
    Action, Browser, BrowserChange, BrowserError, DialogKind, Limits, Notice, Settings, WaitFor, Way,
};
use tokio::{sync::broadcast::Receiver, time::timeout};

async fn next<T>(changes: &mut Receiver<BrowserChange>, mut wanted: impl FnMut(BrowserChange) -> Option<T>) -> T {
    let found = timeout(Duration::from_secs(60), async {
        loop {
            if let Some(found) = wanted(changes.recv().await.unwrap()) {
                return found;
            }
        }
    });
    found.await.expect("the change comes")
}

async fn titled(changes: &mut Receiver<BrowserChange>, title: &str) {
    next(changes, |change| match change {
        BrowserChange::Tabs(tabs) => tabs.iter().any(|tab| tab.title == title).then_some(()),
        BrowserChange::Notice(_) => None,
    })
    .await;
}

async fn notice(changes: &mut Receiver<BrowserChange>) -> Notice {
    next(changes, |change| if let BrowserChange::Notice(notice) = change { Some(notice) } else { None }).await
}

fn runs(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_have_names_and_are_known_as_they_change() {
    let site = Site::page(
        "<title>One</title><button id=t onclick=\"document.title='Two'\">t</button>\
        <button id=p onclick=\"history.pushState({},'','/pushed')\">p</button>",
    )
    .await;
    let browser = start(settings(&[&site])).await;
    browser.open("about:blank", "other").await.unwrap();
    let active = |browser: &Browser| browser.tabs().into_iter().find(|tab| tab.active).map(|tab| tab.name);
    assert_eq!(active(&browser).as_deref(), Some("other"));
    let opened = browser.open(&site.url("/"), "main").await.unwrap();
    assert!(opened.loaded && !opened.restarted);
    assert_eq!((opened.title.as_str(), opened.url), ("One", site.url("/")));
    assert_eq!(active(&browser).as_deref(), Some("main"));

    let mut changes = browser.changes();
    let asked = Instant::now();
    let clicked = tokio::spawn({
        let browser = browser.clone();
        async move { browser.act("main", click("#t")).await }
    });
    titled(&mut changes, "Two").await;
    println!("a title is known {:?} after the click was asked for", asked.elapsed());
    clicked.await.unwrap().unwrap();
    let acted = browser.act("main", click("#p")).await.unwrap();
    assert_eq!(acted.url, site.url("/pushed"));

    assert_eq!(browser.open("about:blank", "main").await.unwrap_err().code(), "tab_name_taken");
    assert_eq!(browser.open("about:blank", " ").await.unwrap_err().code(), "bad_tab_name");
    browser.close("other").await.unwrap();
    assert_eq!(browser.tabs().len(), 1);
    assert_eq!(browser.close("other").await.unwrap_err().code(), "no_such_tab");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_that_a_script_sets_is_known_though_nobody_asks() {
    let site =
        Site::page("<title>0</title><script>setInterval(() => { document.title = String(Date.now()) }, 300)</script>")
            .await;
    let browser = showing(&site).await;
    let mut changes = browser.changes();
    let mut delays = Vec::new();
    while delays.len() < 5 {
        let set = next(&mut changes, |change| match change {
            BrowserChange::Tabs(tabs) => tabs.first().and_then(|tab| tab.title.parse::<u64>().ok()),
            BrowserChange::Notice(_) => None,
        });
        let set = set.await;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        delays.push(now.saturating_sub(u128::from(set)));
    }
    println!("titles are known after {delays:?} ms");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_pop_ups_and_downloads_are_handled_and_reported() {
    let site = Site::start([
        (
            "/",
            html_of(
                "<title>D</title><button id=a onclick=\"alert('Hello')\">a</button>\
            <button id=c onclick=\"document.title = String(confirm('Sure?'))\">c</button>\
            <button id=p onclick=\"document.title = String(prompt('Name?', 'Ann'))\">p</button>\
            <button id=w onclick=\"window.open('/pop')\">w</button><a id=d href=/file>d</a>\
            <button id=l onclick=\"onbeforeunload = e => e.preventDefault(); location = '/pop'\">l</button>",
            ),
        ),
        ("/pop", html_of("<title>Pop</title><p>popped")),
        ("/file", Answer::Download),
    ])
    .await;
    let browser = showing(&site).await;
    let mut changes = browser.changes();
    browser.act("main", click("#a")).await.unwrap();
    let tab = || "main".to_owned();
    let answered =
        Notice::DialogAnswered { tab: tab(), kind: DialogKind::Alert, message: "Hello".into(), accepted: false };
    assert_eq!(notice(&mut changes).await, answered);
    assert_eq!(browser.act("main", click("#c")).await.unwrap().title, "false");
    let answered =
        Notice::DialogAnswered { tab: tab(), kind: DialogKind::Confirm, message: "Sure?".into(), accepted: false };
    assert_eq!(notice(&mut changes).await, answered);
    assert_eq!(browser.act("main", click("#p")).await.unwrap().title, "null");
    let answered =
        Notice::DialogAnswered { tab: tab(), kind: DialogKind::Prompt, message: "Name?".into(), accepted: false };
    assert_eq!(notice(&mut changes).await, answered);
    browser.act("main", click("#w")).await.unwrap();
    let opened = Notice::PopUpOpened { name: "popup-1".into(), opener: Some(tab()), url: site.url("/pop") };
    assert_eq!(notice(&mut changes).await, opened);
    browser.act("popup-1", Action::Wait(WaitFor::Text("popped".into()))).await.unwrap();
    assert!(browser.tabs().iter().any(|tab| tab.name == "popup-1" && tab.title == "Pop"), "{:?}", browser.tabs());
    browser.act("main", click("#d")).await.unwrap();
    assert_eq!(notice(&mut changes).await, Notice::DownloadRefused { url: site.url("/file"), file: "a.bin".into() });
    let error = browser.navigate("main", &site.url("/file")).await.unwrap_err();
    assert_eq!(error.code(), "cannot_load");
    assert_eq!(browser.act("main", click("#l")).await.unwrap().title, "Pop");
    browser.stop().await.unwrap();

    let limits = Limits { tabs: 1, ..Limits::default() };
    let browser = start(Settings { limits, ..settings(&[&site]) }).await;
    browser.open(&site.url("/"), "main").await.unwrap();
    let mut changes = browser.changes();
    browser.act("main", click("#w")).await.unwrap();
    assert_eq!(notice(&mut changes).await, Notice::PopUpRefused { opener: Some(tab()), url: site.url("/pop") });
    assert_eq!(browser.tabs().len(), 1);
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_for_a_file_gets_none() {
    let site = Site::page("<title>F</title><input type=file id=f>").await;
    let browser = showing(&site).await;
    let mut changes = browser.changes();
    browser.act("main", click("#f")).await.unwrap();
    assert_eq!(notice(&mut changes).await, Notice::FileRefused { tab: "main".into() });
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_was_killed_is_started_again_by_the_next_call() {
    let site = Site::page("<title>Here</title><button id=b>b</button>").await;
    let browser = showing(&site).await;
    let pid = browser.status().pid.unwrap();
    let mut changes = browser.changes();
    let pid_of = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid_of, rustix::process::Signal::KILL).unwrap();
    assert_eq!(notice(&mut changes).await, Notice::Crashed);
    assert!(!browser.status().running);
    assert_eq!(browser.tabs()[0].title, "Here");
    let acted = browser.act("main", click("#b")).await.unwrap();
    assert!(acted.restarted);
    assert_eq!(acted.url, site.url("/"));
    assert_eq!(notice(&mut changes).await, Notice::Restarted { tabs: vec!["main".into()] });
    assert!(!browser.act("main", click("#b")).await.unwrap().restarted);
    let status = browser.status();
    assert!(status.running && status.guarded && status.restarts == 1 && status.pid != Some(pid));
    browser.stop().await.unwrap();
    assert!(!runs(pid) && !runs(status.pid.unwrap()), "no process and no zombie is left");
}

/// The processes that this one started, and those that they started.
fn below(pid: u32) -> Vec<u32> {
    let parent = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name of the process stands in parentheses, and may have any character in it.
        status.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let all: Vec<u32> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|process| process.unwrap().file_name().to_str()?.parse().ok())
        .collect();
    let mut found = vec![pid];
    loop {
        let more = all.iter().filter(|id| !found.contains(id) && parent(**id).is_some_and(|it| found.contains(&it)));
        let more: Vec<u32> = more.copied().collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_crashes_is_told_of_and_another_one_opens_in_its_tab() {
    let site = Site::page("<title>Here</title><button id=b>b</button>").await;
    let browser = showing(&site).await;
    let mut changes = browser.changes();
    let is_of_page = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--type=renderer")
    };
    for pid in below(browser.status().pid.unwrap()).into_iter().filter(is_of_page) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    assert_eq!(notice(&mut changes).await, Notice::TabCrashed { tab: "main".into() });
    assert_eq!(browser.act("main", click("#b")).await.unwrap_err().code(), "tab_crashed");
    assert_eq!(browser.navigate("main", &site.url("/")).await.unwrap().title, "Here");
    let acted = browser.act("main", click("#b")).await.unwrap();
    assert!(!acted.restarted, "the browser itself went on");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_tabs_work_at_once() {
    let site =
        Site::page("<title>T</title><button id=b onclick=\"document.title = 'clicked ' + location.search\">b</button>")
            .await;
    let browser = start(settings(&[&site])).await;
    let work = (0..10).map(|n| {
        let (browser, url) = (browser.clone(), site.url(&format!("/?{n}")));
        tokio::spawn(async move {
            let name = format!("tab {n}");
            browser.open(&url, &name).await?;
            let acted = browser.act(&name, click("#b")).await?;
            assert_eq!(acted.title, format!("clicked ?{n}"));
            browser.screenshot(&name).await?;
            Ok::<_, BrowserError>(())
        })
    });
    for done in futures::future::join_all(work).await {
        done.unwrap().unwrap();
    }
    assert_eq!(browser.tabs().len(), 10);
    assert_eq!(browser.tabs().iter().filter(|tab| tab.active).count(), 1);
    browser.stop().await.unwrap();
}

#[tokio::test]
async fn without_chromium_it_is_said_how_to_get_it() {
    let error = Browser::start(Settings { program: Some("/nowhere/chromium".into()), ..Settings::default() })
        .await
        .err()
        .unwrap();
    assert_eq!(error.code(), "browser_not_installed");
    assert!(error.to_string().contains("apt-get install chromium"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_browser_is_attached_to_and_left_running() {
    let site = Site::page("<title>Attached</title><button id=b onclick=\"window.open('/')\">b</button>").await;
    let base = settings(&[&site]);
    let profile = tempfile::tempdir().unwrap();
    let program = base.program.clone().unwrap_or_else(|| "chromium".into());
    let mut running = tokio::process::Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-port=0",
            "about:blank",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("Chromium is installed: apt-get install chromium");
    let file = profile.path().join("DevToolsActivePort");
    let port = timeout(Duration::from_secs(60), async {
        loop {
            if let Some((port, _)) = std::fs::read_to_string(&file).unwrap_or_default().split_once('\n') {
                return port.to_owned();
            }
            // clock: a pause that stands for nothing, only lets others run
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let url = format!("http://127.0.0.1:{}", port.await.unwrap());
    let browser = start(Settings { way: Way::Attach { url }, ..base }).await;
    assert!(!browser.status().guarded && browser.status().pid.is_none());
    assert!(browser.tabs().is_empty(), "tabs that others opened are not listed");
    let mut changes = browser.changes();
    let opened = browser.open(&site.url("/"), "main").await.unwrap();
    assert_eq!((opened.loaded, opened.title.as_str()), (true, "Attached"));
    browser.act("main", click("#b")).await.unwrap();
    assert!(matches!(notice(&mut changes).await, Notice::PopUpOpened { .. }));
    browser.stop().await.unwrap();
    assert!(running.try_wait().unwrap().is_none(), "it still runs");
    running.kill().await.unwrap();

    let error = Browser::start(Settings { way: Way::Attach { url: site.url("/") }, ..Settings::default() })
        .await
        .err()
        .unwrap();
    assert_eq!(error.code(), "browser_cannot_attach");
}
