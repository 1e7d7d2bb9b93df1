//! Several servers, each a process, on one Postgres or one Redis: they behave as one, also where one is killed or the store
//! starts again.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use callboard_model::scripted::{Reply, Scripted};
use callboard_store::testing::{PostgresServer, RedisServer};
use serde_json::{Value, json};

use crate::{
    home::Home,
    play::{ask, complete},
    server::{Events, Http, PATIENCE, Server, moment, words},
};

/// A store with a server of its own.
enum Database {
    Postgres(PostgresServer),
    Redis(RedisServer),
}

impl Database {
    fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url("board"),
            Self::Redis(server) => server.url("board"),
        }
    }

    /// Ends it as a crash does, and starts it again.
    fn restart(&mut self) {
        match self {
            Self::Postgres(server) => server.restart(),
            Self::Redis(server) => server.restart(),
        }
    }
}

fn postgres() -> Database {
    Database::Postgres(PostgresServer::start())
}

fn redis() -> Database {
    Database::Redis(RedisServer::durable())
}

/// A server on this store with a folder of its own.
fn server(home: &Home, database: &Database, name: &str) -> Server {
    Server::of(home.on_the_store(words(&format!("--store {} --data {name}", database.url()))))
}

/// How many parts a poem has, and so how many turns a team takes: two for each, and one to end.
const PARTS: usize = 3;
const TURNS: usize = 2 * PARTS + 1;

/// Teams that write `poem-N`. The model is silent when it is asked for the turn N of `poem-N` for the first time, and takes
/// its time for each turn where there is no such turn.
fn poets() -> Scripted {
    poets_until(Arc::new(AtomicBool::new(true)))
}

/// The poem of a run that is in full swing when its server is killed.
const BUSY: usize = TURNS + 1;

/// The same; the model is silent when it is asked for the last turn of the busy poem until that may end.
fn poets_until(busy_may_end: Arc<AtomicBool>) -> Scripted {
    let mut silent = BTreeSet::new();
    Scripted::start(move |request, _| {
        let said = request["messages"].to_string();
        let (poem, turn) = (poem_of(&said), turn_of(request, &said));
        let part = turn.div_ceil(2);
        if poem == turn && silent.insert(poem) {
            return Reply::silence();
        }
        if (poem, turn) == (BUSY, TURNS) && !busy_may_end.load(Ordering::SeqCst) {
            return Reply::silence();
        }
        let reply = match turn {
            TURNS => Reply::json(&complete()),
            _ if turn % 2 == 1 => Reply::json(&ask("writer", &format!("Write poem-{poem}, part {part}."))),
            _ => Reply::text(format!("poem-{poem}: part {part} is done")),
        };
        // clock: the time that a model takes, so that what happens meanwhile comes between turns and within them
        reply.after(Duration::from_millis(if poem > TURNS { 150 } else { 0 }))
    })
}

fn poem_of(said: &str) -> usize {
    (0..20).rev().find(|n| said.contains(&format!("poem-{n}"))).unwrap()
}

/// Which turn is asked for: it is seen by what was said.
fn turn_of(request: &Value, said: &str) -> usize {
    let newest = |mark: &str| (1..=PARTS).rev().find(|n| said.contains(&format!("part {n}{mark}"))).unwrap_or(0);
    let is_writer = request.get("response_format").is_none();
    if is_writer { 2 * newest(".") } else { 2 * newest(" is done") + 1 }
}

/// Which turns of a poem the model was asked for, in order.
fn asked(endpoint: &Scripted, poem: usize) -> Vec<usize> {
    let requests = endpoint.requests();
    let said = requests.iter().map(|request| (request, request["messages"].to_string()));
    said.filter(|(_, said)| poem_of(said) == poem).map(|(request, said)| turn_of(request, &said)).collect()
}

fn begin(http: &Http, poem: usize) {
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]);
    http.done("POST", "/v1/sessions", &json!({"id": format!("poem-{poem}"), "agents": agents}));
    start(http, poem);
}

fn start(http: &Http, poem: usize) {
    let input = json!({"kind": "team", "input": format!("Write poem-{poem}.")});
    http.done("POST", &format!("/v1/sessions/poem-{poem}/runs"), &input);
}

/// A stream, and what has come of it: each entry once, in order.
struct Seen<'a> {
    stream: Events<'a>,
    entries: Vec<Value>,
}

