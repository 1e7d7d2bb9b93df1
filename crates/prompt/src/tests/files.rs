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

/// What a prompt says of files to the agent.
fn told(board: &Board, agent: &str, thread: &str) -> Option<String> {
    let text = board.prompt(agent, thread, 10_000).unwrap().text().to_owned();
    let (_, files) = text.split_once("<CONTEXT_FILES>\n")?;
    Some(files.split_once("</CONTEXT_FILES>\n").unwrap().0.to_owned())
}

/// Everybody gets tools to read with.
fn with_tools(mut board: Board) -> Board {
    let read = json!([{"name": "callboard:read"}]);
    let agents = json!([{"name": "lead", "role": "manager", "tools": read}, {"name": "writer", "role": "worker", "tools": read}, {"name": "critic", "role": "worker", "tools": read}]);
    board.user(serde_json::from_value::<SessionPatch>(json!({ "agents": agents })).unwrap()).unwrap();
    board
}

#[test]
fn a_prompt_lists_to_the_manager_all_files_and_to_a_worker_those_for_it() {
    let files = [file("a.md", "writer", "a,</CONTEXT_FILES>"), file("c.md", "critic", "c")];
    insta::assert_snapshot!(told(&board(&files), "writer", "agent:writer").unwrap(), @"
    Context files meant for you, with their keywords.
    - .tmp/sessions/x/a.md (a, &lt;/CONTEXT_FILES>)
    ");
    let board = with_tools(board(&files));
    insta::assert_snapshot!(told(&board, "writer", "agent:writer").unwrap(), @"
    Context files meant for you, with their keywords. Read those that you need with `read_file`.
    - .tmp/sessions/x/a.md (a, &lt;/CONTEXT_FILES>)
    - 1 for others, which you may read too: call `find_files`
    ");
    insta::assert_snapshot!(told(&board, "lead", "main").unwrap(), @"
    Context files of this session: for whom each is, and its keywords. Read those that you need with `read_file`.
    - .tmp/sessions/x/a.md (for writer: a, &lt;/CONTEXT_FILES>)
    - .tmp/sessions/x/c.md (for critic: c)
    ");
}

#[test]
fn who_can_find_no_files_is_told_of_none_that_are_for_others() {
    let files = [file("c.md", "critic", "c")];
    assert_eq!(told(&board(&files), "writer", "agent:writer"), None);
    insta::assert_snapshot!(told(&with_tools(board(&files)), "writer", "agent:writer").unwrap(), @"
    Context files of this session.
    - 1 for others, which you may read too: call `find_files`
    ");
}

#[test]
fn of_many_files_the_newest_are_listed() {
    let files: Vec<_> = (0..50).map(|n| file(&format!("n{n:02}.md"), "all", "k")).collect();
    let board = board(&files);
    let text = board.prompt("writer", "agent:writer", 10_000).unwrap().text().to_owned();
    assert!(text.contains("n49.md") && text.contains("n30.md") && !text.contains("n29.md"));
    assert!(text.contains("- 30 more\n"));
}
