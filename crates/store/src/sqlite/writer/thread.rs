//! What the thread that writes does all day.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use super::{Message, desk::Desk, group::Work};

/// How many calls are committed together at most.
const GROUP: usize = 256;

/// What the thread owns.
pub(super) struct Thread {
    messages: Receiver<Message>,
    desk: Arc<Mutex<Desk>>,
}

impl Thread {
    pub(super) fn new(messages: Receiver<Message>, desk: Arc<Mutex<Desk>>) -> Self {
        Self { messages, desk }
    }

    /// Works until every handle is gone and the queue is empty.
    pub(super) fn run(self) {
        let mut pause = Some(Duration::ZERO);
        while let Some((group, is_quiet)) = self.next(pause) {
            // Where somebody panicked who had it, nobody knows what state it is in.
            let Ok(mut desk) = self.desk.lock() else { return };
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
