//! A pool of connections that only read. Each is used by one call at a time, on a thread for blocking calls.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{error::lost, file};
use crate::Error;

/// How many calls read at once; further calls wait.
const CONNECTIONS: usize = 4;

/// The pool of one file. A connection is opened when it is first needed.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    path: Arc<Path>,
    idle: Arc<Mutex<Vec<Connection>>>,
    free: Arc<Semaphore>,
}

impl Readers {
    /// Creates the pool for the file `path`, which must have been opened before.
    pub(super) fn new(path: Arc<Path>) -> Self {
        Self { path, idle: Arc::default(), free: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Calls `look` with a connection in a transaction, so that it reads one consistent state.
    pub(super) async fn read<T, F>(&self, doing: &'static str, look: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let turn = self.free.clone().acquire_owned().await.map_err(|error| Error::failed(doing, error))?;
        let pool = self.clone();
        let reading = spawn_blocking(move || {
            let found = pool.look(look).map_err(|error| lost(&Arc::new(error), doing, &pool.path));
            drop(turn);
            found
        });
        reading.await.map_err(|error| Error::failed(doing, error))?
    }

    fn look<T>(&self, look: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let idle = self.idle().pop();
        let db = idle.map_or_else(|| file::connect_reader(&self.path), Ok)?;
        let moment = db.unchecked_transaction()?;
        let found = look(&moment);
        moment.finish()?;
        self.idle().push(db);
        found
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
