//! The file of the indices of recall: what it keeps, what leaves it, and what becomes of it when it is damaged.

use std::path::Path;

use callboard_engine::{
    Board,
    core::{entry::Actor, viewer::Viewer},
};

use crate::{
    fixture::{clock, id, memory, new, say},
    recall::{settings_in, texts},
};

/// Whether the file of the indices, or what SQLite keeps beside it, has these letters.
fn file_has(folder: &Path, letters: &str) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("recall.db"));
    files.any(|path| std::fs::read(path).unwrap().windows(letters.len()).any(|bytes| bytes == letters.as_bytes()))
}

#[tokio::test]
async fn an_erased_entry_leaves_no_word_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory(&clock());
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    say(&session, "before").await;
    let seq = say(&session, "The code word is xylophonist.").await;
    say(&session, "afterwards").await;
    assert!(texts(&session, &Viewer::User, "xylophonist").await[0].contains("xylophonist"));
    session.erase(Actor::User, seq, "it is private").await.unwrap();
    assert!(texts(&session, &Viewer::User, "xylophonist").await.is_empty());
    assert_eq!(texts(&session, &Viewer::User, "afterwards").await[0], "afterwards");
    board.close().await;
    assert!(!file_has(folder.path(), "xylophonist"));
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory(&clock());
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("a-session-that-goes")).await.unwrap();
    say(&session, "a word: xylophonist").await;
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 1);
    assert!(file_has(folder.path(), "a-session-that-goes"));
    board.delete(session.id()).await.unwrap();
    // Another one under its name knows nothing of it.
    let next = board.create(new("a-session-that-goes")).await.unwrap();
    assert!(texts(&next, &Viewer::User, "xylophonist").await.is_empty());
    board.delete(next.id()).await.unwrap();
    board.close().await;
    assert!(!file_has(folder.path(), "a-session-that-goes"));
}

#[tokio::test]
async fn another_journal_under_a_name_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["first xylophonist", "second harpist"];
    for (number, word) in words.into_iter().enumerate() {
        // Each store has a journal of its own, and the indices are in the same file.
        let board = Board::new(memory(&clock()), settings_in(folder.path()));
        let session = board.create(new("s")).await.unwrap();
        say(&session, word).await;
        let found =
            [texts(&session, &Viewer::User, "xylophonist").await, texts(&session, &Viewer::User, "harpist").await];
        assert_eq!(found.map(|found| found.len()), [usize::from(number == 0), usize::from(number == 1)]);
        board.close().await;
    }
}

#[tokio::test]
async fn a_damaged_file_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let store = memory(&clock());
    let damages: [fn(&Path); 4] = [
        |path| std::fs::write(path, b"noise, no index at all").unwrap(),
        |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        },
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.iter_mut().skip(100).step_by(3).for_each(|byte| *byte ^= 0x5a);
            std::fs::write(path, bytes).unwrap();
        },
        |path| std::fs::remove_file(path).unwrap(),
    ];
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    for number in 0..50 {
        say(&session, &format!("sentence {number} about the xylophonist")).await;
    }
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 10);
    board.close().await;
    for (number, damage) in damages.into_iter().enumerate() {
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("recall.db{suffix}")));
        }
        damage(&path);
        let board = Board::new(store.clone(), settings_in(folder.path()));
        let session = board.session(&id("s")).await.unwrap();
        assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 10, "damage {number}");
        board.close().await;
    }
}