impl<'a> Seen<'a> {
    fn by(http: &'a Http, session: &str) -> Self {
        Self { stream: http.follow(session, 0), entries: Vec::new() }
    }

    /// Reads on to an entry of this type.
    fn until(&mut self, kind: &str) -> &Value {
        loop {
            let entry = self.stream.next().expect("the stream goes on");
            assert_eq!(entry["seq"], self.entries.len() + 1, "an entry is missing, or comes twice");
            self.entries.push(entry);
            if self.entries.last().unwrap()["type"] == kind {
                return self.entries.last().unwrap();
            }
        }
    }

    fn said(&self, kind: &str, field: &str) -> Vec<Value> {
        let of = self.entries.iter().filter(|entry| entry["type"] == kind);
        of.map(|entry| entry["data"][field].clone()).collect()
    }

    /// Whether each turn was noted and answered once.
    fn assert_no_turn_twice(&self) {
        let all: Vec<_> = (1..=TURNS).map(|turn| json!(turn)).collect();
        assert_eq!(self.said("turn.requested", "turn"), all);
        assert_eq!(self.said("turn.answered", "turn"), all);
        assert_eq!(self.said("run.ended", "status"), ["completed"]);
    }
}

/// Of the poems, each stands still at another turn when its server is killed; one is in full swing, and one is another
/// server's.
fn runs_are_taken_over(database: &Database) {
    let busy_may_end = Arc::new(AtomicBool::new(false));
    let endpoint = poets_until(busy_may_end.clone());
    let home = Home::with(&endpoint);
    let (mut a, b) = (server(&home, database, "a"), server(&home, database, "b"));
    let (on_a, on_b) = (Http::new(&a), Http::new(&b));
    let (busy, of_b) = (BUSY, BUSY + 1);
    let (poems, before): (Vec<usize>, usize) = ((1..=TURNS).chain([busy]).collect(), (1..=TURNS).sum());
    (1..=TURNS).for_each(|poem| begin(&on_a, poem));
    assert!(endpoint.wait_for(before, PATIENCE));
    begin(&on_a, busy);
    begin(&on_b, of_b);
    let mut streams: Vec<_> = poems.iter().map(|poem| Seen::by(&on_b, &format!("poem-{poem}"))).collect();
    let first: Vec<_> = streams.iter_mut().map(|stream| stream.until("run.claimed")["data"]["node"].clone()).collect();
    streams.last_mut().unwrap().until("turn.answered");
    a.kill();
    busy_may_end.store(true, Ordering::SeqCst);
    for (stream, first) in streams.iter_mut().zip(&first) {
        assert_ne!(stream.until("run.claimed")["data"]["node"], *first, "another server");
    }
    for (stream, poem) in streams.iter_mut().zip(&poems) {
        stream.until("run.ended");
        stream.assert_no_turn_twice();
        assert_eq!(stream.said("run.claimed", "epoch"), [1, 2]);
        let mut asked = asked(&endpoint, *poem);
        let all: Vec<_> = (1..=TURNS).collect();
        if *poem == busy {
            // Whether one was under way is chance.
            asked.dedup();
            assert_eq!(asked, all);
        } else {
            let again = asked.iter().filter(|turn| *turn == poem).count();
            asked.dedup();
            assert_eq!((again, asked), (2, all), "poem-{poem}: the turn that was cut off is asked again, and no other");
        }
    }
    let mut other = Seen::by(&on_b, &format!("poem-{of_b}"));
    other.until("run.ended");
    other.assert_no_turn_twice();
    assert_eq!(other.said("run.claimed", "epoch"), [1], "nobody disturbs a server that lives");

    // Who comes back knows what happened meanwhile.
    let a = server(&home, database, "a");
    let on_a = Http::new(&a);
    for (poem, stream) in poems.iter().zip(&streams) {
        let mut again = Seen::by(&on_a, &format!("poem-{poem}"));
        again.until("run.ended");
        assert_eq!(again.entries, stream.entries);
    }
}

#[test]
fn i12_on_postgres_the_runs_of_a_killed_server_are_taken_over_and_no_turn_is_done_twice() {
    runs_are_taken_over(&postgres());
}

#[test]
fn i12_on_redis_the_runs_of_a_killed_server_are_taken_over_and_no_turn_is_done_twice() {
    runs_are_taken_over(&redis());
}

