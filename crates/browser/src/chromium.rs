//! The process of Chromium: finding, starting and ending it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    process::{Child, ChildStdin, Command},
    time::{Instant, sleep, timeout},
};

use crate::{BrowserError, Profile, Settings};

/// Names under which packages install it.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const USUAL_FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin:/snap/bin";

/// A running Chromium. Dropping it kills the process.
pub(crate) struct Chromium {
    child: Child,
    /// Chromium ends when this closes, also if this process is killed.
    _leash: Option<ChildStdin>,
    group: Option<Pid>,
    /// Removed with it.
    _folder: Option<tempfile::TempDir>,
    pub(crate) port: u16,
    pub(crate) url: String,
}

/// Chromium cannot set up its sandbox as root.
pub(crate) fn is_sandboxed() -> bool {
    !rustix::process::geteuid().is_root()
}

/// Where Chromium is.
pub(crate) fn program(settings: &Settings) -> Result<PathBuf, BrowserError> {
    if let Some(path) = &settings.program {
        return if path.is_file() {
            Ok(path.clone())
        } else {
            Err(BrowserError::NotInstalled { looked: path.display().to_string() })
        };
    }
    let folders = settings.search_path.as_deref().unwrap_or(OsStr::new(USUAL_FOLDERS));
    std::env::split_paths(folders)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| BrowserError::NotInstalled { looked: format!("{} in {}", NAMES.join(", "), folders.display()) })
}

impl Chromium {
    pub(crate) async fn start(settings: &Settings, headless: bool, proxy_port: u16) -> Result<Self, BrowserError> {
        let path = program(settings)?;
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| BrowserError::Io { what, source }
        };
        let (profile, folder) = match &settings.profile {
            Profile::Kept(path) => (path.clone(), None),
            Profile::Fresh => {
                let folder = tempfile::Builder::new().prefix("callboard-browser-").tempdir();
                let folder = folder.map_err(io("make a folder for the browser's profile"))?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        tokio::fs::create_dir_all(&profile).await.map_err(io("make the folder of the browser's profile"))?;
        let port_file = profile.join("DevToolsActivePort");
        match tokio::fs::remove_file(&port_file).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("remove an old DevToolsActivePort")(error));
            }
            _ => {}
        }
        // The shell gives Chromium its input as the pipe for debugging, and is replaced by it. We never write to the
        // pipe: it is there since Chromium ends when it closes, so that none is left behind however this process ends.
        let mut child = Command::new("/bin/sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>/dev/null"#])
            .arg(&path)
            .args(flags(settings, headless, proxy_port, &profile))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| BrowserError::CannotStart { path: path.clone(), reason: error.to_string() })?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leash = child.stdin.take();
        let mut chromium = Self { child, _leash: leash, group, _folder: folder, port: 0, url: String::new() };
        let (port, url) = chromium.devtools_address(&path, &port_file, settings.timeouts.start).await?;
        chromium.port = port;
        chromium.url = url;
        Ok(chromium)
    }

    /// Waits until Chromium has written on which port it listens.
    async fn devtools_address(
        &mut self,
        path: &Path,
        file: &Path,
        limit: Duration,
    ) -> Result<(u16, String), BrowserError> {
        let cannot = |reason: String| BrowserError::CannotStart { path: path.to_owned(), reason };
        let end = Instant::now() + limit;
        loop {
            // The file comes in one piece or is read again.
            if let Ok(text) = tokio::fs::read_to_string(file).await
                && let Some((port, path)) = text.split_once('\n')
                && let (Ok(port), true) = (port.trim().parse(), path.trim().starts_with('/'))
            {
                return Ok((port, format!("ws://127.0.0.1:{port}{}", path.trim())));
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(cannot(format!("it ended at once ({status}); another browser may use the profile")));
            }
            if Instant::now() > end {
                return Err(cannot(format!("it did not answer within {} s", limit.as_secs_f64())));
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The process, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the end of the process, and kills it if that takes too long. After this there is no process and no zombie.
    pub(crate) async fn end(mut self, limit: Duration) -> Result<(), BrowserError> {
        if timeout(limit, self.child.wait()).await.is_err() {
            self.kill_group();
        }
        // Kills it if it still runs; waits in any case.
        match self.child.kill().await {
            Ok(()) => {}
            // It had already ended.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {}
            Err(source) => return Err(BrowserError::Io { what: "end Chromium".into(), source }),
        }
        Ok(())
    }

    /// Chromium and all of its own processes.
    fn kill_group(&self) {
        if let (Some(group), Some(_)) = (self.group, self.child.id())
            && let Err(error) = kill_process_group(group, Signal::KILL)
        {
            tracing::debug!(%error, "cannot kill Chromium's processes");
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.kill_group();
    }
}

fn flags(settings: &Settings, headless: bool, proxy_port: u16, profile: &Path) -> Vec<std::ffi::OsString> {
    let mut flags: Vec<std::ffi::OsString> = [
        // What is not asked for stays off: updates, sign-in, suggestions, phoning home.
        "--disable-background-networking",
        "--disable-breakpad",
        "--disable-client-side-phishing-detection",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-features=AutofillServerCommunication,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate",
        "--disable-search-engine-choice-screen",
        "--disable-sync",
        "--gaia-url=http://callboard.invalid",
        "--no-default-browser-check",
        "--no-first-run",
        "--no-pings",
        // The proxy is the only way out, loopback included.
        "--proxy-bypass-list=<-loopback>",
        "--disable-quic",
        // By its name of today, and by that of versions before.
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        // Nobody is there to answer.
        "--deny-permission-prompts",
        "--disable-notifications",
        "--disable-session-crashed-bubble",
        "--password-store=basic",
        "--use-mock-keychain",
        // Tabs in the background work like those in front.
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--mute-audio",
        "--remote-debugging-pipe",
        "--remote-debugging-port=0",
    ]
    .map(Into::into)
    .into();
    if headless {
        flags.push("--headless".into());
    }
    if !is_sandboxed() {
        flags.push("--no-sandbox".into());
    }
    flags.push(format!("--proxy-server=http://127.0.0.1:{proxy_port}").into());
    flags.push(format!("--window-size={},{}", settings.limits.width, settings.limits.height).into());
    let mut folder = std::ffi::OsString::from("--user-data-dir=");
    folder.push(profile);
    flags.push(folder);
    flags.push("about:blank".into());
    flags
}
