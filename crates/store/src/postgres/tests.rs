//! What calls cost: the pages that the server looks at.

use callboard_core::entry::Draft;
use tokio_postgres::SimpleQueryMessage;

use super::*;
use crate::{
    Order, SystemClock,
    conformance::journal_writer::{JournalWriter, about},
    testing::PostgresServer,
};

/// A journal with many subjects, keys and types that becomes long, and a way to measure.
struct Long {
    database: Database,
    journal: JournalWriter,
}

impl Long {
    async fn begin(namespace: &str) -> Self {
        let server = tokio::task::spawn_blocking(PostgresServer::shared).await.unwrap();
        let url = server.url(namespace);
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url, Settings::default()).await.unwrap());
        // What is prepared is there for the next statement.
        let address = Address::parse(&format!("{url}&connections=1")).unwrap();
        let database = Database::new(address, Arc::new(SystemClock)).unwrap();
        Self { database, journal: JournalWriter::new(&store, "s") }
    }

    async fn grow(&mut self, by: u64) {
        let from = self.journal.head.seq.0;
        let draft = |n: u64| Draft {
            kind: format!("t{}.done", n % 20).into(),
            time: Timestamp::from_millis(i64::try_from(n).unwrap()).ok(),
            keys: vec![format!("key {n}").into()],
            ..about(&format!("subject {}", n % 100), "something that is said")
        };
        self.journal.write((from..from + by).map(draft)).await;
    }

    /// How many pages a statement looks at.
    async fn pages(&self, statement: &str) -> u64 {
        let connection = self.database.connection().await.unwrap();
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {statement}");
        // The first time, the server also looks up what its tables are.
        connection.simple_query(&explain).await.unwrap();
        let plan = connection.simple_query(&explain).await.unwrap();
        let lines: Vec<&str> = plan
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            })
            .collect();
        let buffers = lines.iter().find_map(|line| line.trim().strip_prefix("Buffers: shared "));
        let counts = buffers.unwrap_or_else(|| panic!("no pages in {lines:#?}")).split([' ', ',']);
        let read = counts.filter_map(|count| count.strip_prefix("hit=").or(count.strip_prefix("read=")));
        let pages = read.map(|count| count.parse::<u64>().unwrap()).sum();
        assert!(pages < 2000, "{pages} pages: {lines:#?}");
        pages
    }

    /// The same of a statement with parameters.
    async fn pages_of(&self, sql: &str, types: &str, params: &str) -> u64 {
        let connection = self.database.connection().await.unwrap();
        connection.batch_execute(&format!("PREPARE measured ({types}) AS {sql}")).await.unwrap();
        drop(connection);
        let pages = self.pages(&format!("EXECUTE measured ({params})")).await;
        let connection = self.database.connection().await.unwrap();
        connection.batch_execute("DEALLOCATE measured").await.unwrap();
        pages
    }

    /// What each kind of page costs, of ten entries in the middle.
    async fn all_reads(&self) -> Vec<(String, u64)> {
        let hash = |text: &str| format!("'\\x{}'", short(text));
        let middle = self.journal.head.seq.0 / 2;
        let mut costs = Vec::new();
        for order in [Order::Forward, Order::Backward] {
            let range = format!("'s', NULL, {}, {}, 10", middle - 200, middle + 200);
            let (types, subjects) = (["t3.done", "t4.done"], ["subject 3", "subject 4"]);
            for (types, subjects) in [(&[][..], &[][..]), (&types, &[]), (&[], &subjects), (&types, &subjects)] {
                let list = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect::<Vec<Arc<str>>>();
                let all = Query::all(Seq(1)..Seq(2), order, 10);
                let query = Query { types: list(types), subjects: list(subjects), ..all };
                let (mut kinds, mut params) = ("text, bigint, bigint, bigint, bigint".to_owned(), range.clone());
                for texts in [types, subjects].into_iter().filter(|texts| !texts.is_empty()) {
                    kinds += ", bytea[]";
                    params += &format!(", ARRAY[{}, {}]::bytea[]", hash(texts[0]), hash(texts[1]));
                }
                let cost = self.pages_of(&read::sql(&query), &kinds, &params).await;
                costs.push((format!("{types:?} {subjects:?} {order:?}"), cost));
            }
            let types = "text, bigint, bytea, bytea, bigint, bigint, bigint, bigint, bigint";
            let about = format!("'s', NULL, {}, {}", hash("subject 3"), hash("t3.done"));
            let params = format!("{about}, {middle}, 0, 9223372036854775807, 0, 10");
            costs.push((format!("by time {order:?}"), self.pages_of(&read::sql_by_time(order), types, &params).await));
        }
        costs
    }

    /// What it costs to append an entry with a key and a subject that are new.
    async fn append(&mut self) -> u64 {
        let (key, subject) = ("sha256(n.tag)", "ARRAY[sha256(n.tag)], ARRAY[n.tag]");
        self.pages(&format!(
            "SELECT append(true, NULL, ARRAY[n.name], ARRAY[n.seq], ARRAY[n.tag], ARRAY[n.seq + 1],
                 ARRAY[substr(sha256(n.tag), 1, 16)], ARRAY[NULL::bigint], ARRAY[NULL::text], ARRAY[NULL::bigint],
                 ARRAY[false], ARRAY[1], ARRAY[n.seq + 1], ARRAY[{key}], ARRAY['\\x{}'::bytea], ARRAY['t3.done'::bytea],
                 ARRAY[1], {subject}, ARRAY[1], ARRAY[n.seq + 1], ARRAY[1::bigint], ARRAY[1::bigint], ARRAY[1], ARRAY[1],
                 ARRAY[1], ARRAY[substr(sha256(n.tag), 1, 16)], ARRAY['user'], ARRAY[NULL::text], ARRAY[NULL::text],
                 ARRAY[NULL::bigint], ARRAY['data'::bytea], ARRAY[]::integer[], ARRAY[]::bytea[], ARRAY[]::bytea[],
                 ARRAY[false], ARRAY[]::integer[], ARRAY[]::bigint[], ARRAY[]::bytea[], ARRAY[]::integer[],
                 ARRAY[]::bytea[])
             FROM session n WHERE n.name = 's'",
            short("t3.done")
        ))
        .await
    }
}

/// What a text is found by, as SQL writes it.
fn short(text: &str) -> String {
    column::short_hash(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn i11_what_a_page_costs_does_not_grow_with_the_journal() {
    let mut journal = Long::begin("cost_of_pages").await;
    journal.grow(2000).await;
    let short = journal.all_reads().await;
    for _ in 0..4 {
        journal.grow(5000).await;
    }
    for ((name, short), (_, long)) in short.into_iter().zip(journal.all_reads().await) {
        // Trees of ten times as many rows are a level higher.
        assert!(long <= short * 2 + 20, "{name}: {short} pages of a short journal, {long} of a long one");
    }
}

#[tokio::test]
async fn i11_what_an_append_costs_does_not_grow_with_the_journal() {
    let mut journal = Long::begin("cost_of_appends").await;
    journal.grow(2000).await;
    let short = journal.append().await;
    let row = journal.journal.store.row(&journal.journal.session).await.unwrap().unwrap();
    journal.journal.head = row.head;
    for _ in 0..4 {
        journal.grow(5000).await;
    }
    let long = journal.append().await;
    assert!(long <= short * 2 + 20, "{short} pages of a short journal, {long} of a long one");
}
