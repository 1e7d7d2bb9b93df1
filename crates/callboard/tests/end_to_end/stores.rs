//! Whole stores: checked, and moved from one to another of any kind.

use std::fmt::Write as _;

use callboard_store::testing::{PostgresServer, Proxy, RedisServer};
use serde_json::{Value, json};

use crate::{
    home::Home,
    server::{Http, Server, until, words},
};

/// A home whose store has some of everything.
fn furnished() -> Home {
    let home = Home::new();
    let server = Server::start(&home, "");
    let http = Http::new(&server);
    let team = json!({"id": "demo", "agents": [{"name": "lead", "role": "manager"}]});
    assert_eq!(http.keyed("k1", "/v1/sessions", &team).0, 201);
    drop(server);
    home.json("session new --id lasting --ttl never");
    home.json("session new --id brief --ttl 5000 --agent critic");
    home.json("token new --session demo --agent lead");
    let long = "All work and no play. ".repeat(10_000);
    assert_eq!(home.feed("set put Long - --session demo", &long).status, 0);
    assert_eq!(home.feed("say - --id one --session demo", &long).status, 0);
    let lines = |n| (0..n).fold(String::new(), |mut lines, n| writeln!(lines, "line {n}").map(|()| lines).unwrap());
    assert_eq!(home.feed("say --lines --id line --session lasting", lines(700)).status, 0);
    home
}

fn export(home: &Home, store: &str, session: &str) -> String {
    let done = home.run(&format!("export --store {store} --session {session}"));
    assert_eq!(done.status, 0, "{}", done.stderr);
    done.stdout
}

fn expiry(home: &Home, store: &str) -> Vec<Value> {
    let mut sessions = home.json(&format!("session list --store {store}"))["sessions"].take();
    let sessions = sessions.as_array_mut().unwrap();
    sessions.sort_by_key(|session| session["id"].to_string());
    sessions.iter().map(|session| json!([session["id"], session["expires_at"], session["ttl_seconds"]])).collect()
}

#[test]
fn what_goes_from_store_to_store_comes_back_byte_for_byte() {
    let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let home = furnished();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let proxy = runtime.block_on(Proxy::start(redis.port()));
    let (moved, over_rest) = ([postgres.url("moved"), redis.url("moved")], proxy.url("over-rest"));
    let way = ["sqlite:team.db", &moved[0], &moved[1], &over_rest, "sqlite:back.db"];
    for hop in way.windows(2) {
        let copied = home.json(&format!("store copy {} {}", hop[0], hop[1]));
        assert_eq!((&copied["ok"], &copied["sessions"]), (&json!(true), &json!(4)), "{copied}");
        assert_eq!(copied["copied_entries"], copied["entries"]);
        // Exporting a session is using it, so it puts off the end of one that was not used for long.
        assert_eq!(expiry(&home, hop[0]), expiry(&home, hop[1]));
        let again = home.json(&format!("store copy {} {}", hop[0], hop[1]));
        assert_eq!((&again["copied_entries"], &again["entries"]), (&json!(0), &copied["entries"]));
        for session in ["demo", "lasting", "brief"] {
            assert!(
                export(&home, hop[0], session) == export(&home, hop[1], session),
                "{session} differs in {}",
                hop[1]
            );
        }
        assert_eq!(home.json(&format!("store check {}", hop[1]))["faults"], json!([]));
    }
    assert_eq!(home.json("token list --session demo --store sqlite:back.db")["tokens"].as_array().unwrap().len(), 1);
    // What was asked for once under a key is answered, and not done again.
    let server = Server::start(&home, "--store sqlite:back.db");
    let team = json!({"id": "demo", "agents": [{"name": "lead", "role": "manager"}]});
    let (status, answer) = Http::new(&server).keyed("k1", "/v1/sessions", &team);
    assert_eq!((status, &answer["id"]), (201, &json!("demo")));
}

