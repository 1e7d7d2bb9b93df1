//! Watching a session while something else goes on.

use std::{future::Future, pin::pin};

use callboard_engine::{
    Ephemeral, Filter, Session, Subscription,
    core::{id::Seq, state::State, viewer::Viewer},
};
use tokio::sync::broadcast::{self, error::RecvError};

use super::show::Show;
use crate::{
    failure::Failure,
    output::{self, Output},
};

/// Shows what happens in a session as it happens.
pub(super) struct Watch {
    session: Session,
    entries: Subscription,
    /// Pieces of answers, at a terminal.
    pieces: Option<broadcast::Receiver<Ephemeral>>,
    show: Show,
}

/// What came of that which was watched.
pub(super) enum Watched<T> {
    /// It came to its end.
    Done(T),
    /// Somebody pressed Ctrl-C; it was dropped.
    Interrupted,
}

impl Watch {
    /// Watches everything after the entry `after`.
    pub(super) async fn start(session: &Session, state: &State, after: Seq, output: Output) -> Result<Self, Failure> {
        let entries = session.subscribe(Viewer::User, Some(after), Filter::default()).await?;
        let streams = output::is_terminal() && !output.json;
        let pieces = if streams { Some(session.listen(&Viewer::User).await?) } else { None };
        Ok(Self { session: session.clone(), entries, pieces, show: Show::new(state, output) })
    }

    /// Shows what happens until `work` is done.
    pub(super) async fn until<T, E>(&mut self, work: impl Future<Output = Result<T, E>>) -> Result<Watched<T>, Failure>
    where
        Failure: From<E>,
    {
        let mut work = pin!(work);
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        loop {
            tokio::select! {
                biased;
                _ = &mut interrupted => return Ok(Watched::Interrupted),
                entry = self.entries.next() => match entry? {
                    Some(entry) => self.show.entry(&entry),
                    None => return Err(callboard_engine::Error::NoSession { session: self.session.id().clone() }.into()),
                },
                piece = next(&mut self.pieces) => self.show.piece(&piece),
                done = &mut work => {
                    let done = done?;
                    self.catch_up().await?;
                    return Ok(Watched::Done(done));
                }
            }
        }
    }

    /// Shows what has happened so far.
    pub(super) async fn catch_up(&mut self) -> Result<(), Failure> {
        let head = self.session.state().await?.head.seq;
        while self.entries.cursor() < head {
            let Some(entry) = self.entries.next().await? else { break };
            self.show.entry(&entry);
        }
        Ok(())
    }
}

/// The next piece of an answer. Whoever listens to none, or was too slow for some, waits for those that come.
async fn next(pieces: &mut Option<broadcast::Receiver<Ephemeral>>) -> Ephemeral {
    loop {
        match pieces {
            Some(receiver) => match receiver.recv().await {
                Ok(piece) => return piece,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => *pieces = None,
            },
            None => std::future::pending().await,
        }
    }
}
