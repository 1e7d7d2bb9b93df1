use callboard_core::{idempotency::record, time::Timestamp};
use callboard_engine::Settings;
use callboard_store::{Lease, ManualClock, MemoryStore, Store as _};

use super::*;

#[tokio::test]
async fn that_a_server_is_there_is_noted_again_when_half_of_the_time_has_passed() {
    let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000).unwrap());
    let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
    let lease = Lease { holder: "a".into(), lasts: Duration::from_secs(60) };
    let settings = Settings { clock: Arc::new(clock.clone()), lease, ..Settings::default() };
    let asking = Asking::new(Board::new(store.clone(), settings));
    let record = record::place_of_asker(asking.name()).unwrap();
    let mut expires = Vec::new();
    for passed in [0, 29, 1, 29, 1] {
        clock.advance_seconds(passed);
        drop(asking.begin().await.unwrap());
        expires.push(store.row(&record).await.unwrap().unwrap().expires_at.unwrap());
    }
    let first = Timestamp::from_millis(1_700_000_060_000).unwrap();
    let renewed = [0, 0, 30, 30, 60].map(|seconds| first.plus_seconds(seconds));
    assert_eq!(expires, renewed);
}