#[test]
fn a_copy_that_is_killed_goes_on_where_it_was() {
    let home = Home::new().with_session("--id demo");
    let lines: String = (0..6000).map(|n| format!("line {n}\n")).collect();
    assert_eq!(home.feed("say --lines --session demo", lines).status, 0);
    for n in 0..20 {
        home.json(&format!("session new --id small{n}"));
    }
    let to = home.path("to.db");
    let arrived = || {
        let there = rusqlite::Connection::open_with_flags(&to, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
        let count = |db: rusqlite::Connection| db.query_row("SELECT max(seq) FROM session", [], |row| row.get(0));
        there.and_then(count).ok().flatten().unwrap_or(0_u32)
    };
    let is_midway = |seq: &u32| (1..6001).contains(seq);
    let mut killed_at = Vec::new();
    for most in [1, 1500, 3500].into_iter().cycle().take(60) {
        if killed_at.len() >= 3 && killed_at.iter().any(is_midway) {
            break;
        }
        // After one that came to its end before it was killed, all is copied anew.
        if killed_at.last() == Some(&6001) {
            ["", "-wal", "-shm"].iter().for_each(|end| drop(std::fs::remove_file(home.path(&format!("to.db{end}")))));
        }
        let mut copy = home.start("store copy sqlite:team.db sqlite:to.db");
        while arrived() < most && copy.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        copy.kill().unwrap();
        copy.wait().unwrap();
        killed_at.push(arrived());
        assert_eq!(home.json("store check sqlite:to.db")["faults"], json!([]));
    }
    assert!(killed_at.iter().any(is_midway), "it was never killed midway: {killed_at:?}");
    let copied = home.json("store copy sqlite:team.db sqlite:to.db");
    assert_eq!((&copied["sessions"], &copied["entries"]), (&json!(21), &json!(6021)));
    assert_eq!(export(&home, "sqlite:team.db", "demo"), export(&home, "sqlite:to.db", "demo"));
}

#[test]
fn what_is_new_comes_with_the_next_copy_and_what_goes_on_there_is_refused() {
    let home = Home::new().with_session("--id demo");
    home.json("store copy sqlite:team.db sqlite:to.db");
    home.json("say more --session demo");
    home.json("session update --session demo --ttl 90d");
    assert_eq!(home.json("store copy sqlite:team.db sqlite:to.db")["copied_entries"], 2);
    assert_eq!(expiry(&home, "sqlite:team.db"), expiry(&home, "sqlite:to.db"));

    home.json("say there --session demo --store sqlite:to.db");
    let there = export(&home, "sqlite:to.db", "demo");
    let (ok, faults) = refused(&home, "store copy sqlite:team.db sqlite:to.db");
    assert!(!ok && faults[0]["detail"].as_str().unwrap().contains("entries 4 to 4 are there alone"), "{faults}");
    home.json("say here --session demo");
    home.json("session new --id other");
    let (_, faults) = refused(&home, "store copy sqlite:team.db sqlite:to.db");
    assert_eq!(faults[0]["session"], "demo");
    assert!(faults[0]["detail"].as_str().unwrap().contains("from entry 4 on"), "{faults}");
    assert_eq!(export(&home, "sqlite:to.db", "demo"), there, "it stays as it was");
    assert_eq!(home.json("session show --session other --store sqlite:to.db")["id"], "other", "others come along");
}

fn refused(home: &Home, line: &str) -> (bool, Value) {
    let done = home.run(&format!("{line} --json"));
    assert_eq!(done.status, 1, "{}{}", done.stdout, done.stderr);
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    (found["ok"].as_bool().unwrap(), found["faults"].clone())
}

#[test]
fn damage_is_found_and_named_and_does_not_spread() {
    let home = furnished();
    for (damage, said) in [
        ("UPDATE entry SET data = replace(data, 'line 500', 'line 5oo')", "entry 502 does not follow"),
        ("UPDATE entry SET tag = zeroblob(16) WHERE data LIKE '%line 7\"%'", "entry 9 does not follow"),
        ("DELETE FROM entry WHERE data LIKE '%line 300\"%'", "entry 302 is missing"),
        ("DELETE FROM claim", "is not listed as claimed by it"),
        ("DELETE FROM value", "a long text of entry"),
        ("UPDATE value SET text = replace(text, 'play', 'pray')", "is not the one that was written"),
        ("UPDATE session SET expires_at = 9999999999999 WHERE name = 'lasting'", "its journal says that it does not"),
        ("UPDATE session SET expires_at = expires_at + 99999999 WHERE name = 'brief'", "later than its journal"),
        ("UPDATE session SET tag = zeroblob(16) WHERE name = 'brief'", "otherwise than it is listed"),
    ] {
        home.json("store copy sqlite:team.db sqlite:bad.db");
        let db = rusqlite::Connection::open(home.path("bad.db")).unwrap();
        assert!(db.execute(damage, []).unwrap() > 0, "{damage}");
        drop(db);
        for line in ["store check sqlite:bad.db", "doctor --no-model --store sqlite:bad.db"] {
            let done = home.run(line);
            assert!(done.status == 1 && done.stdout.contains(said), "{damage}: {line}: {}", done.stdout);
        }
        let copied = home.run("store copy sqlite:bad.db sqlite:good.db");
        let is_of_row = damage.starts_with("UPDATE session SET expires") || damage.starts_with("DELETE FROM claim");
        assert!(is_of_row || copied.status == 1, "{damage}: {}", copied.stdout);
        if !is_of_row {
            assert_eq!(home.json("store check sqlite:good.db")["faults"], json!([]), "{damage}");
        }
        for name in ["bad.db", "good.db"] {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(home.path(&format!("{name}{end}")));
            }
        }
    }
}

