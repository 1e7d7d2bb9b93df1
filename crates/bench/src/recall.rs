//! Recall: how fast texts are indexed and found, how large the index is, and how long it takes to open.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use callboard_core::{audience::Audience, entry::Head, id::Seq, time::Timestamp};
use callboard_engine::{Board, RecallSettings, Settings};
use callboard_recall::{Class, Index, IndexQuery, Indexes, Item, Kind, Role, Scope, lock, search};
use callboard_store::{Durability, SqliteStore};

use crate::{
    Scale, append, board,
    report::{Goal, Report},
    rounds::{in_rounds, ratio, typical},
    timing::{median, millis, ms, percentile},
};

/// The journal that is measured.
const JOURNAL: &str = "measured";

/// The setting for how much memory all indexes take, in bytes: a binary's default.
const MEMORY_BYTES: u64 = 64 << 20;

/// Words from which texts are made: the first ones are frequent, as in any language.
const WORDS: usize = 20_000;

/// How many words a message has.
const LENGTH: usize = 26;

/// How many bytes one long text has: the most that a text can have.
const LONG: usize = 16 << 20;

/// How many sessions take messages while another one is indexed.
const SESSIONS: usize = 16;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    tokio::task::block_in_place(|| {
        long_text(scale, report);
        indexes(scale, report)
    })?;
    appends(scale, report).await
}

/// How fast messages are added to 16 sessions while a long one is indexed, compared with a board that indexes nothing.
async fn appends(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let open = async |name: &str, quiet| {
        let store = callboard_store::Settings { durability: Durability::Normal, ..Default::default() };
        let store = Arc::new(SqliteStore::open(folder.path().join(format!("{name}.db")), store)?);
        let file = Some(folder.path().join(format!("{name}-recall.db")));
        let recall = RecallSettings { file, quiet, ..Default::default() };
        let board = Board::new(store, Settings { sweep: None, recall, ..Default::default() });
        let sessions = board::sessions(&board, SESSIONS).await?;
        board::fill(&board::session(&board, "long").await?, scale.of(300_000)).await?;
        anyhow::Ok((board, sessions))
    };
    let (one, to_indexed) = open("indexed", Some(Duration::from_millis(1))).await?;
    let (other, to_plain) = open("plain", None).await?;
    let count = scale.of(6_000);
    let [indexed, plain] = in_rounds(async || {
        anyhow::Ok([append::many(&to_indexed, count).await?, append::many(&to_plain, count).await?])
    })
    .await?;
    one.close().await;
    other.close().await;
    let measured = format!("{} beside {}", typical(&indexed), typical(&plain));
    let what = "append, 16 sessions at once while a long one is indexed ÷ while nothing is";
    report.promised(what, ratio(&indexed, &plain), Goal::AtLeast(0.95), measured);
    Ok(())
}

fn indexes(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    for (turns, goals) in [(6_000, Some((0.2, 1.0))), (100_000, Some((2.0, 10.0))), (1_000_000, None)] {
        let turns = scale.of(turns);
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("recall.db");
        let bytes = {
            let indexes = Indexes::open(Some(&path), MEMORY_BYTES)?;
            index(&indexes, turns, report)?
        };
        // SQLite has copied its log into the file when the last connection is closed.
        let size = std::fs::metadata(&path)?.len();
        let ratio = size as f64 / bytes as f64;
        let measured = format!("{turns} messages: {} kB for {} kB", size / 1000, bytes / 1000);
        report.promised("index of recall ÷ text", ratio, Goal::AtMost(2.0), measured);
        let start = Instant::now();
        let indexes = Indexes::open(Some(&path), MEMORY_BYTES)?;
        let opened = start.elapsed();
        report.promised(
            format!("opening the indexes of recall, {turns} passages, in ms"),
            ms(opened),
            Goal::AtMost(50.0),
            format!("{} ms", millis(opened)),
        );
        let start = Instant::now();
        indexes.of(JOURNAL)?;
        let what = format!("reading the index of recall of {turns} messages into memory");
        report.noted(what, format!("{} ms", millis(start.elapsed())));
        ask(&indexes, turns, goals, report)?;
    }
    Ok(())
}

