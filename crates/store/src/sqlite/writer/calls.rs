//! The way of a call to the desk.

use std::sync::{Arc, Weak, mpsc};

use tokio::sync::Notify;

use super::{
    group::Work,
    seat::{Seat, Seated, Taken},
    thread::Message,
};

/// How calls come to the desk.
pub(super) struct Calls {
    seat: Arc<Seat>,
    queue: mpsc::Sender<Message>,
}

impl Calls {
    pub(super) fn new(seat: Arc<Seat>, queue: mpsc::Sender<Message>) -> Self {
        Self { seat, queue }
    }

    /// Leaves one to the thread.
    pub(super) fn leave(&self, work: Box<dyn Work>) {
        // Where the thread has ended, it is dropped unanswered.
        let _ = self.queue.send(Message::Work(work));
    }

    /// Has the thread look after what nobody waits for.
    pub(super) fn tend(&self) {
        // Where the thread has ended, nobody is told of changes any more, and the rest is done after the next start.
        let _ = self.queue.send(Message::Tend);
    }

    /// Commits a short one here and now if nobody else has one. Otherwise a task does, together with those of all tasks
    /// that can go on before it: so callers who are many share transactions, without a thread between them.
    pub(super) fn take(self: &Arc<Self>, mut work: Box<dyn Work>, is_alone: bool) {
        if is_alone
            && let Ok(desk) = self.seat.try_take()
            && desk.was_alone()
        {
            let Some(left) = self.commit(desk, vec![work]).pop() else { return };
            work = left;
        }
        if self.seat.gather(work) {
            let gathering = Gathering { calls: Arc::downgrade(self), is_done: false };
            tokio::spawn(gathering.run());
        }
    }

    /// Commits a group, or gives back what would have to wait for others.
    fn commit(&self, mut desk: Seated<'_>, group: Vec<Box<dyn Work>>) -> Vec<Box<dyn Work>> {
        let left = desk.commit_at_once(group);
        if desk.calls() {
            self.tend();
        }
        left
    }

    /// Commits some of what has gathered; the thread gets what would have to wait for others.
    fn commit_gathered(&self) -> Next {
        let desk = match self.seat.try_take() {
            Ok(desk) => desk,
            Err(Taken::Busy(freed)) => return Next::Wait(freed),
            Err(Taken::Lost) => return Next::End,
        };
        let group = self.seat.some();
        if !group.is_empty() {
            self.commit(desk, group).into_iter().for_each(|work| self.leave(work));
        }
        if self.seat.goes_on() { Next::More } else { Next::Done }
    }

    fn leave_gathered(&self) {
        self.seat.all().into_iter().for_each(|work| self.leave(work));
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.leave_gathered();
    }
}

/// What is to be done after some of what has gathered was committed.
enum Next {
    /// There are more.
    More,
    /// It can be gone on with when this is told.
    Wait(Arc<Notify>),
    /// Nothing is left.
    Done,
    /// Nothing can be committed any more.
    End,
}

/// The task that commits what has gathered.
struct Gathering {
    calls: Weak<Calls>,
    is_done: bool,
}

impl Gathering {
    async fn run(mut self) {
        while !self.is_done {
            // Who can go on now may have something to add.
            tokio::task::yield_now().await;
            // The store may be closed while this waits.
            let Some(next) = self.calls.upgrade().map(|calls| calls.commit_gathered()) else { return };
            match next {
                Next::More => {}
                Next::Wait(freed) => freed.notified().await,
                Next::Done => self.is_done = true,
                Next::End => return,
            }
        }
    }
}

impl Drop for Gathering {
    fn drop(&mut self) {
        // Its runtime may end before it does.
        if !self.is_done
            && let Some(calls) = self.calls.upgrade()
        {
            calls.leave_gathered();
        }
    }
}
