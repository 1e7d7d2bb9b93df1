use std::{collections::BTreeMap, sync::Arc};

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{
    Fixture, everything,
    journal_writer::{JournalWriter, claiming, note},
    session,
};
use crate::{Clock as _, Error, Store};

/// A session that expires in so many seconds.
async fn expiring(fixture: &impl Fixture, store: &Arc<dyn Store>, id: &str, seconds: i64) -> JournalWriter {
    let mut journal = JournalWriter::new(store, id);
    journal.expires_at = Some(fixture.clock().now().plus_seconds(seconds));
    journal.write([claiming(&["k"])]).await;
    journal
}

pub async fn what_has_expired_is_gone_for_every_call(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let expires_at = fixture.clock().now().plus_seconds(60);
    let mut journal = JournalWriter::furnished(&store, "s", Some(expires_at)).await;
    fixture.clock().advance_seconds(59);
    assert!(store.row(&journal.session).await.unwrap().is_some(), "it is there until then");
    fixture.clock().advance_seconds(1);
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
    assert_eq!(store.touch(&journal.session, None).await.unwrap(), None, "a touch that comes too late");
    assert_eq!(store.read(&journal.session, everything()).await.unwrap(), []);
    assert_eq!(journal.has().await, [false; 4]);
    assert_eq!(store.sessions(None, 9).await.unwrap(), []);
    assert!(matches!(journal.try_write([note("c")]).await, Err(Error::Conflict { found: None })));
    assert!(!store.delete(&journal.session).await.unwrap());
}

pub async fn an_append_makes_an_expired_session_anew(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let expires_at = fixture.clock().now().plus_seconds(60);
    let old = JournalWriter::furnished(&store, "s", Some(expires_at)).await;
    fixture.clock().advance_seconds(61);
    let new = JournalWriter::with(&store, "s", "new").await;
    assert_eq!(new.texts().await, ["new"]);
    assert_eq!(new.has().await, [false; 4]);
    store.put_snapshot(&new.session, old.head, Arc::from(*b"of the past")).await.unwrap();
    assert_eq!(store.snapshot(&new.session, Seq(9)).await.unwrap(), None);
    assert_eq!(store.sweep(9).await.unwrap(), [], "the new one has not expired");
    assert_eq!(new.texts().await, ["new"]);
}

pub async fn a_sweep_removes_the_first_to_expire_up_to_its_limit(fixture: &impl Fixture) {
    let store = fixture.open().await;
    for (id, seconds) in [("late", 40), ("b", 20), ("a", 20), ("first", 10), ("stays", 90)] {
        expiring(fixture, &store, id, seconds).await;
    }
    assert_eq!(store.sweep(9).await.unwrap(), []);
    fixture.clock().advance_seconds(50);
    assert_eq!(store.sweep(0).await.unwrap(), []);
    assert_eq!(store.sweep(2).await.unwrap(), [session("first"), session("a")]);
    assert_eq!(store.sweep(9).await.unwrap(), [session("b"), session("late")]);
    assert_eq!(store.sweep(9).await.unwrap(), []);
    assert!(store.row(&session("stays")).await.unwrap().is_some());
}

pub async fn a_sweep_goes_by_when_sessions_expire_now(fixture: &impl Fixture) {
    let store = fixture.open().await;
    for id in ["used1", "used2", "used3", "mid"] {
        let mut journal = expiring(fixture, &store, id, 10).await;
        let later = if id == "mid" { 30 } else { 100 };
        journal.expires_at = Some(fixture.clock().now().plus_seconds(later));
        journal.write([note("again")]).await;
    }
    for (id, seconds) in [("first", 20), ("last", 40)] {
        expiring(fixture, &store, id, seconds).await;
    }
    fixture.clock().advance_seconds(50);
    assert_eq!(store.sweep(1).await.unwrap(), [session("first")]);
    assert_eq!(store.sweep(2).await.unwrap(), [session("mid"), session("last")]);
    assert_eq!(store.sweep(2).await.unwrap(), []);
    assert_eq!(store.sessions(None, 9).await.unwrap().len(), 3, "those that were used");
}

pub async fn a_touch_before_the_sweep_wins(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = expiring(fixture, &store, "s", 60).await;
    fixture.clock().advance_seconds(59);
    let later = Some(fixture.clock().now().plus_seconds(60));
    assert!(store.touch(&journal.session, later).await.unwrap().is_some());
    fixture.clock().advance_seconds(30);
    assert_eq!(store.sweep(9).await.unwrap(), []);
    assert_eq!(journal.texts().await, ["claims"]);
    fixture.clock().advance_seconds(30);
    assert_eq!(store.sweep(9).await.unwrap(), [journal.session]);
}

