//! Pages on loopback, and browsers that may reach them. Each test ends its own Chromium.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callboard_browser::{Action, Browser, HostPort, Rules, Settings, Timeouts};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};

/// What a path answers.
#[derive(Clone)]
pub(crate) enum Answer {
    /// A page.
    Html(String),
    /// A redirect.
    To(String),
    /// A file to download.
    Download,
    /// Nothing, ever.
    Silence,
    /// The beginning of a page, and nothing more.
    Beginning(String),
}

/// A server of pages; it ends with the test.
pub(crate) struct Site {
    pub(crate) port: u16,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    pub(crate) async fn start(answers: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let answers: Arc<HashMap<_, _>> = Arc::new(answers.into_iter().collect());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let answers = answers.clone();
                tokio::spawn(async move {
                    let mut head = vec![0; 16_384];
                    let Ok(read) = stream.read(&mut head).await else { return };
                    let head = String::from_utf8_lossy(&head[..read]).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
                    let text = match answers.get(path.as_str()) {
                        Some(Answer::Html(html)) => whole("200 OK", "Content-Type: text/html; charset=utf-8\r\n", html),
                        Some(Answer::To(url)) => whole("302 Found", &format!("Location: {url}\r\n"), ""),
                        Some(Answer::Download) => {
                            whole("200 OK", "Content-Disposition: attachment; filename=a.bin\r\n", "data")
                        }
                        Some(Answer::Beginning(html)) => {
                            format!(
                                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n{html}"
                            )
                        }
                        Some(Answer::Silence) => String::new(),
                        None => whole("404 Not Found", "Content-Type: text/html\r\n", "<title>Not found</title>"),
                    };
                    let _ = stream.write_all(text.as_bytes()).await;
                    if matches!(answers.get(path.as_str()), Some(Answer::Silence | Answer::Beginning(_))) {
                        tokio::time::sleep(Duration::from_secs(60)).await;
                    }
                });
            }
        });
        Self { port, asked, task }
    }

    /// One page for every test that needs no more.
    pub(crate) async fn page(html: &str) -> Self {
        Self::start([("/", html_of(html))]).await
    }

    /// How often somebody has connected to it.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn whole(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

pub(crate) fn html_of(html: &str) -> Answer {
    Answer::Html(format!("<!doctype html><meta charset=utf-8>{html}"))
}

/// Limits that a busy machine keeps to as well; what a test has to wait for in vain is not waited for long.
pub(crate) const PATIENT: Timeouts = Timeouts {
    start: Duration::from_secs(60),
    command: Duration::from_secs(60),
    load: Duration::from_secs(60),
    settle: Duration::from_secs(60),
    find: Duration::from_secs(1),
    wait: Duration::from_secs(60),
    stop: Duration::from_secs(20),
};

/// Settings that allow these sites alone.
pub(crate) fn settings(sites: &[&Site]) -> Settings {
    let allow = |site: &&Site| HostPort { host: "127.0.0.1".into(), port: Some(site.port) };
    let rules = Rules { allow_addresses: sites.iter().map(allow).collect(), ..Rules::default() };
    Settings {
        rules,
        program: std::env::var_os("CHROMIUM").or_else(|| std::env::var_os("CHROME")).map(Into::into),
        search_path: std::env::var_os("PATH"),
        timeouts: PATIENT,
        ..Settings::default()
    }
}

pub(crate) async fn start(settings: Settings) -> Browser {
    match Browser::start(settings).await {
        Ok(browser) => browser,
        Err(error) => panic!("{error}"),
    }
}

/// A browser that shows the first page of a site, which it reaches alone.
pub(crate) async fn showing(site: &Site) -> Browser {
    let browser = start(settings(&[site])).await;
    browser.open(&site.url("/"), "main").await.unwrap();
    browser
}

/// A click on an element.
pub(crate) fn click(selector: &str) -> Action {
    Action::Click { selector: selector.into() }
}
