//! Stores for journals.
//!
//! A [`Store`] appends to, reads, watches and expires journals. It does not know what entries mean. [`open`] opens the
//! store that a URL names. Every store passes the same test suite, the module `conformance` (a feature), and must behave
//! as [`MemoryStore`] does. Those on database servers are behind the features `postgres` and `redis`.
//!
//! ```
//! use callboard_store::{Settings, Store as _, open};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = open("memory:", Settings::default()).await?;
//! assert_eq!(store.sessions(None, 10).await?, []);
//! # Ok::<_, callboard_store::Error>(()) }).unwrap();
//! ```

#[cfg(any(feature = "postgres", feature = "redis"))]
mod append_batcher;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod server_time;
mod settings;
mod sql;
mod sqlite;
mod store;
#[cfg(feature = "conformance")]
pub mod testing;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::Error;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "redis")]
pub use redis::RedisStore;
pub use settings::{Settings, open};
pub use sqlite::SqliteStore;
pub use store::{
    Append, Durability, JournalKind, Lease, LeaseChange, Order, Query, Rewrite, Row, Snapshot, Store, TimeQuery,
};
