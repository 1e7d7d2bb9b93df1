//! What is wrong with a store is said in words: what, where, and what to do, by `doctor` and by a server that starts.

use std::net::TcpListener;

use callboard_store::testing::{PostgresServer, RedisServer};
use serde_json::Value;

use crate::home::Home;

/// `doctor` and `serve` both refuse the store with these words, and show no password.
fn refused(home: &Home, url: &str, words: &[&str]) {
    let doctor = home.run(&format!("doctor --no-model --json --store {url}"));
    let found: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let detail = found["findings"][1]["detail"].as_str().unwrap_or_else(|| panic!("{url}: {found}"));
    assert_eq!((doctor.status, &found["findings"][1]["ok"]), (1, &Value::from(false)), "{url}: {found}");
    for word in words {
        assert!(detail.contains(word), "{url}: {word:?} is not in: {detail}");
    }
    assert!(!detail.contains("hunter2"), "{detail}");
    let serve = home.run(&format!("serve --listen 127.0.0.1:0 --store {url}"));
    assert_eq!((serve.status, serve.stdout.as_str()), (1, ""), "{url}");
    assert!(serve.stderr.contains(detail), "{url}: {detail}: {}", serve.stderr);
}

/// `doctor` and `serve` both take the store, and remark on it in these words.
fn remarked(home: &Home, url: &str, words: &str) {
    let doctor = home.json(&format!("doctor --no-model --store {url}"));
    let remark = &doctor["findings"][2];
    assert!(remark["what"] == "note" && remark["detail"].as_str().unwrap().contains(words), "{doctor}");
}

/// A port where nobody listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_mistake_in_a_url_is_named() {
    let home = Home::new();
    for (url, words) in [
        ("postgress://me:hunter2@h/d", &["\"postgress:…\"", "this version knows memory:, sqlite:PATH"][..]),
        ("team.db", &["it has no scheme: write memory:, sqlite:PATH"]),
        ("sqlite:", &["the path is missing: write sqlite:PATH"]),
        ("sqlite:x.db?namespace=a", &["has no options"]),
        ("postgres:///d", &["the host is missing: write postgres://USER:PASSWORD@HOST:PORT/DATABASE"]),
        ("postgres://me:hunter2@h:port/d", &["write postgres://USER:PASSWORD@HOST:PORT/DATABASE"]),
        ("postgres://me:hunter2@h/d?namespce=x", &["(namespce)", "use `namespace`, `connections`"]),
        ("redis://", &["the host is missing: write redis://HOST:PORT"]),
        ("redis://:hunter2@h:port", &["it is not a URL: write redis://HOST:PORT"]),
        ("redis://:hunter2@h?namespce=x", &["no option `namespce`: use namespace, durability"]),
        ("redis-rest+https://h", &["the token is missing: write redis-rest+https://TOKEN@HOST"]),
    ] {
        refused(&home, url, words);
    }
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let home = Home::new();
    home.json("session new");
    let damaged = |name: &str, sql: &str| {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::copy(home.path(&format!("team.db{end}")), home.path(&format!("{name}{end}")));
        }
        rusqlite::Connection::open(home.path(name)).unwrap().execute_batch(sql).unwrap();
    };
    damaged("older.db", "PRAGMA user_version = 3");
    refused(&home, "sqlite:older.db", &["an older version made it in format 3", "`callboard export` its sessions"]);
    damaged("newer.db", "PRAGMA user_version = 7");
    refused(&home, "sqlite:newer.db", &["newer.db has format 7", "use the newer version that wrote it"]);
    home.write("notes.txt", "not a database, but long enough to be taken for one by its length\n".repeat(20));
    refused(&home, "sqlite:notes.txt", &["it is not a database: choose another path"]);
    refused(&home, "sqlite:.", &["it is a folder: name a file"]);
    refused(&home, "sqlite:/proc/x/y.db", &["its folder cannot be created"]);
    assert_eq!(home.run("doctor --no-model").status, 0, "the one that was copied is sound");
}

#[test]
fn what_is_wrong_with_postgres_is_named() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let at = format!("127.0.0.1:{}", server.port());
    refused(
        &home,
        &format!("postgres://guarded:hunter2@{at}/postgres"),
        &["refuses the login of guarded", "check user and"],
    );
    refused(&home, &format!("postgres://postgres:hunter2@{at}/none"), &["create it with `createdb none`"]);
    let url = server.url("n");
    refused(
        &home,
        &format!("{url}&options=-c%20default_transaction_read_only%3Don"),
        &[&at, "name the primary in the URL"],
    );
    let free = free_port();
    let nobody = format!("postgres://me:hunter2@127.0.0.1:{free}/d");
    refused(&home, &nobody, &[&format!("no connection with the server at 127.0.0.1:{free}"), "is it running"]);
    remarked(&home, &format!("{url}&options=-c%20synchronous_commit%3Doff"), "(synchronous_commit=off)");
    drop(server);
    let careless = PostgresServer::start_with(&["fsync = off"]);
    refused(&home, &careless.url("n"), &["(fsync=off): switch them on in postgresql.conf"]);
}

#[test]
fn what_is_wrong_with_redis_is_named() {
    let home = Home::new();
    let guarded = RedisServer::with(&["--appendonly", "yes", "--requirepass", "sesame"]);
    refused(&home, &guarded.url("n"), &["it requires a password: write redis://:PASSWORD@HOST"]);
    let at = |who: &str, rest: &str| format!("redis://{who}127.0.0.1:{}{rest}", guarded.port());
    refused(&home, &at(":hunter2@", ""), &["the password or the user in the URL is wrong"]);
    refused(&home, &at(":sesame@", "/99"), &["there is no such database: name another one"]);
    let replica = RedisServer::with(&["--replicaof", &format!("127.0.0.1 {}", guarded.port())]);
    refused(&home, &replica.url("n"), &["it is a replica, which is read-only: name the primary"]);
    let evicting = RedisServer::with(&["--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"]);
    refused(&home, &evicting.url("n"), &["maxmemory-policy allkeys-lru", "set `maxmemory-policy noeviction`"]);
    remarked(&home, &format!("{}&allow_eviction=true", evicting.url("n")), "maxmemory-policy allkeys-lru");
    let forgetful = RedisServer::with(&["--appendonly", "no"]);
    refused(&home, &forgetful.url("n"), &["in memory only: set `appendonly yes`"]);
    remarked(&home, &format!("{}&durability=process", forgetful.url("n")), "(appendonly no)");
    refused(&home, &format!("redis://127.0.0.1:{}", free_port()), &["the server cannot be reached", "is it running"]);
}
