//! A real Chromium: how long it takes to read a large page for an agent, and until a change is known; and whether what happens in
//! browsers slows down other sessions.

use std::{
    slice::from_ref,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{Router, response::Html, routing::get};
use callboard_browser::{Browser, BrowserChange, HostPort, Rules, Settings, SnapshotLimits, TokenLimit};
use callboard_core::{browser::CHANGED, viewer::Viewer};
use callboard_engine::{Ephemeral, Session, sizes};
use serde_json::json;
use tokio::{net::TcpListener, time::interval};

use crate::{
    Scale, append, board,
    report::{Goal, Report},
    rounds::{in_rounds, ratio, typical},
    timing::{median, millis, ms},
};

/// How often the page is read. The quickest counts: whatever else a browser does is not measured.
const TIMES: usize = 5;

/// How many changes of a title are waited for.
const CHANGES: usize = 20;

/// A page whose script says in its title when it set it.
const CLOCK: &str = "<!doctype html><title>0</title><script>
    setInterval(() => { document.title = String(performance.timeOrigin + performance.now()) }, 100)</script>";

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (rows, elements) = (scale.of(1250), scale.of(1250) * 4);
    let row = |n: usize| {
        format!(
            "<div><a href=/x{n}>Link {n}</a> <button id=b{n}>Button {n}</button> <input name=n{n} aria-label='Field {n}'></div>"
        )
    };
    let page = format!("<!doctype html><title>Big</title>{}", (0..rows).map(row).collect::<String>());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let pages = Router::new()
        .route("/", get(move || std::future::ready(Html(page.clone()))))
        .route("/clock", get(|| std::future::ready(Html(CLOCK))));
    let site = tokio::spawn(async move { axum::serve(listener, pages).await });

    let allowed = HostPort { host: "127.0.0.1".into(), port: Some(address.port()) };
    let settings = Settings {
        rules: Rules { allow_addresses: vec![allowed], ..Rules::default() },
        program: std::env::var_os("CHROMIUM").or_else(|| std::env::var_os("CHROME")).map(Into::into),
        search_path: std::env::var_os("PATH"),
        ..Settings::default()
    };
    let browser = Browser::start(settings).await?;
    browser.open(&format!("http://{address}/"), "main").await?;
    let count = |text: &str| usize::try_from(sizes().count(text).0).unwrap_or(usize::MAX);
    let limits = SnapshotLimits { tokens: Some(TokenLimit { most: 6_000, count }), ..SnapshotLimits::default() };
    let (mut took, mut tokens) = (Vec::new(), 0);
    for _ in 0..TIMES {
        let began = Instant::now();
        let snapshot = browser.snapshot("main", &limits).await?;
        took.push(began.elapsed());
        anyhow::ensure!(snapshot.elements > rows, "the page has {} elements", snapshot.elements);
        tokens = sizes().count(&snapshot.text).0;
    }
    browser.navigate("main", &format!("http://{address}/clock")).await?;
    let delays = delays(&browser).await?;
    browser.stop().await?;
    site.abort();
    let best = took.iter().min().copied().unwrap_or_default();
    let measured = format!("{} ms", millis(best));
    report.promised(format!("reading a page of {elements} elements, in ms"), ms(best), Goal::AtMost(200.0), measured);
    let (size, measured) = (u32::try_from(tokens)?, format!("{tokens} tokens"));
    report.promised("what a model is told of it, in tokens", f64::from(size), Goal::AtMost(6000.0), measured);
    let half = median(&delays);
    let measured = format!("half of {CHANGES} titles within {} ms", millis(half));
    report.promised("until a change of a tab is known, in ms", ms(half), Goal::AtMost(50.0), measured);
    others(scale, report).await
}

/// How long after a page has set its title that is known here.
async fn delays(browser: &Browser) -> anyhow::Result<Vec<Duration>> {
    let (mut changes, mut delays) = (browser.changes(), Vec::new());
    while delays.len() < CHANGES {
        let BrowserChange::Tabs(tabs) = changes.recv().await? else { continue };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let title = tabs.first().and_then(|tab| tab.title.parse::<f64>().ok());
        // Until its script has run, the page is called 0.
        let Some(set) = title.filter(|millis| *millis > 1.0) else { continue };
        delays.push(now.saturating_sub(Duration::from_secs_f64(set / 1000.0)));
    }
    Ok(delays)
}

/// Appends to a session, without and with a hundred events a second of the browser of another one, which somebody hears.
async fn others(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    let (noisy, quiet) = (board::session(&board, "noisy").await?, board::session(&board, "quiet").await?);
    let [alone, beside] = in_rounds(async || {
        let before = append::many(from_ref(&quiet), scale.of(6000)).await?;
        let mut heard = noisy.listen(&Viewer::User).await?;
        let hearing = tokio::spawn(async move { while heard.next().await.is_some() {} });
        let telling = tokio::spawn(tell(noisy.clone()));
        let meanwhile = append::many(from_ref(&quiet), scale.of(6000)).await?;
        telling.abort();
        hearing.abort();
        anyhow::Ok([before, meanwhile])
    })
    .await?;
    board.close().await;
    let measured = format!("{} beside {}", typical(&beside), typical(&alone));
    let what = "appends beside 100 events of a browser a second ÷ without";
    report.promised(what, ratio(&beside, &alone), Goal::AtLeast(0.9), measured);
    Ok(())
}

/// Tells of tabs a hundred times a second.
async fn tell(session: Session) {
    let tab = json!({"name": "Main Tab", "url": "https://example.com/", "title": "A page", "active": true});
    let data = Arc::new(json!({ "tabs": [tab] }));
    let mut ticks = interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
        session.tell(Ephemeral::Browser { kind: CHANGED, data: data.clone() });
    }
}
