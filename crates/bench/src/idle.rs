//! The memory of open sessions that are idle.

use std::process::Command;

use anyhow::ensure;
use callboard_core::id::Seq;
use callboard_store::{Durability, Order, Query};

use crate::{
    Scale, board,
    report::{Goal, Report},
};

/// Measures in a separate process, since this one still holds memory that other benchmarks have freed.
pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let sessions = scale.of(10_000);
    let alone = Command::new(std::env::current_exe()?).args(["--idle-sessions", &sessions.to_string()]).output()?;
    ensure!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    let Ok(kilobytes) = String::from_utf8(alone.stdout)?.trim().parse::<f64>() else {
        report.noted("memory of idle sessions", "this system does not say how much memory a process has");
        return Ok(());
    };
    let measured = format!("{sessions} sessions: {:.2} kB each", kilobytes / sessions as f64);
    report.promised("memory of 10,000 idle sessions, in MB", kilobytes / 1024.0, Goal::AtMost(20.0), measured);
    Ok(())
}

/// By how many kilobytes this process grows when it opens so many sessions; `None` where the system does not say.
pub(crate) async fn growth(sessions: usize) -> anyhow::Result<Option<u64>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("callboard.db");
    let ids = (0..sessions).map(|number| format!("s{number}")).collect::<Vec<_>>();
    // Some at a time, so that nothing is freed that the others could live in.
    for some in ids.chunks(50) {
        let board = board::sqlite(&path, Durability::Normal)?;
        for id in some {
            board::session(&board, id).await?;
        }
        board.close().await;
    }
    let board = board::sqlite(&path, Durability::Normal)?;
    // What is there once, however many are open: connections and their pages.
    for id in &ids {
        let query = Query::all(Seq(1)..Seq(u64::MAX), Order::Forward, 512);
        board.store().read(&id.parse()?, query).await?;
        board.store().touch(&id.parse()?, None).await?;
    }
    let before = resident_kilobytes();
    for id in &ids {
        board.session(&id.parse()?).await?;
    }
    let grown = before.and_then(|before| Some(resident_kilobytes()?.saturating_sub(before)));
    board.close().await;
    Ok(grown)
}

/// How much memory this process has, on Linux.
fn resident_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