/// Indexes messages, and says how many bytes of text they have.
fn index(indexes: &Indexes, turns: usize, report: &mut Report) -> anyhow::Result<usize> {
    let texts: Vec<String> = (0..turns).map(text).collect();
    let shared = indexes.of(JOURNAL)?;
    let start = Instant::now();
    for (number, text) in (1..).zip(&texts) {
        lock(&shared).add(&item(number, text));
    }
    lock(&shared).cursor = Head { seq: Seq(turns as u64), ..Head::default() };
    indexes.save(JOURNAL)?;
    let rate = turns as f64 / start.elapsed().as_secs_f64();
    report.promised(
        format!("indexing {turns} messages, messages a second on one core"),
        rate,
        Goal::AtLeast(20_000.0),
        format!("{rate:.0}/s, messages of {LENGTH} words, written to the file"),
    );
    Ok(texts.iter().map(String::len).sum())
}

fn item(number: u64, text: &str) -> Item<'_> {
    Item {
        seq: Seq(number),
        kind: Kind::Message,
        class: Class { source: "message".into(), subject: "thread:main".into(), audience: Audience::All },
        speaker: None,
        role: Role::User,
        time: Timestamp::nearest(number.cast_signed() * 30_000),
        text,
        has_headings: false,
    }
}

/// How long one long text takes, and whether one of four times the length takes four times as long.
fn long_text(scale: Scale, report: &mut Report) {
    let bytes = scale.of(LONG);
    let mut long = String::with_capacity(bytes);
    for number in 0.. {
        long.push_str(&text(number));
        if long.len() >= bytes {
            break;
        }
        long.push('\n');
    }
    long.truncate(bytes);
    let time = |text: &str| {
        let start = Instant::now();
        Index::default().add(&item(1, text));
        start.elapsed()
    };
    let quarter = median(&(0..3).map(|_| time(long.get(..bytes / 4).unwrap_or_default())).collect::<Vec<_>>());
    let whole = median(&(0..3).map(|_| time(&long)).collect::<Vec<_>>());
    let measured = format!("{} ms for {} kB, {} ms for a quarter", millis(whole), bytes / 1000, millis(quarter));
    let what = "indexing one text of 16 MB ÷ four times that of a quarter of it";
    report.promised(what, ms(whole) / (4.0 * ms(quarter)), Goal::AtMost(1.5), measured);
}

fn ask(indexes: &Indexes, turns: usize, goals: Option<(f64, f64)>, report: &mut Report) -> anyhow::Result<()> {
    let shared = indexes.of(JOURNAL)?;
    let index = lock(&shared);
    let mut times = Vec::new();
    for number in 0..400 {
        // Frequent words and rare ones, as people ask.
        let question =
            format!("{} {}", question(number), text(number * 31).split(' ').take(5).collect::<Vec<_>>().join(" "));
        let start = Instant::now();
        let found = hits(&index, &question);
        times.push(start.elapsed());
        anyhow::ensure!(found > 0, "nothing is found for {question:?}");
    }
    // The first questions also read what they need from the file.
    let times = times.split_off(100);
    let (half, most) = (median(&times), percentile(&times, 99));
    let what = |part: &str| format!("recall over {turns} messages, {part}, in ms");
    let measured = |time| format!("{} ms, 300 questions of about 8 terms", millis(time));
    match goals {
        Some((goal_half, goal_most)) => {
            report.promised(what("half within"), ms(half), Goal::AtMost(goal_half), measured(half));
            report.promised(what("99 % within"), ms(most), Goal::AtMost(goal_most), measured(most));
        }
        None => report.noted(what("half within"), measured(half)),
    }
    Ok(())
}

fn hits(index: &Index, question: &str) -> usize {
    let scope = Scope { index, from: &|_| Some(Seq::ZERO), at: None };
    let query =
        IndexQuery { text: question, vector: None, limit: 10, prefer: None, wants: &|_| true, skips: &|_, _| false };
    search(&[scope], &query).len()
}

fn question(number: usize) -> String {
    format!("what did we say about {} and", word(number.wrapping_mul(number)))
}

/// A text whose words are as frequent as in a language: the nth most frequent word comes up with 1/n.
fn text(number: usize) -> String {
    let mut state = number as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let words = (0..LENGTH).map(|_| word((WORDS as f64).powf(next()) as usize));
    words.collect::<Vec<_>>().join(" ")
}

/// The word of this rank.
fn word(rank: usize) -> String {
    let syllables = ["ka", "lo", "mi", "ren", "tu", "sol", "ba", "vex", "nor", "pi"];
    let digits = (rank % WORDS).to_string();
    digits.bytes().filter_map(|digit| syllables.get(usize::from(digit - b'0'))).copied().collect()
}
