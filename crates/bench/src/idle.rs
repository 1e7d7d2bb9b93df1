//! How much memory sessions take that are open and do nothing.

use callboard_store::Durability;

use crate::{
    Scale, board,
    report::{Goal, Report},
};

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let sessions = scale.of(10_000);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("callboard.db");
    let made = board::sqlite(&path, Durability::Normal)?;
    for number in 0..sessions {
        board::session(&made, &format!("s{number}")).await?;
    }
    made.close().await;
    drop(made);
    let board = board::sqlite(&path, Durability::Normal)?;
    // What is there once, whoever is open: connections and their pages.
    for number in 0..sessions.min(200) {
        board.store().row(&format!("s{number}").parse()?).await?;
        board.session(&format!("s{number}").parse()?).await?;
    }
    let Some(before) = resident_kilobytes() else {
        report.noted("idle sessions", "this system does not say how much memory a process has");
        return Ok(());
    };
    for number in 200..sessions {
        board.session(&format!("s{number}").parse()?).await?;
    }
    let after = resident_kilobytes().unwrap_or(before);
    let kilobytes = after.saturating_sub(before) as f64 * sessions as f64 / sessions.saturating_sub(200).max(1) as f64;
    let measured = format!("{sessions} sessions: {:.1} MB", kilobytes / 1024.0);
    report.promised("memory of 10,000 idle sessions, in MB", kilobytes / 1024.0, Goal::AtMost(20.0), measured);
    board.close().await;
    Ok(())
}

/// How much memory this process has, on Linux.
fn resident_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
