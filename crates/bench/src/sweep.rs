//! For how long a sweep of many expired sessions holds up others, on every store.

use std::{
    num::NonZeroU64,
    time::{Duration, Instant},
};

use callboard_core::{
    entry::Actor,
    session::{Settings, Ttl},
};
use callboard_engine::{Board, NewBoardSession, Session};
use callboard_store::{
    Durability,
    testing::{PostgresServer, RedisServer},
};
use tokio::task::JoinSet;

use crate::{
    Scale, board,
    report::{Goal, Report},
    rounds::all_end,
    stores,
    timing::ms,
};

/// How many sessions are made at once.
const AT_ONCE: usize = 64;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    held("SQLite", board, scale, report).await?;
    let postgres = tokio::task::block_in_place(PostgresServer::start);
    held("Postgres", stores::open(&postgres.url("bench"), Durability::Full).await?, scale, report).await?;
    let redis = tokio::task::block_in_place(RedisServer::start);
    held("Redis", stores::open(&redis.url("bench"), Durability::Normal).await?, scale, report).await
}

async fn held(name: &str, board: Board, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let count = scale.of(100_000);
    expired(&board, count).await?;
    let session = board::session(&board, "others").await?;
    // The first message brings the vocabulary into memory.
    session.execute(Actor::User, board::message(0)).await?;
    let ((), alone) = during(&session, tokio::time::sleep(Duration::from_secs(2))).await?;
    let began = Instant::now();
    let sweeping = board.clone();
    let (swept, longest) = during(&session, async move { sweeping.sweep().await }).await?;
    let (swept, took) = (swept?.len(), began.elapsed());
    anyhow::ensure!(swept == count, "{swept} of {count} sessions were swept on {name}");
    board.close().await;
    let measured = format!(
        "{swept} sessions in {:.1} s; the longest append meanwhile {:.1} ms, without a sweep {:.1} ms",
        took.as_secs_f64(),
        ms(longest),
        ms(alone)
    );
    report.promised(format!("held up by a sweep, {name}, in ms"), ms(longest), Goal::AtMost(50.0), measured);
    Ok(())
}

/// Makes so many sessions that have expired when this ends.
async fn expired(board: &Board, count: usize) -> anyhow::Result<()> {
    let mut making = JoinSet::new();
    for number in 0..count {
        if making.len() == AT_ONCE {
            making.join_next().await.transpose()?.transpose()?;
        }
        let board = board.clone();
        making.spawn(async move {
            let settings = Settings { ttl_seconds: Ttl::Seconds(NonZeroU64::MIN), ..Settings::default() };
            let id = Some(format!("expired{number}").parse()?);
            board.create(NewBoardSession { id, settings: Some(settings), ..Default::default() }).await?;
            anyhow::Ok(())
        });
    }
    all_end(making).await?;
    // The last of them lives for another second.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    Ok(())
}

/// What `work` gives, and the longest that an append takes meanwhile.
async fn during<T: Send + 'static>(
    session: &Session,
    work: impl Future<Output = T> + Send + 'static,
) -> anyhow::Result<(T, Duration)> {
    let work = tokio::spawn(work);
    let mut longest = Duration::ZERO;
    let mut number = 0;
    while !work.is_finished() {
        let began = Instant::now();
        session.execute(Actor::User, board::message(number)).await?;
        longest = longest.max(began.elapsed());
        number += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok((work.await?, longest))
}
