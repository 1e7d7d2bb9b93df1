//! Web pages on loopback, for browsers.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Router, http::Uri, response::Html};
use callboard_server::{BrowserSettings, HostPort, Rules};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::fixtures::PATIENCE;

/// Pages that are served until this is dropped.
pub(crate) struct Site {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Serves these pages by their paths.
    pub(crate) async fn start<const N: usize>(pages: [(&'static str, &'static str); N]) -> Self {
        let pages = Arc::new(BTreeMap::from(pages));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let page = move |address: Uri| {
            let page = pages.get(address.path()).copied().unwrap_or("<title>Not found</title>");
            std::future::ready(Html(format!("<!doctype html><meta charset=utf-8>{page}")))
        };
        let pages = axum::serve(listener, Router::new().fallback(page));
        let task = tokio::spawn(async move { pages.await.unwrap() });
        Self { port, task }
    }

    /// The address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// The origin of all pages.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// Browsers that reach these sites alone.
pub(crate) fn browsers(sites: &[&Site]) -> BrowserSettings {
    let allow = |site: &&Site| HostPort { host: "127.0.0.1".into(), port: Some(site.port) };
    BrowserSettings {
        program: std::env::var_os("CHROMIUM").map(Into::into),
        search_path: std::env::var_os("PATH"),
        rules: Rules { allow_addresses: sites.iter().map(allow).collect(), ..Rules::default() },
        patience: PATIENCE,
        ..BrowserSettings::default()
    }
}
