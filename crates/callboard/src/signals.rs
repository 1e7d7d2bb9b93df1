//! Signals that ask the process to end.

use std::io;

use tokio::sync::watch;

use crate::failure::Failure;

/// Counts the signals that ask the process to end: Ctrl-C, and on Unix SIGTERM. Its clones count the same.
#[derive(Clone)]
pub(crate) struct Signals(watch::Receiver<u32>);

impl Signals {
    /// Starts counting. From now on these signals no longer end the process by themselves.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let failed = |error| Failure::failed("no_signals", format!("cannot listen for signals: {error}"));
        let mut source = Source::new().map_err(failed)?;
        let (count, counted) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                source.next().await;
                count.send_modify(|count: &mut u32| *count = count.saturating_add(1));
            }
        });
        Ok(Self(counted))
    }

    /// Waits until `count` signals have arrived in total.
    pub(crate) async fn sent(&self, count: u32) {
        let mut counted = self.0.clone();
        if counted.wait_for(|sent| *sent >= count).await.is_err() {
            // The counting task has ended with the runtime.
            std::future::pending().await
        }
    }
}

#[cfg(unix)]
struct Source {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Source {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Source(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Source {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        let _ = self.0.recv().await;
    }
}
