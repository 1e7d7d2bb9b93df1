//! Which sessions changed: announcing changes to watchers here, and telling other nodes.
//!
//! The number of a change is the number of its transaction. Transactions do not end in the order of their numbers, but
//! the server knows the lowest number that has not ended. All later changes have this number or a higher one, so the next
//! look starts there.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use callboard_core::id::SessionId;
use tokio::sync::{Notify, broadcast};
use tokio_postgres::{Client, Error as Sql};

use crate::store::WATCH_CAPACITY;

/// How many bytes a notification may have before another is begun. The limit of Postgres is 8000.
const NOTIFICATION: usize = 7000;

/// Finds the changes since the transaction $1, and the lowest transaction that has not ended.
const BEHIND: &str = "WITH now AS MATERIALIZED (
        SELECT pg_snapshot_xmin(s.s)::text::bigint AS low, pg_snapshot_xmax(s.s)::text::bigint AS high
        FROM (SELECT pg_current_snapshot() AS s) s)
    SELECT now.low, NULL, NULL FROM now
    UNION ALL SELECT 0, name, change FROM session WHERE change >= $1 AND change < (SELECT high FROM now)
    UNION ALL SELECT 0, name, change FROM dead WHERE change >= $1 AND change < (SELECT high FROM now)";

/// The changes that a handle has announced, and those that it has to tell other nodes.
#[derive(Debug)]
pub(super) struct Changes {
    /// The number of this handle.
    node: i64,
    watchers: broadcast::Sender<SessionId>,
    known: Mutex<Known>,
    /// Notifies when there is something to send.
    pub(super) to_send: Notify,
}

#[derive(Debug, Default)]
struct Known {
    /// The lowest transaction that had not ended at the last look.
    low: i64,
    /// The announced sessions with their changes, as far as the next look may find them again.
    announced: HashMap<SessionId, i64>,
    /// The changes that are not sent to other nodes yet.
    unsent: HashMap<SessionId, i64>,
}

impl Changes {
    /// Changes since the transaction `low` will be announced.
    pub(super) fn new(node: i64, low: i64) -> Self {
        let known = Known { low, ..Known::default() };
        let watchers = broadcast::Sender::new(WATCH_CAPACITY);
        Self { node, watchers, known: Mutex::new(known), to_send: Notify::new() }
    }

    pub(super) fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.watchers.subscribe()
    }

    /// Announces a change that was made here, and lets other nodes be told.
    pub(super) fn changed_here(&self, session: &SessionId, change: i64) {
        let mut known = self.known();
        known.announced.insert(session.clone(), change);
        known.unsent.insert(session.clone(), change);
        drop(known);
        self.announce(session);
        self.to_send.notify_one();
    }

    /// Announces the changes in another node's notification, except those that are known.
    pub(super) fn notified(&self, notification: &str) {
        let mut words = notification.split(' ');
        if words.next().and_then(|node| node.parse().ok()) == Some(self.node) {
            return;
        }
        for word in words {
            if let Some((session, change)) = word.split_once('/')
                && let (Ok(session), Ok(change)) = (session.parse(), change.parse())
            {
                self.found(&session, change);
            }
        }
    }

    /// Announces a change that was found, unless it is known.
    fn found(&self, session: &SessionId, change: i64) {
        if self.known().announced.insert(session.clone(), change) != Some(change) {
            self.announce(session);
        }
    }

    fn announce(&self, session: &SessionId) {
        // Sending fails only if nobody watches.
        let _ = self.watchers.send(session.clone());
    }

    /// Looks for all changes since the last look.
    pub(super) async fn look_for_changes(&self, client: &Client) -> Result<(), Sql> {
        let since = self.known().low;
        let rows = client.query(BEHIND, &[&since]).await?;
        let mut low = since;
        for row in &rows {
            match (row.try_get::<_, Option<&str>>(1)?.map(str::parse), row.try_get::<_, Option<i64>>(2)?) {
                (Some(Ok(session)), Some(change)) => self.found(&session, change),
                (None, None) => low = row.try_get(0)?,
                // The name is no id of a session, so it is not ours.
                _ => {}
            }
        }
        let mut known = self.known();
        // After a fail-over the numbers may have gone back. Then the next look finds all sessions.
        known.low = if low < since { 0 } else { low };
        known.announced.retain(|_, change| *change >= low);
        Ok(())
    }

    /// Takes the changes that are to be sent to other nodes, as notifications that are short enough.
    pub(super) fn take_notifications(&self) -> Vec<String> {
        let unsent = std::mem::take(&mut self.known().unsent);
        let mut notifications = Vec::new();
        let mut notification = self.node.to_string();
        for (session, change) in unsent {
            if notification.len() > NOTIFICATION {
                notifications.push(std::mem::replace(&mut notification, self.node.to_string()));
            }
            notification.push_str(&format!(" {session}/{change}"));
        }
        notifications.push(notification);
        notifications
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> SessionId {
        id.parse().unwrap()
    }

    #[test]
    fn what_one_node_tells_another_announces_once() {
        let (here, there) = (Changes::new(1, 0), Changes::new(2, 0));
        let (mut own, mut other) = (here.watch(), there.watch());
        here.changed_here(&session("a:b"), 7);
        assert_eq!(own.try_recv(), Ok(session("a:b")));
        for notification in here.take_notifications() {
            here.notified(&notification);
            there.notified(&notification);
            there.notified(&notification);
        }
        assert_eq!(other.try_recv(), Ok(session("a:b")));
        assert!(own.try_recv().is_err() && other.try_recv().is_err());
    }

    #[test]
    fn a_notification_is_never_too_long_and_nothing_is_left_out() {
        let (here, there) = (Changes::new(1, 0), Changes::new(2, 0));
        let ids: Vec<_> = (0..900).map(|n| session(&format!("{n:0>128}"))).collect();
        ids.iter().for_each(|id| here.changed_here(id, i64::MAX));
        let mut watcher = there.watch();
        let notifications = here.take_notifications();
        assert!(notifications.len() > 1 && notifications.iter().all(|text| text.len() < 8000));
        notifications.iter().for_each(|text| there.notified(text));
        let mut heard: Vec<_> = std::iter::from_fn(|| watcher.try_recv().ok()).collect();
        heard.sort();
        assert_eq!(heard, ids);
    }

    #[test]
    fn what_is_no_notification_of_ours_is_ignored() {
        let changes = Changes::new(1, 0);
        let mut watcher = changes.watch();
        ["", "x", "2 /1", "2 a/", "2 a/b", "2 ../../1"].iter().for_each(|text| changes.notified(text));
        assert!(watcher.try_recv().is_err());
    }
}
