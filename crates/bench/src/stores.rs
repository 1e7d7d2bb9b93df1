//! How fast 16 sessions take messages at once on each shared store, compared with a bare loop on the same server.

mod bare;

use callboard_engine::Board;
use callboard_store::{
    Durability, Settings,
    testing::{PostgresServer, RedisServer},
};

use crate::{
    Scale,
    append::many,
    board,
    report::{Goal, Report},
    rounds::{Rate, in_rounds, ratio, typical},
};

/// How many sessions take messages at once, and over how many connections the bare loop runs.
const SESSIONS: usize = 16;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let count = scale.of(8000);
    let postgres = tokio::task::block_in_place(PostgresServer::start);
    let bare = bare::Postgres::connect(&postgres.url("bare"), SESSIONS).await?;
    let url = format!("{}&connections={SESSIONS}", postgres.url("bench"));
    compare("Postgres", &url, async || bare.insert(count).await, count, report).await?;
    let redis = tokio::task::block_in_place(RedisServer::durable);
    let bare = bare::Redis::connect(redis.port(), SESSIONS).await?;
    compare("Redis", &redis.url("bench"), async || bare.push(count).await, count, report).await
}

/// Opens the board of the store at `url`.
pub(crate) async fn open(url: &str, durability: Durability) -> anyhow::Result<Board> {
    let settings = Settings { durability, ..Settings::default() };
    let store = callboard_store::open(url, settings).await?;
    Ok(Board::new(store, callboard_engine::Settings { sweep: None, ..Default::default() }))
}

async fn compare(
    name: &str,
    url: &str,
    bare: impl AsyncFn() -> anyhow::Result<Rate>,
    count: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let board = open(url, Durability::Full).await?;
    let sessions = board::sessions(&board, SESSIONS).await?;
    let [loops, together] = in_rounds(async || anyhow::Ok([bare().await?, many(&sessions, count).await?])).await?;
    board.close().await;
    let measured = format!("{} beside {} over 16 connections", typical(&together), typical(&loops));
    let what = format!("append, 16 sessions at once ÷ bare {name}, `full`");
    report.promised(what, ratio(&together, &loops), Goal::AtLeast(0.5), measured);
    Ok(())
}