#[test]
fn what_is_no_use_is_refused() {
    let home = Home::new();
    home.json("session new");
    for line in ["store copy sqlite:team.db memory:", "store copy memory: sqlite:x.db", "store check memory:", "store"]
    {
        assert_eq!(home.run(line).status, 2, "{line}");
    }
    assert_eq!(home.run("store copy sqlite:team.db sqlite:team.db").status, 2);
    for line in ["store check sqlite:none.db", "store copy sqlite:none.db sqlite:to.db", "store check postgres:x"] {
        assert_eq!(home.error(line).1["code"], "store_cannot_open", "{line}");
    }
    assert!(!home.path("none.db").exists() && !home.path("to.db").exists());
}

/// As if a session had not been used for ten minutes more.
fn ten_minutes_later(db: &rusqlite::Connection, session: &str) {
    let sql = "UPDATE session SET last_activity = last_activity - 600000, used_at = used_at - 600000,
         expires_at = expires_at - 600000, due = due - 600000 WHERE name = ?";
    assert_eq!(db.execute(sql, [session]).unwrap(), 1);
}

#[test]
fn i9_a_server_removes_what_was_not_used_and_a_new_session_under_its_name_starts_empty() {
    let home = Home::new().with_session("--id brief");
    home.json("say hello --session brief");
    home.json("session update brief --ttl 60");
    home.json("session new --id lasting --ttl never");
    let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
    ten_minutes_later(&db, "brief");
    let server = Server::start(&home, "--sweep-seconds 1");
    let names = || {
        let mut names = db.prepare("SELECT name FROM session ORDER BY name").unwrap();
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<String>, _>>().unwrap()
    };
    until("the sweep", || (!names().contains(&"brief".to_owned())).then_some(()));
    let (records, sessions): (Vec<_>, Vec<_>) = names().into_iter().partition(|name| name.starts_with("expired-"));
    assert_eq!((records.len(), sessions), (1, vec!["lasting".to_owned()]), "and when it expired");
    drop(server);
    home.json("session new --id brief");
    assert_eq!(home.json("messages --session brief")["messages"], json!([]));
}