fn who_comes_back_goes_on_at_once(database: &Database) {
    let endpoint = poets();
    let home = Home::with(&endpoint);
    let (mut a, b) = (server(&home, database, "a"), server(&home, database, "b"));
    let on_b = Http::new(&b);
    begin(&Http::new(&a), 2);
    assert!(endpoint.wait_for(2, PATIENCE));
    let mut stream = Seen::by(&on_b, "poem-2");
    let first = stream.until("run.claimed")["data"]["node"].clone();
    a.kill();
    let _a = server(&home, database, "a");
    assert_eq!(stream.until("run.claimed")["data"]["node"], first, "it has its name again, and its run");
    stream.until("run.ended");
    stream.assert_no_turn_twice();
    assert_eq!(asked(&endpoint, 2), [1, 2, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn on_postgres_a_server_that_comes_back_goes_on_with_its_runs() {
    who_comes_back_goes_on_at_once(&postgres());
}

#[test]
fn on_redis_a_server_that_comes_back_goes_on_with_its_runs() {
    who_comes_back_goes_on_at_once(&redis());
}

/// Says something, again and again where the store has a bad moment, under one key: which entry it is.
fn say_surely(http: &Http, text: &str) -> u64 {
    let messages = json!({"messages": [{"role": "user", "content": text}]});
    let began = Instant::now();
    loop {
        let (status, answer) = http.keyed(text, "/v1/sessions/demo/threads/main/messages", &messages);
        match status {
            200 | 201 => return answer["head"].as_u64().unwrap(),
            503 if began.elapsed() < PATIENCE => moment(),
            _ => panic!("{status} {answer}"),
        }
    }
}

/// Writes on both servers at once, reads each time on the other one; `meanwhile` something happens.
fn nothing_is_lost(database: &mut Database, meanwhile: fn(&mut Database)) {
    const EACH: usize = 60;
    let endpoint = poets();
    let home = Home::with(&endpoint);
    let servers = ["a", "b"].map(|name| server(&home, database, name));
    let [a, b] = servers.each_ref().map(Http::new);
    a.done("POST", "/v1/sessions", &json!({"id": "demo"}));
    begin(&b, BUSY);
    let mut streams = [Seen::by(&a, "demo"), Seen::by(&b, "demo")];
    let mut poem = Seen::by(&a, &format!("poem-{BUSY}"));
    poem.until("turn.answered");
    std::thread::scope(|scope| {
        for (name, (here, there)) in ["a", "b"].iter().zip([(&servers[0], &servers[1]), (&servers[1], &servers[0])]) {
            scope.spawn(move || {
                let (here, there) = (Http::new(here), Http::new(there));
                for n in 0..EACH {
                    let head = say_surely(&here, &format!("{name} {n}"));
                    let (status, session) = there.get("/v1/sessions/demo");
                    assert!(status == 503 || session["head"].as_u64().unwrap() >= head, "{session} is behind {head}");
                }
            });
        }
        meanwhile(database);
    });
    for stream in &mut streams {
        for _ in 0..2 * EACH {
            stream.until("message.added");
        }
        let said = stream.said("message.added", "content");
        for name in ["a", "b"] {
            let of = |text: &&Value| text.as_str().unwrap().starts_with(name);
            let all: Vec<_> = (0..EACH).map(|n| json!(format!("{name} {n}"))).collect();
            assert_eq!(said.iter().filter(of).cloned().collect::<Vec<_>>(), all, "each once, in order");
        }
    }
    assert_eq!(streams[0].entries, streams[1].entries);
    poem.until("run.ended");
    poem.assert_no_turn_twice();
}

#[test]
fn i8_two_servers_on_one_postgres_lose_nothing_and_read_what_the_other_wrote() {
    nothing_is_lost(&mut postgres(), |_| {});
}

#[test]
fn i8_two_servers_on_one_redis_lose_nothing_and_read_what_the_other_wrote() {
    nothing_is_lost(&mut redis(), |_| {});
}

#[test]
fn i7_a_postgres_that_was_killed_is_found_again_by_servers_streams_and_runs() {
    nothing_is_lost(&mut postgres(), Database::restart);
}

#[test]
fn i7_a_redis_that_was_killed_is_found_again_by_servers_streams_and_runs() {
    nothing_is_lost(&mut redis(), Database::restart);
}