pub async fn what_has_expired_is_named_with_its_time_until_it_is_removed(fixture: &impl Fixture) {
    let [store, other] = [fixture.open().await, fixture.open().await];
    let made = fixture.clock().now();
    for (id, seconds) in [("late", 40), ("b", 20), ("a", 20), ("stays", 90)] {
        expiring(fixture, &store, id, seconds).await;
    }
    let mut used = expiring(fixture, &store, "used", 10).await;
    used.expires_at = Some(made.plus_seconds(30));
    used.write([note("again")]).await;
    assert_eq!(store.expired(9).await.unwrap(), []);
    assert_eq!(store.expired_at(&session("a")).await.unwrap(), None);
    fixture.clock().advance_seconds(50);
    let named = |id, seconds| (session(id), made.plus_seconds(seconds));
    let all = [named("a", 20), named("b", 20), named("used", 30), named("late", 40)];
    assert_eq!(other.expired(9).await.unwrap(), all);
    assert_eq!(store.expired(2).await.unwrap(), all[..2]);
    assert_eq!(store.expired(0).await.unwrap(), []);
    assert_eq!(other.expired_at(&session("used")).await.unwrap(), Some(made.plus_seconds(30)));
    assert_eq!(other.expired_at(&session("stays")).await.unwrap(), None);
    assert_eq!(other.expired_at(&session("never")).await.unwrap(), None);
    let wanted = [session("used"), session("b")];
    let mut removed = store.remove_expired(&wanted).await.unwrap();
    removed.sort();
    assert_eq!(removed, [session("b"), session("used")]);
    assert_eq!(store.expired(9).await.unwrap(), [named("a", 20), named("late", 40)]);
    assert_eq!(store.expired_at(&session("b")).await.unwrap(), None);
    assert_eq!(store.remove_expired(&wanted).await.unwrap(), [], "they are gone");
}

pub async fn what_lives_is_not_removed_as_expired(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let lives = JournalWriter::with(&store, "s", "a").await;
    expiring(fixture, &store, "again", 10).await;
    fixture.clock().advance_seconds(20);
    let again = JournalWriter::with(&store, "again", "new").await;
    assert_eq!(store.remove_expired(&[session("s"), session("again"), session("x")]).await.unwrap(), []);
    assert_eq!(lives.texts().await, ["a"]);
    assert_eq!(again.texts().await, ["new"]);
}

pub async fn an_append_sets_expiry_as_a_touch_does(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = expiring(fixture, &store, "s", 60).await;
    journal.expires_at = Some(fixture.clock().now().plus_seconds(10));
    journal.write([note("sooner")]).await;
    fixture.clock().advance_seconds(10);
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
    journal.head = Head::default();
    journal.write([note("gone at once")]).await;
    assert_eq!(store.row(&journal.session).await.unwrap(), None);
}

pub async fn what_never_expires_stays(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a").await;
    fixture.clock().advance_seconds(200 * 365 * 86_400);
    assert_eq!(store.sweep(9).await.unwrap(), []);
    assert_eq!(journal.texts().await, ["a"]);
}

/// Numbers that look random and are the same each time.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, most: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % most
    }
}

/// Whether a call still finds anything of the session `s`.
async fn is_anywhere(store: &Arc<dyn Store>, s: &SessionId) -> bool {
    store.row(s).await.unwrap().is_some()
        || !store.read(s, everything()).await.unwrap().is_empty()
        || JournalWriter::new(store, s.as_str()).has().await != [false; 4]
        || store.sessions(None, 99).await.unwrap().iter().any(|(id, _)| id == s)
}

pub async fn i9_what_has_expired_is_gone_everywhere_in_one_sweep_and_what_is_in_use_stays(fixture: &impl Fixture) {
    let [store, other] = [fixture.open().await, fixture.open().await];
    let (clock, mut random) = (fixture.clock(), SeededRandom(9));
    // When each expires, whether or not it has; who was swept is not there.
    let mut known: BTreeMap<SessionId, (JournalWriter, Option<Timestamp>)> = BTreeMap::new();
    for _ in 0..250 {
        let (id, now) = (session(&format!("s{}", random.below(6))), clock.now());
        let expires_at = (random.below(5) > 0).then(|| now.plus_seconds(1 + random.below(90)));
        let lives = |at: &Option<Timestamp>| at.is_none_or(|at| at > now);
        match (random.below(8), known.get_mut(&id).filter(|(_, at)| lives(at))) {
            (0..=2, Some((journal, at))) => {
                journal.expires_at = expires_at;
                journal.write([note("on")]).await;
                *at = expires_at;
            }
            (0..=2, None) => {
                let journal = JournalWriter::furnished(&store, id.as_str(), expires_at).await;
                known.insert(id.clone(), (journal, expires_at));
            }
            (3, Some((_, at))) => {
                assert!(other.touch(&id, expires_at).await.unwrap().is_some());
                *at = expires_at;
            }
            (3, None) => assert_eq!(other.touch(&id, expires_at).await.unwrap(), None),
            (4 | 5, _) => clock.advance_seconds(random.below(50)),
            _ => {
                let mut expired: Vec<_> = known.iter().filter(|(_, (_, at))| !lives(at)).collect();
                expired.sort_by_key(|(id, (_, at))| (*at, (*id).clone()));
                let expired: Vec<_> = expired.into_iter().map(|(id, _)| id.clone()).collect();
                assert_eq!(store.sweep(usize::MAX).await.unwrap(), expired);
                for id in expired {
                    known.remove(&id);
                    assert!(!is_anywhere(&other, &id).await, "{id} is still there");
                }
            }
        }
        let now = clock.now();
        let there: Vec<_> = known.iter().filter(|(_, (_, at))| at.is_none_or(|at| at > now)).collect();
        let listed = other.sessions(None, 99).await.unwrap();
        assert_eq!(
            listed.iter().map(|(id, _)| id).collect::<Vec<_>>(),
            there.iter().map(|(id, _)| *id).collect::<Vec<_>>()
        );
    }
}
