//! What the thread that writes does all day.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use super::{group::Work, seat::Seat};

/// How many calls are committed together at most.
const GROUP: usize = 256;

/// What the thread is told.
pub(super) enum Message {
    /// Something is to be done.
    Work(Box<dyn Work>),
    /// There is something to look after that nobody waits for.
    Tend,
}

/// What the thread owns.
pub(super) struct Thread {
    messages: Receiver<Message>,
    seat: Arc<Seat>,
}

impl Thread {
    pub(super) fn new(messages: Receiver<Message>, seat: Arc<Seat>) -> Self {
        Self { messages, seat }
    }

    /// Works until every handle is gone and the queue is empty.
    pub(super) fn run(self) {
        let mut pause = Some(Duration::ZERO);
        while let Some((mut group, is_quiet)) = self.next(pause) {
            let Some(mut desk) = self.seat.take() else { return };
            // A task that waits for the desk would never get it between two of many slices.
            group.extend(self.seat.some());
            if !group.is_empty() {
                desk.commit(group);
            }
            pause = desk.tend(is_quiet);
        }
    }

    /// Waits for something to do, at most for `pause`, and takes all that waits; says whether nothing came. `None` when
    /// there never will be anything again.
    fn next(&self, pause: Option<Duration>) -> Option<(Vec<Box<dyn Work>>, bool)> {
        let mut group = Vec::new();
        match self.wait(pause) {
            Ok(Message::Work(work)) => group.push(work),
            // There will be more in a moment, and then all of it is looked after at once.
            Ok(Message::Tend) => return Some((group, false)),
            Err(RecvTimeoutError::Timeout) => return Some((group, true)),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        while group.len() < GROUP {
            match self.messages.try_recv() {
                Ok(Message::Work(work)) => group.push(work),
                Ok(Message::Tend) => {}
                Err(_) => break,
            }
        }
        Some((group, false))
    }

    fn wait(&self, pause: Option<Duration>) -> Result<Message, RecvTimeoutError> {
        match pause {
            Some(pause) => self.messages.recv_timeout(pause),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}
