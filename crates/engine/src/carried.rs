//! Work that whoever needs it does himself, and that goes on without him.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use tokio::{runtime::Handle, sync::oneshot};

/// Work that is to be finished, whoever leaves: where it is dropped in the middle, it goes on in a task of its own.
pub(crate) struct Carried {
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    runtime: Handle,
}

impl Carried {
    /// Work that goes on, if need be, on the runtime of whoever begins it.
    pub(crate) fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), runtime: Handle::current() }
    }

    /// Works until there is an answer.
    pub(crate) async fn until<T>(mut self, mut answered: oneshot::Receiver<T>) -> Result<T, oneshot::error::RecvError> {
        poll_fn(|context| {
            if let Some(work) = &mut self.work
                && work.as_mut().poll(context) == Poll::Ready(())
            {
                self.work = None;
            }
            Pin::new(&mut answered).poll(context)
        })
        .await
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        // What has panicked cannot go on.
        if let Some(work) = self.work.take().filter(|_| !std::thread::panicking()) {
            self.runtime.spawn(work);
        }
    }
}
