//! How large the file of a store is, compared with what was asked for.

use callboard_store::Durability;

use crate::{
    Scale, board,
    report::{Goal, Report},
};

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("callboard.db");
    let messages = scale.of(100_000);
    let board = board::sqlite(&path, Durability::Normal)?;
    let session = board::session(&board, "size").await?;
    let mut requests = 0;
    for number in 0..messages {
        let request = serde_json::json!({"messages": [{"role": "user", "content": board::text(number)}]});
        requests += request.to_string().len();
    }
    board::fill(&session, messages).await?;
    board.close().await;
    rusqlite::Connection::open(&path)?.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let file = std::fs::metadata(&path)?.len();
    let ratio = file as f64 / requests as f64;
    let measured = format!("{messages} messages: {} kB in the file, {} kB of requests", file / 1024, requests / 1024);
    report.promised("SQLite file ÷ bytes of requests", ratio, Goal::AtMost(1.6), measured);
    Ok(())
}
