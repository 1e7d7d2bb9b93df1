//! The tests that every store passes.
//!
//! To test a store, implement [`Fixture`] for it. [`conformance!`](crate::conformance!) then expands to one test for each
//! case, and [`conformance_of_durable!`](crate::conformance_of_durable!) to those for stores whose data survives the
//! process.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use callboard_store::{ManualClock, MemoryStore, Store, conformance::Fixture};
//! struct Memory(ManualClock, Arc<MemoryStore>);
//!
//! #[async_trait::async_trait]
//! impl Fixture for Memory {
//!     async fn fresh() -> Self {
//!         let clock = ManualClock::new(Default::default());
//!         Self(clock.clone(), Arc::new(MemoryStore::new(Arc::new(clock))))
//!     }
//!     async fn open(&self) -> Arc<dyn Store> {
//!         self.1.clone()
//!     }
//!     fn clock(&self) -> &ManualClock {
//!         &self.0
//!     }
//! }
//!
//! callboard_store::conformance!(Memory);
//! ```
#![allow(missing_docs, reason = "the name of a case says what it is about")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, though they are compiled as a module"
)]

pub mod append;
pub mod by_time;
pub mod concurrency;
pub mod expiry;
pub mod journal_writer;
pub mod keys;
pub mod leases;
pub mod read;
pub mod restart;
pub mod rewrites;
pub mod sessions;
pub mod snapshots;
pub mod text;
pub mod values;
pub mod watch;

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use callboard_core::{
    id::{Seq, SessionId},
    time::Timestamp,
};

use crate::{ManualClock, Order, Query, Store};

/// An empty store for a test. Its data is removed when this is dropped.
#[async_trait]
pub trait Fixture: Sized + Send + Sync + 'static {
    /// Creates an empty store.
    async fn fresh() -> Self;

    /// Opens a handle on the data. If the store can be shared, each call opens another handle, as another process would.
    async fn open(&self) -> Arc<dyn Store>;

    /// The clock of all handles.
    fn clock(&self) -> &ManualClock;
}

