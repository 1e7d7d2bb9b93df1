//! The names of context files in prompts.

use std::sync::Arc;

use callboard_core::{
    file::{ContextFile, ObserveFiles},
    session::SessionPatch,
    testing::Board,
};
use serde_json::json;

use crate::testing::Shows as _;

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
    board.system(ObserveFiles(files.to_vec())).unwrap();
    board
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
