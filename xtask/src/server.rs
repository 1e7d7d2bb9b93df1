//! A server of a model that runs exactly as long as this process.
//!
//! A guard runs the server: another process of this program, in its own process group so that Ctrl-C does not reach it. Its
//! standard input is a pipe from this process. When the pipe closes, the guard ends the server. So the server also ends if
//! this process panics or is killed.

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::progress::Progress;
use crate::weights::Weights;
use crate::{cache, command, endpoint, llama};

/// The hidden command that runs the guard.
pub(crate) const GUARD: &str = "guard";

const POLL: Duration = Duration::from_millis(100);
const START_AT_MOST: Duration = Duration::from_secs(300);
/// How many ports are tried: another process may take a free port before it is used.
const TRIES: usize = 3;

/// A running `llama-server`; dropping it ends it.
pub(crate) struct Server {
    port: u16,
    guard: Child,
    pipe: Option<ChildStdin>,
    log: PathBuf,
}

impl Server {
    /// Starts a server for `weights` on a free port of this machine, and waits until it answers.
    pub(crate) fn start(weights: &Weights, share: Share) -> anyhow::Result<Self> {
        let model = weights.bring()?;
        let program = llama::bring()?;
        let mut tries = 1;
        loop {
            match Self::start_on(free_port()?, &program, &model, weights.model, share) {
                Err(error) if tries < TRIES && error.to_string().contains("bind") => tries += 1,
                result => return result,
            }
        }
    }

    /// The base URL of its OpenAI-compatible endpoint.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn start_on(port: u16, program: &Path, model: &Path, name: &str, share: Share) -> anyhow::Result<Self> {
        let log = cache::folder("llama")?.join(format!("server-{port}.log"));
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let errors = output.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(this_program()?);
        command.arg(GUARD).arg(program).arg("-m").arg(model);
        command.args(["--alias", name, "--host", "127.0.0.1", "--port", &port.to_string()]);
        command.args([
            "-np",
            "1",
            "-c",
            "16384",
            "-t",
            &share.threads().to_string(),
            // A small model needs a low temperature.
            "--temp",
            "0.2",
            "--jinja",
            "--chat-template-file",
        ]);
        command.arg(cache::repository().join("xtask/models/qwen-coder-tools.jinja"));
        command.stdin(Stdio::piped()).stdout(output).stderr(errors);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut guard = command.spawn().context("cannot start the server's guard")?;
        let pipe = guard.stdin.take();
        let mut server = Self { port, guard, pipe, log };
        server.wait_until_ready(name)?;
        Ok(server)
    }

    fn wait_until_ready(&mut self, name: &str) -> anyhow::Result<()> {
        let mut progress = Progress::of(format!("server of {name}"));
        let deadline = Instant::now() + START_AT_MOST;
        loop {
            progress.wait("loading the model");
            let ended = self.guard.try_wait().context("cannot watch the server")?.is_some();
            if endpoint::get(self.port, "/health").is_ok_and(|answer| answer.status == 200) && !ended {
                progress.done();
                return Ok(());
            }
            if ended || Instant::now() > deadline {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                bail!("the server of {name} does not start; its output:\n{}", command::last_lines(&log, 20));
            }
            std::thread::sleep(POLL);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // Nothing can be done about an error here.
        let _ = self.guard.wait();
        let _ = fs::remove_file(&self.log);
    }
}

/// Runs a server until this process is ended.
pub(crate) fn serve(weights: &Weights) -> anyhow::Result<()> {
    let mut server = Server::start(weights, Share::All)?;
    println!("CALLBOARD_TEST_MODEL_URL={url} OPENAI_BASE_URL={url}", url = server.url());
    let status = server.guard.wait().context("cannot wait for the server")?;
    bail!("the server ended ({status})");
}

/// Starts the program in `arguments`, and ends it when the standard input is closed.
pub(crate) fn guard(arguments: &[String]) -> anyhow::Result<()> {
    let (program, arguments) = arguments.split_first().context("nothing to guard")?;
    let mut child = Command::new(program).args(arguments).stdin(Stdio::null()).spawn().context("cannot start it")?;
    let (parent_lives, parent_is_gone) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _until_dropped = parent_lives;
        // The end and an error mean the same: the parent is gone.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    });
    while parent_is_gone.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
        if let Some(status) = child.try_wait().context("cannot watch it")? {
            bail!("{program} ended ({status})");
        }
    }
    child.kill().context("cannot end it")?;
    child.wait().context("cannot wait for its end")?;
    Ok(())
}

/// The path of this program, even if a newer build has replaced its file.
fn this_program() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe().context("cannot find this program's own file")
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr().context("no free port on 127.0.0.1")?.port())
}

/// How much of this machine a server gets.
#[derive(Clone, Copy)]
pub(crate) enum Share {
    /// As much as is useful.
    All,
    /// Half of it, for two servers at the same time: threads that wait for each other are slow without a core each.
    Half,
}

impl Share {
    /// The number of threads. More than eight are not faster, and cores are often counted twice.
    fn threads(self) -> usize {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        match self {
            Self::All => (cores / 2).clamp(cores.min(4), 8),
            Self::Half => (cores / 2).clamp(1, 4),
        }
    }
}
