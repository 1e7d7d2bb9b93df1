//! How long it takes to open a session with a long history.

use std::time::Instant;

use callboard_store::Durability;

use crate::{
    Scale, board,
    report::{Goal, Report},
    rounds::ROUNDS,
    timing::{median, ms},
};

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("callboard.db");
    // Nearly as many behind the newest snapshot as there ever are.
    let messages = scale.of(100_000) + 900;
    let filled = board::sqlite(&path, Durability::Normal)?;
    let session = board::session(&filled, "long").await?;
    board::fill(&session, messages).await?;
    filled.close().await;
    drop((session, filled));
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let board = board::sqlite(&path, Durability::Normal)?;
        let began = Instant::now();
        board.session(&"long".parse()?).await?;
        times.push(began.elapsed());
        board.close().await;
    }
    let millis = ms(median(&times));
    let measured = format!("{messages} messages: {millis:.1} ms");
    report.promised("opening a session with a long history, in ms", millis, Goal::AtMost(20.0), measured);
    Ok(())
}
