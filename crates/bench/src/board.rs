//! Boards, sessions and messages for benchmarks.

use std::{path::Path, sync::Arc};

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role},
    entry::Actor,
    id::ThreadId,
};
use callboard_engine::{Board, NewBoardSession, Session};
use callboard_store::{Durability, SqliteStore};
use tempfile::TempDir;

/// The size of a message in bytes.
pub(crate) const MESSAGE: usize = 400;

/// A board on a file of SQLite.
pub(crate) fn sqlite(path: &Path, durability: Durability) -> anyhow::Result<Board> {
    let settings = callboard_store::Settings { durability, ..Default::default() };
    let store = Arc::new(SqliteStore::open(path, settings)?);
    Ok(Board::new(store, callboard_engine::Settings { sweep: None, ..Default::default() }))
}

/// The same in a new folder, with which it goes.
pub(crate) fn temporary() -> anyhow::Result<(TempDir, Board)> {
    let folder = tempfile::tempdir()?;
    let board = sqlite(&folder.path().join("callboard.db"), Durability::Normal)?;
    Ok((folder, board))
}

/// A session with a manager and a worker.
pub(crate) async fn session(board: &Board, id: &str) -> anyhow::Result<Session> {
    let agents = r#"[{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]"#;
    let new = NewBoardSession { id: Some(id.parse()?), agents: serde_json::from_str(agents)?, ..Default::default() };
    Ok(board.create(new).await?)
}

/// So many of them.
pub(crate) async fn sessions(board: &Board, count: usize) -> anyhow::Result<Vec<Session>> {
    let mut sessions = Vec::new();
    for number in 0..count {
        sessions.push(session(board, &format!("s{number}")).await?);
    }
    Ok(sessions)
}

/// A text of [`MESSAGE`] bytes in plain words, a different one for each number.
pub(crate) fn text(number: usize) -> String {
    const WORDS: [&str; 16] = [
        "the ", "tide ", "turns ", "before ", "noon ", "and ", "every ", "vessel ", "in ", "harbour ", "waits ",
        "for ", "water ", "under ", "its ", "keel ",
    ];
    let mut text = format!("Note {number}: ");
    let mut mixed = number;
    while text.len() < MESSAGE {
        mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS.get((mixed >> 33) % WORDS.len()).copied().unwrap_or_default());
    }
    text.truncate(MESSAGE);
    text
}

/// A message of [`MESSAGE`] bytes in `main`.
pub(crate) fn message(number: usize) -> AddMessages {
    AddMessages { thread: ThreadId::main(), messages: vec![NewMessage::text(Role::User, text(number))] }
}

/// Adds messages in large batches.
pub(crate) async fn fill(session: &Session, messages: usize) -> anyhow::Result<()> {
    fill_with(session, messages, |number| NewMessage::text(Role::User, text(number))).await
}

/// The same with other messages.
pub(crate) async fn fill_with(
    session: &Session,
    messages: usize,
    message: impl Fn(usize) -> NewMessage,
) -> anyhow::Result<()> {
    for from in (0..messages).step_by(500) {
        let batch = (from..messages.min(from + 500)).map(&message).collect();
        session.execute(Actor::User, AddMessages { thread: ThreadId::main(), messages: batch }).await?;
    }
    Ok(())
}
