//! Opening a store by its URL.

use std::sync::Arc;

use callboard_tasks::Supervisor;

#[cfg(feature = "postgres")]
use crate::PostgresStore;
#[cfg(feature = "redis")]
use crate::RedisStore;
use crate::{Clock, Durability, Error, MemoryStore, SqliteStore, Store, SystemClock};

/// The settings with which a store is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The least durability. A store with less is not opened, except the one in memory. [`Store::durability`] says what
    /// the opened store has.
    pub durability: Durability,
    /// The clock by which sessions expire.
    pub clock: Arc<dyn Clock>,
    /// Supervises the tasks and threads of the store.
    pub supervisor: Supervisor,
}

impl Default for Settings {
    fn default() -> Self {
        Self { durability: Durability::Normal, clock: Arc::new(SystemClock), supervisor: Supervisor::default() }
    }
}

/// Opens the store that `url` names: `memory:`, `sqlite:PATH`, with the feature `postgres` a URL of Postgres, and with the
/// feature `redis` one of Redis. See `PostgresStore` and `RedisStore`.
///
/// The path is used as it is written. It is relative to the working directory unless it begins with `/`.
pub async fn open(url: &str, settings: Settings) -> Result<Arc<dyn Store>, Error> {
    match parse(url)? {
        StoreUrl::Memory => Ok(Arc::new(MemoryStore::new(settings.clock))),
        StoreUrl::Sqlite(path) => {
            let path = path.to_owned();
            let opened = tokio::task::spawn_blocking(move || SqliteStore::open(path, settings)).await;
            let store = opened.map_err(|error| Error::failed("opening the store", error))??;
            Ok(Arc::new(store))
        }
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(url) => Ok(Arc::new(PostgresStore::open(url, settings).await?)),
        #[cfg(not(feature = "postgres"))]
        StoreUrl::Postgres(_) => Err(not_built("Postgres", "postgres")),
        #[cfg(feature = "redis")]
        StoreUrl::Redis(url) => Ok(Arc::new(RedisStore::open(url, settings).await?)),
        #[cfg(not(feature = "redis"))]
        StoreUrl::Redis(_) => Err(not_built("Redis", "redis")),
    }
}

/// The error for a store that this program was built without.
#[cfg(not(all(feature = "postgres", feature = "redis")))]
fn not_built(name: &str, feature: &str) -> Error {
    let why = format!("this program was built without it: build it with the feature `{feature}` of callboard-store");
    Error::cannot_open(format!("a store in {name}"), why)
}

/// The store that a URL names.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "postgres", feature = "redis")),
    allow(dead_code, reason = "the URL of a store that was not built is not looked at")
)]
enum StoreUrl<'a> {
    Memory,
    Sqlite(&'a str),
    Postgres(&'a str),
    Redis(&'a str),
}

/// The forms of URLs.
const KNOWN: &str = "memory:, sqlite:PATH, postgres://HOST/DATABASE, redis://HOST, rediss://HOST, \
                     redis-rest+https://TOKEN@HOST and redis-rest+http://…";

fn parse(url: &str) -> Result<StoreUrl<'_>, Error> {
    // The rest of the URL may contain a password, so errors do not repeat it.
    let refuse = |what: &str, why: &str| Err(Error::cannot_open(format!("the store {what:?}"), why));
    match url.split_once(':') {
        Some(("memory", "")) => Ok(StoreUrl::Memory),
        Some(("memory", _)) => refuse("memory:…", "nothing may follow `memory:`"),
        Some(("sqlite", "")) => refuse(url, "the path is missing: write sqlite:PATH, for instance sqlite:callboard.db"),
        Some(("sqlite", path)) if path.contains('?') => {
            refuse(url, "a path of SQLite has no options after `?`: use another file for another namespace")
        }
        Some(("sqlite", path)) => Ok(StoreUrl::Sqlite(path.strip_prefix("//").unwrap_or(path))),
        Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => Ok(StoreUrl::Postgres(url)),
        Some(("redis" | "rediss" | "redis-rest+https" | "redis-rest+http", _)) => Ok(StoreUrl::Redis(url)),
        Some((scheme, _)) => refuse(&format!("{scheme}:…"), &format!("this version knows {KNOWN}")),
        None => refuse(url, &format!("it has no scheme: write {KNOWN}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_memory_a_file_or_a_server() {
        assert_eq!(parse("memory:").unwrap(), StoreUrl::Memory);
        for url in ["postgres://h/d", "postgresql://h"] {
            assert_eq!(parse(url).unwrap(), StoreUrl::Postgres(url));
        }
        for (url, path) in [("sqlite:a b.db", "a b.db"), ("sqlite:///tmp/x.db", "/tmp/x.db"), ("sqlite:/x", "/x")] {
            assert_eq!(parse(url).unwrap(), StoreUrl::Sqlite(path), "{url}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said_without_its_password() {
        let why = |url: &str| parse(url).unwrap_err().to_string();
        assert_eq!(
            why("rediss+http://me:secret@host/db"),
            "cannot open the store \"rediss+http:…\": this version knows memory:, sqlite:PATH, postgres://HOST/DATABASE, \
             redis://HOST, rediss://HOST, redis-rest+https://TOKEN@HOST and redis-rest+http://…"
        );
        assert_eq!(
            why("sqlite:x.db?namespace=a"),
            "cannot open the store \"sqlite:x.db?namespace=a\": a path of SQLite has no options after `?`: \
             use another file for another namespace"
        );
        assert!(why("sqlite:").contains("the path is missing"));
        assert!(why("callboard.db").contains("no scheme"));
        let why_not = why("postgres:me:secret@host");
        assert!(why_not.contains(KNOWN) && !why_not.contains("secret"), "{why_not}");
        assert!(why("memory:x").contains("nothing may follow"));
    }
}
