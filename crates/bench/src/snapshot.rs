//! How long it takes to read a large page in a real Chromium, for an agent.

use std::time::Instant;

use axum::{Router, response::Html, routing::get};
use callboard_browser::{Browser, HostPort, Rules, Settings, SnapshotLimits};
use callboard_engine::sizes;
use tokio::net::TcpListener;

use crate::{
    Scale,
    report::{Goal, Report},
    timing::{millis, ms},
};

/// How often the page is read. The quickest counts: whatever else a browser does is not measured.
const TIMES: usize = 5;

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
    let pages = Router::new().route("/", get(move || std::future::ready(Html(page.clone()))));
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
    let (mut took, mut tokens) = (Vec::new(), 0);
    for _ in 0..TIMES {
        let began = Instant::now();
        let snapshot = browser.snapshot("main", &SnapshotLimits::default()).await?;
        took.push(began.elapsed());
        anyhow::ensure!(snapshot.elements > rows, "the page has {} elements", snapshot.elements);
        tokens = sizes().count(&snapshot.text).0;
    }
    browser.stop().await?;
    site.abort();
    let best = took.iter().min().copied().unwrap_or_default();
    let measured = format!("{} ms", millis(best));
    report.promised(format!("reading a page of {elements} elements, in ms"), ms(best), Goal::AtMost(200.0), measured);
    let (size, measured) = (u32::try_from(tokens)?, format!("{tokens} tokens"));
    report.promised("what a model is told of it, in tokens", f64::from(size), Goal::AtMost(6000.0), measured);
    Ok(())
}
