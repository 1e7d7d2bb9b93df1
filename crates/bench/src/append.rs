//! How fast one session takes messages, and many at once, compared with a bare loop over SQLite.

use callboard_core::entry::Actor;
use callboard_engine::Session;
use callboard_store::Durability;

use crate::{
    Scale,
    bare::Bare,
    board,
    report::{Goal, Report},
    rounds::{Rate, at_once, in_rounds, ratio, typical},
};

/// How many sessions take messages at once.
const SESSIONS: usize = 16;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    at(Durability::Normal, scale.of(6000), report, [0.5, 1.0]).await?;
    at(Durability::Full, scale.of(1500), report, [0.5, 2.0]).await
}

/// Measures at one durability, `count` messages at a time, and holds the ratios against `goals`.
async fn at(durability: Durability, count: usize, report: &mut Report, goals: [f64; 2]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut bare = Bare::open(&folder.path().join("bare.db"), durability)?;
    let board = board::sqlite(&folder.path().join("callboard.db"), durability)?;
    let sessions = board::sessions(&board, SESSIONS).await?;
    let first = sessions.get(..1).unwrap_or_default();
    let [loops, alone, together] = in_rounds(async || {
        let bare = tokio::task::block_in_place(|| bare.insert(count))?;
        anyhow::Ok([bare, many(first, count).await?, many(&sessions, count).await?])
    })
    .await?;
    board.close().await;
    let name = durability.name();
    for (what, rates, goal) in [("one session", alone, goals[0]), ("16 sessions at once", together, goals[1])] {
        let measured = format!("{} beside {}", typical(&rates), typical(&loops));
        let what = format!("append, {what} ÷ bare SQLite, `{name}`");
        report.promised(what, ratio(&rates, &loops), Goal::AtLeast(goal), measured);
    }
    Ok(())
}

/// One caller for each session, who waits for each answer; `count` is how many messages they add together.
pub(crate) async fn many(sessions: &[Session], count: usize) -> anyhow::Result<Rate> {
    let each = count.div_ceil(sessions.len());
    let callers = sessions.iter().map(|session| {
        let (session, messages) = (session.clone(), (0..each).map(board::message).collect::<Vec<_>>());
        async move {
            for message in messages {
                session.execute(Actor::User, message).await?;
            }
            anyhow::Ok(())
        }
    });
    at_once(each * sessions.len(), callers).await
}