/// Expands to one test for each case that every store must pass, with a [`Fixture`].
#[macro_export]
macro_rules! conformance {
    ($fixture:ty) => {
        $crate::conformance_cases! { $fixture;
            append:
                what_is_appended_comes_back_exactly_as_it_was,
                a_batch_is_appended_whole_or_not_at_all,
                an_append_on_an_older_head_is_refused_and_told_what_is_there,
                the_same_number_with_another_tag_is_a_conflict,
                a_session_is_created_once,
                an_append_to_a_session_that_is_not_there_finds_nothing,
                an_empty_or_misnumbered_batch_is_refused;
            keys:
                a_key_is_claimed_once_per_journal,
                a_key_is_claimed_once_per_batch,
                a_refused_batch_claims_nothing,
                keys_belong_to_their_session,
                keys_that_look_alike_are_different,
                many_keys_are_found_at_once;
            read:
                a_range_is_read_from_either_end,
                a_range_that_is_empty_or_beyond_has_no_entries,
                only_the_wanted_types_are_read,
                several_subjects_are_read_as_one_in_order,
                types_and_subjects_are_combined,
                a_limit_cuts_what_is_filtered_at_the_right_end,
                what_nobody_wrote_about_has_no_entries,
                many_entries_are_read_by_their_numbers_at_once;
            by_time:
                entries_come_by_their_own_time_and_ties_by_number,
                the_bounds_are_not_among_what_is_between_them,
                pages_go_on_behind_the_last_place_both_ways,
                other_subjects_and_types_are_not_among_them;
            sessions:
                a_row_says_where_the_journal_ends,
                a_touch_moves_expiry_and_activity_and_nothing_else,
                sessions_are_listed_by_id_in_pages,
                sessions_are_listed_by_their_last_use,
                unlisted_journals_are_no_sessions,
                what_is_deleted_is_gone_and_others_stay,
                a_session_that_was_deleted_starts_empty_again;
            watch:
                an_append_a_touch_and_a_deletion_are_named,
                what_another_handle_does_is_named,
                nothing_is_named_when_nothing_changed;
            leases:
                a_lease_begins_and_ends_with_the_batches_that_say_so,
                a_lease_is_its_holders_until_it_runs_out,
                who_lets_go_leaves_to_others_what_it_had,
                the_first_to_run_out_are_taken_first,
                a_refused_batch_leaves_the_lease_as_it_is,
                what_is_gone_has_no_lease,
                to_lease_changes_nothing_else,
                of_many_who_ask_at_once_one_gets_each_lease;
            expiry:
                what_has_expired_is_gone_for_every_call,
                an_append_makes_an_expired_session_anew,
                a_sweep_removes_the_first_to_expire_up_to_its_limit,
                a_sweep_goes_by_when_sessions_expire_now,
                a_touch_before_the_sweep_wins,
                what_has_expired_is_named_with_its_time_until_it_is_removed,
                what_lives_is_not_removed_as_expired,
                an_append_sets_expiry_as_a_touch_does,
                what_never_expires_stays,
                i9_what_has_expired_is_gone_everywhere_in_one_sweep_and_what_is_in_use_stays;
            values:
                a_large_value_is_kept_beside_the_journal,
                a_value_of_16_mib_comes_back,
                a_value_that_is_there_is_not_stored_twice;
            rewrites:
                a_rewritten_entry_keeps_its_header_and_tag,
                a_rewritten_entry_is_found_as_before,
                a_refused_batch_takes_nothing_away,
                only_entries_that_are_there_can_be_rewritten,
                other_handles_read_what_was_rewritten,
                dropped_values_are_gone_and_others_stay,
                a_rewrite_drops_snapshots_and_no_older_one_is_kept;
            snapshots:
                the_newest_snapshot_that_is_not_later_is_found,
                a_snapshot_replaces_the_one_of_the_same_entry,
                a_snapshot_of_another_journal_is_not_kept;
            text:
                every_kind_of_text_survives_everywhere,
                a_megabyte_of_text_survives_everywhere;
            concurrency:
                many_writers_on_one_session_lose_nothing,
                many_writers_on_many_sessions_do_not_disturb_each_other,
                one_of_many_wins_a_key,
                writers_on_two_handles_lose_nothing,
                who_write_at_once_are_answered_each_by_itself,
                callers_that_leave_take_no_other_with_them;
        }
    };
}

/// Expands to one test for each case that a store must pass if its data survives the process, with a [`Fixture`].
#[macro_export]
macro_rules! conformance_of_durable {
    ($fixture:ty) => {
        $crate::conformance_cases! { $fixture;
            restart:
                everything_is_there_after_a_restart,
                what_was_deleted_stays_deleted,
                what_was_rewritten_stays_rewritten,
                the_last_activity_before_is_known_also_of_what_has_expired,
                what_waits_when_the_last_handle_is_dropped_is_written;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($fixture:ty; $($group:ident: $($case:ident),+;)+) => {$(
        mod $group {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let fixture = <$fixture as $crate::conformance::Fixture>::fresh().await;
                    $crate::conformance::$group::$case(&fixture).await;
                }
            )+
        }
    )+};
}

/// A time in seconds since 1970.
pub fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000).unwrap()
}

/// The session with this id.
pub fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

/// A query for all entries.
pub fn everything() -> Query {
    Query::all(Seq(1)..Seq(u64::MAX), Order::Forward, usize::MAX)
}

/// A clock that shows a time in 2023.
pub fn clock() -> ManualClock {
    ManualClock::new(seconds(1_700_000_000))
}

/// Waits for an event, with a timeout.
pub async fn soon<T>(what: &str, event: impl Future<Output = T>) -> T {
    let Ok(come) = tokio::time::timeout(Duration::from_secs(300), event).await else { panic!("{what} did not come") };
    come
}
