use super::*;
use crate::{file::ObserveFiles, testing::Board};

fn file(path: &str, recipient: &str, keywords: &str) -> ContextFile {
    ContextFile {
        path: format!(".tmp/sessions/x/{path}").into(),
        recipient: recipient.into(),
        keywords: keywords.split(',').map(Arc::from).collect(),
        created: "2025-01-18T14:30:22Z".into(),
    }
}

fn board(files: &[ContextFile]) -> Board {
    let mut board = Board::team("lead writer critic");
    observe(&mut board, files);
    board
}

fn observe(board: &mut Board, files: &[ContextFile]) {
    board.system(ObserveFiles(files.to_vec())).unwrap();
}

/// The types and subjects of what `agent` sees of files.
fn seen(board: &Board, agent: &str) -> Vec<String> {
    let entries = board.seen(agent).into_iter().filter(|entry| entry.kind.starts_with("file."));
    entries.map(|entry| format!("{} {}", entry.kind, entry.subject.rsplit('/').next().unwrap())).collect()
}

#[test]
fn what_was_seen_is_noted_once() {
    let files = [file("a.md", "writer", "a"), file("b.md", "all", "b")];
    let mut board = board(&files);
    let head = board.state.head;
    observe(&mut board, &files);
    assert_eq!(board.state.head, head);
    observe(&mut board, &[file("b.md", "all", "b,c")]);
    let kinds: Vec<_> = board.entries.iter().rev().take(3).map(|entry| &*entry.header.kind).collect();
    assert_eq!(kinds, ["file.added", "file.removed", "file.removed"]);
    assert_eq!(board.state.files.iter().count(), 1);
}

#[test]
fn every_agent_sees_all_files() {
    let mut board = board(&[file("a.md", "writer", "a"), file("b.md", "all", "b"), file("c.md", "@elsewhere", "c")]);
    let all = |kind: &str| ["a.md", "b.md", "c.md"].map(|name| format!("file.{kind} {name}")).to_vec();
    for agent in ["writer", "critic", "lead"] {
        assert_eq!(seen(&board, agent), all("added"));
    }
    observe(&mut board, &[]);
    assert_eq!(seen(&board, "critic"), all("removed"));
}

#[test]
fn a_file_is_for_the_agent_that_it_names_with_or_without_its_sign() {
    let is_for = |recipient: &str, agent: &str| file("a.md", recipient, "a").is_for(&agent.parse().unwrap());
    assert!(is_for("coder", "coder") && is_for("@coder", "coder") && is_for("coder", "@coder"));
    assert!(is_for("all", "coder") && is_for("@all", "coder") && !is_for("@writer", "coder"));
}

#[test]
fn nobody_but_callboard_notes_files() {
    let mut board = Board::team("lead writer");
    for error in [board.user(ObserveFiles(Vec::new())), board.by("lead", ObserveFiles(Vec::new()))] {
        assert_eq!(error.unwrap_err().code(), "forbidden");
    }
}
