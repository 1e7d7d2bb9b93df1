//! Signals that ask the process to end.

use std::io;

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::failure::Failure;

/// Counts the signals that ask the process to end: Ctrl-C and SIGTERM. Its clones count the same.
#[derive(Clone)]
pub(crate) struct Signals(watch::Receiver<u32>);

impl Signals {
    /// Starts counting. From now on these signals no longer end the process by themselves.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::failed("no_signals", format!("cannot listen for signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let (count, counted) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
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
