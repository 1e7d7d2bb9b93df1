//! The file of the indices of recall: what it keeps, what leaves it, and what becomes of it when it is damaged.

use std::{path::Path, sync::Arc};

use callboard_engine::{
    Board, Settings,
    core::{document::PutDocument, viewer::Viewer},
};
use callboard_recall::Indexes;
use serde_json::json;

use crate::{
    fixture::{add, clock, erase, id, memory, new, patch, run, say, text},
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
    erase(&session, seq, "it is private").await.unwrap();
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

#[tokio::test]
async fn a_file_that_is_deleted_while_the_board_is_there_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let board = Board::new(memory(&clock()), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    for number in 0..3 {
        say(&session, &format!("xylophonist {number}")).await;
        assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), number + 1);
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 3);
    board.close().await;
    assert_eq!(Indexes::open(Some(&path), 1 << 20).unwrap().journals().unwrap(), ["/s"]);
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_expired_and_of_a_collection_that_was_deleted() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let board = Board::new(memory(&clock), Settings { clock: Arc::new(clock.clone()), ..settings_in(folder.path()) });
    let collection = board.put_collection(&"a-handbook-that-goes".parse().unwrap()).await.unwrap();
    let (name, text) = ("a".parse().unwrap(), "a word: xylophonist".into());
    run(&collection, PutDocument { name, text, visible_to: None, media_type: None }).await;
    let session = board.create(new("a-session-that-goes")).await.unwrap();
    let short_lived = json!({"collections": ["a-handbook-that-goes"], "ttl_seconds": 1000});
    run(&session, patch(short_lived)).await;
    say(&session, "a word: xylophonist").await;
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 2);
    for name in ["a-session-that-goes", "a-handbook-that-goes"] {
        assert!(file_has(folder.path(), name));
    }
    clock.advance_seconds(1001);
    assert_eq!(board.sweep().await.unwrap().len(), 1);
    assert!(!file_has(folder.path(), "a-session-that-goes"));
    board.delete_collection(&"a-handbook-that-goes".parse().unwrap()).await.unwrap();
    board.close().await;
    assert!(!file_has(folder.path(), "a-handbook-that-goes"));
    let file = Indexes::open(Some(&folder.path().join("recall.db")), 1 << 20).unwrap();
    assert_eq!(file.journals().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn questions_are_answered_where_the_index_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no-folder"), "a file").unwrap();
    let nowhere = settings_in(&folder.path().join("no-folder"));
    let full = settings_in(folder.path());
    for (number, settings) in [nowhere, full].into_iter().enumerate() {
        let board = Board::new(memory(&clock()), settings);
        let session = board.create(new("s")).await.unwrap();
        let first = say(&session, "the first xylophonist").await;
        assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 1);
        if number == 1 {
            // From now on every write fails, as on a disk that is full.
            let file = rusqlite::Connection::open(folder.path().join("recall.db")).unwrap();
            let refuse = "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
            file.execute_batch(&format!("CREATE TRIGGER a BEFORE INSERT ON journal {refuse};")).unwrap();
        }
        for page in 0..5 {
            let many = (0..500).map(|one| text(&format!("chatter {page} {one} of the weather"))).collect();
            run(&session, add("main", many)).await;
            assert!(!texts(&session, &Viewer::User, "weather").await.is_empty());
        }
        say(&session, "the second xylophonist").await;
        let found = texts(&session, &Viewer::User, "xylophonist").await;
        assert_eq!(found.iter().filter(|text| text.contains("xylophonist")).count(), 2, "{found:?}");
        erase(&session, first, "it is private").await.unwrap();
        let found = texts(&session, &Viewer::User, "xylophonist").await;
        assert_eq!(found.iter().filter(|text| text.contains("xylophonist")).count(), 1, "{found:?}");
        board.close().await;
    }
}