#[test]
fn a_server_told_to_sweep_nothing_keeps_what_has_expired_and_shows_it_to_nobody() {
    let home = Home::new().with_session("--id brief --ttl 60");
    home.json("session new --id lasting --ttl never");
    let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
    let number = |query: &str| db.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    ten_minutes_later(&db, "brief");
    assert_eq!(number("SELECT count(*) FROM session WHERE expires_at < unixepoch('subsec') * 1000"), 1);
    let mut server = Server::start(&home, "--sweep-seconds off");
    let http = Http::new(&server);
    let (status, problem) = http.get("/v1/sessions/brief");
    assert_eq!((status, &problem["code"]), (410, &json!("expired")));
    assert_eq!(http.get("/v1/sessions/never-was").0, 404);
    let (_, listed) = http.get("/v1/sessions");
    let ids: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, ["lasting"]);
    server.tell_to_end();
    assert!(server.ended().success());
    assert_eq!(number("SELECT count(*) FROM session"), 2);
}

#[test]
fn an_expired_session_is_archived_and_its_id_tells_the_user_when_it_expired() {
    let home = Home::new().with_session("--id brief --ttl 60 --agent critic");
    home.json("say hello --session brief");
    let token = home.json("token new --agent critic --session brief")["token"].as_str().unwrap().to_owned();
    let archived = home.path("archive/brief.jsonl.gz");
    let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
    ten_minutes_later(&db, "brief");
    let server = Server::start(&home, &format!("--sweep-seconds 1 --archive {}", home.path("archive").display()));
    let http = Http::new(&server);
    let is_there = || {
        let sql = "SELECT EXISTS (SELECT 1 FROM session WHERE name = 'brief')";
        db.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap()
    };
    until("the sweep", || (!is_there()).then_some(()));
    assert!(archived.exists(), "it is archived before it goes");
    let (status, problem) = http.get("/v1/sessions/brief");
    assert_eq!((status, &problem["code"]), (410, &json!("expired")));
    assert!(problem["detail"].as_str().unwrap().starts_with("the session brief expired at 2"), "{problem}");
    assert_eq!(http.with(&token).get("/v1/sessions/brief").0, 401, "an agent is told nothing");
    drop(server);
    assert_eq!(home.error("messages --session brief").1["code"], "expired");
    assert_eq!(home.json(&format!("import {} --id again", archived.display()))["id"], "again");
    let memory = home.run("serve --listen 127.0.0.1:0 --store memory: --archive a");
    assert_eq!((memory.status, memory.stdout.as_str()), (2, ""), "what is in memory cannot be read beside the server");
}

#[test]
fn a_server_that_starts_with_a_clock_far_ahead_deletes_nothing() {
    let home = Home::new();
    for n in 0..20 {
        home.json(&format!("session new --id s{n} --ttl 5000"));
    }
    let db = rusqlite::Connection::open(home.path("team.db")).unwrap();
    // To move what is stored back by three days is to move the clock ahead.
    db.execute_batch(
        "UPDATE session SET last_activity = last_activity - 259200000, used_at = used_at - 259200000,
             expires_at = expires_at - 259200000, due = due - 259200000",
    )
    .unwrap();
    let log = home.path("log");
    let mut command = home.on_the_store(words("--sweep-seconds 1"));
    command.env("RUST_LOG", "warn");
    let mut server = Server::logging_to(command, std::fs::File::create(&log).unwrap().into());
    let warns = || std::fs::read_to_string(&log).unwrap().contains("nothing is deleted for ten minutes");
    until("a warning", || warns().then_some(()));
    assert_eq!(Http::new(&server).get("/v1/sessions").1["sessions"], json!([]), "reads go by the clock");
    server.kill();
    let kept: u32 = db.query_row("SELECT count(*) FROM session", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 20);
}
