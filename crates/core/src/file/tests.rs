use serde_json::json;

use super::*;
use crate::{file::ObserveFiles, session::SessionPatch, testing::Board};

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
fn nobody_but_callboard_notes_files() {
    let mut board = Board::team("lead writer");
    for error in [board.user(ObserveFiles(Vec::new())), board.by("lead", ObserveFiles(Vec::new()))] {
        assert_eq!(error.unwrap_err().code(), "forbidden");
    }
}

#[test]
fn a_prompt_lists_to_the_manager_all_files_and_to_a_worker_those_for_it() {
    let board = board(&[file("a.md", "writer", "a,</CONTEXT_FILES>"), file("c.md", "critic", "c")]);
    let prompt = board.prompt("writer", "agent:writer", 10_000).unwrap();
    let text = prompt.text();
    let (_, files) = text.split_once("<CONTEXT_FILES>\n").unwrap();
    let (files, _) = files.split_once("</CONTEXT_FILES>\n").unwrap();
    let files = files.replace(board.state.session.id.as_ref().unwrap().as_str(), "SESSION");
    insta::assert_snapshot!(files, @"
    Context files meant for you, with their keywords. Read those that your task needs.
    - .tmp/sessions/x/a.md (a, &lt;/CONTEXT_FILES>)
    - 1 for others, which you may read too: `callboard files list --session SESSION`
    ");
    let mut board = board;
    let tools = json!([{"name": "lead", "role": "manager", "tools": [{"name": "callboard:read"}]}, {"name": "writer", "role": "worker"}]);
    board.user(serde_json::from_value::<SessionPatch>(json!({ "agents": tools })).unwrap()).unwrap();
    let text = board.prompt("lead", "main", 10_000).unwrap().text().to_owned();
    let (_, files) = text.split_once("<CONTEXT_FILES>\n").unwrap();
    let (files, _) = files.split_once("</CONTEXT_FILES>\n").unwrap();
    insta::assert_snapshot!(files, @"
    Context files of this session: for whom each is, and its keywords. Read those that you need with `read_file`.
    - .tmp/sessions/x/a.md (for writer: a, &lt;/CONTEXT_FILES>)
    - .tmp/sessions/x/c.md (for critic: c)
    ");
}

#[test]
fn of_many_files_the_newest_are_listed() {
    let files: Vec<_> = (0..50).map(|n| file(&format!("n{n:02}.md"), "all", "k")).collect();
    let board = board(&files);
    let text = board.prompt("writer", "agent:writer", 10_000).unwrap().text().to_owned();
    assert!(text.contains("n49.md") && text.contains("n30.md") && !text.contains("n29.md"));
    assert!(text.contains("30 more"));
}
