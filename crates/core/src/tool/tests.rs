use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{CallTool, OWN_TOOLS, OwnTool, ToolExecution, offered, own_among, own_names, own_tool, parse};
use crate::{
    agent::{Agent, Team},
    conversation::{PutThread, ToolCall},
    document::PutDocument,
    error::Error,
    id::Seq,
    recall::Source,
    run::next::Call,
    session::SessionPatch,
    testing::Board,
};

fn check(tools: Value) -> String {
    let agents = json!([{"name": "writer", "role": "worker", "tools": tools}]);
    Team::check(&serde_json::from_value::<Vec<_>>(agents).unwrap())
        .map_or_else(|error| error.to_string(), |()| "ok".to_owned())
}

#[test]
fn a_team_names_only_tools_that_there_are() {
    assert_eq!(check(json!([{"name": "callboard:read_messages"}, {"name": "look"}])), "ok");
    let unknown = check(json!([{"name": "callboard:dance"}]));
    let beginning = "/agents/0/tools/0/name: Callboard has no tool \"dance\" of its own; those it has are: callboard:";
    assert!(
        unknown.starts_with(beginning)
            && unknown.contains(OWN_TOOLS.last().unwrap().name)
            && unknown.contains("callboard:read for all"),
        "{unknown}"
    );
    assert_snapshot!(check(json!([{"name": "callboard:read_messages", "description": "Dances."}])), @"/agents/0/tools/0/description: leave out what Callboard knows of its own tool: name it only");
    assert_snapshot!(check(json!([{"name": "callboard:read_messages"}, {"name": "read_messages"}])), @"/agents/0/tools/1/name: the agent has another tool read_messages");
}

#[test]
fn a_bundle_stands_for_the_tools_in_it() {
    assert_eq!(check(json!([{"name": "callboard:read"}, {"name": "look"}])), "ok");
    let agent = json!({"name": "writer", "role": "worker",
        "tools": [{"name": "callboard:read_messages"}, {"name": "callboard:read"}, {"name": "look"}]});
    let agent: Agent = serde_json::from_value(agent).unwrap();
    let names: Vec<_> =
        offered(&agent.tools, &BTreeSet::new()).iter().map(|tool| tool.bare_name().to_owned()).collect();
    assert_eq!(names.iter().filter(|name| *name == "read_messages").count(), 1, "{names:?}");
    let has = |name: &str| own_among(&agent.tools, name).is_some();
    assert!(has("search") && !has("write_context_set"));
    let named = own_names(&["callboard:read".to_owned(), "write_context_set".to_owned()]).unwrap();
    assert!(named.contains("read_message") && named.contains("write_context_set") && !named.contains("update_plan"));
    let all = own_names(&["callboard:all".to_owned()]).unwrap();
    assert!(OWN_TOOLS.iter().all(|tool| all.contains(tool.name)) && all.len() == OWN_TOOLS.len());
    assert_eq!(check(json!([{"name": "callboard:all"}])), "ok");
    assert_snapshot!(own_names(&["search".to_owned(), "fly".to_owned()]).unwrap_err(), @r#"/tools/1: Callboard has no tool "fly" of its own"#);
}

#[test]
fn models_are_told_of_the_tools_that_read_in_few_words() {
    let names = super::bundled(Some(super::READ));
    let told: Vec<_> = names.iter().map(|name| json!(own_tool(name).unwrap().described()).to_string()).collect();
    let bytes = told.iter().map(String::len).sum::<usize>();
    assert!(bytes < 4500, "each prompt has these {bytes} bytes: {told:#?}");
}

#[test]
fn models_are_told_of_each_tool_with_a_schema_of_its_arguments() {
    let told = OWN_TOOLS.iter().map(|tool| {
        let told = tool.described();
        assert!(jsonschema::validator_for(&json!(told.parameters)).is_ok());
        format!("{} {} {}", told.name, told.idempotent, json!(told.parameters["properties"]))
    });
    assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn arguments_are_read_as_an_object_or_as_the_text_of_one() {
    let mut board = Board::team("lead writer");
    let audience = serde_json::from_value(json!("all")).unwrap();
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), audience)).unwrap();
    let read = |arguments: Value| match own_tool("read_messages").unwrap().execution {
        ToolExecution::Read(read) => read(&board.view("writer").unwrap(), &arguments)
            .map_or_else(|error: Error| error.to_string(), |read| format!("{read:?}")),
        ToolExecution::Command(_) => unreachable!(),
    };
    assert_snapshot!(read(json!({"limit": 5, "thread": "main"})), @r#"Messages("main", 5, None)"#);
    assert_snapshot!(read(json!("{\"limit\": 5000}")), @r#"Messages("agent:writer", 100, None)"#);
    assert_snapshot!(read(json!(null)), @r#"Messages("agent:writer", 20, None)"#);
    let twice = json!("{\"variableName\": \"tide\", \"value\": {\"high\": 1, \"high\": 2}}");
    let twice = parse::<Value>(&twice).unwrap_err().to_string();
    assert!(twice.starts_with("/arguments: duplicate field `high`"), "{twice}");
    assert_snapshot!(read(json!({"limits": 5})), @"/arguments: unknown field `limits`: use `limit`, `thread`, `message_id`, `before`");
}

#[test]
fn tools_are_for_those_who_have_the_right_to_what_they_do() {
    let mut board = Board::team("lead writer");
    let names =
        |board: &Board, viewer: &str| board.view(viewer).unwrap().own_tools().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(&board, "lead"), OWN_TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
    assert_eq!(names(&board, "lead"), names(&board, "user"));
    assert_eq!(
        names(&board, "writer"),
        [
            "read_context_set",
            "read_document",
            "memory",
            "read_messages",
            "read_message",
            "recall",
            "search",
            "find_files",
            "read_file"
        ]
    );
    let patch = json!({"grant": ["context_sets"], "share": ["variables"]});
    board.user(serde_json::from_value::<SessionPatch>(patch).unwrap()).unwrap();
    let granted = [
        "read_context_set",
        "write_context_set",
        "read_document",
        "memory",
        "read_messages",
        "read_message",
        "recall",
        "search",
        "find_files",
        "read_file",
        "get_workflow_variable",
    ];
    assert_eq!(names(&board, "writer"), granted);
}

#[test]
fn what_was_begun_is_done_again_only_where_that_does_no_harm() {
    let read = own_tool("read_messages").unwrap();
    let once = OwnTool { idempotent: false, ..*read };
    let call = |was_started: bool| Call {
        agent: "writer".parse().unwrap(),
        call: ToolCall { id: "c1".to_owned(), name: "once".to_owned(), arguments: json!({}) },
        started: was_started.then_some(Seq(7)),
    };
    assert!(call(false).may_be_done(&once) && call(true).may_be_done(read));
    assert!(!call(true).may_be_done(&once));
}

/// What an agent is told by the tool `memory`.
fn memory(board: &mut Board, agent: &str, arguments: Value) -> String {
    let told = board.by(agent, CallTool { name: "memory".to_owned(), arguments });
    told.map_or_else(|error| format!("! {error}"), |told| told.0)
}

#[test]
fn an_agent_keeps_files_of_its_own_as_documents() {
    let mut board = Board::team("lead writer critic");
    let mut told = |agent: &str, arguments: Value| memory(&mut board, agent, arguments);
    let view = |path: &str| json!({"command": "view", "path": path});
    let here = "Here're the files and directories up to 2 levels deep in";
    let nothing = format!("{here} /memories, excluding hidden items and node_modules:\n0B\t/memories");
    assert_eq!(told("writer", view("/memories")), nothing);
    let create = |path: &str, text: &str| json!({"command": "create", "path": path, "file_text": text});
    assert_eq!(
        told("writer", create("/memories/a/tide.md", "High at six.\nLow at noon.\n")),
        "File created successfully at: /memories/a/tide.md"
    );
    let again = told("writer", create("/memories/a/tide.md", "x"));
    assert_eq!(again, "! /arguments/path: File /memories/a/tide.md already exists");
    let long = told("writer", create("/memories/long.md", &"x".repeat(70_000)));
    assert!(long.starts_with("! /arguments/file_text: the file would have 70000 bytes"), "{long}");
    let replace = |old: &str| json!({"command": "str_replace", "path": "/memories/a/tide.md", "old_str": old, "new_str": "seven"});
    assert!(told("writer", replace("six")).ends_with("     1\tHigh at seven.\n     2\tLow at noon."));
    assert!(
        told("writer", replace("at"))
            .contains("performed. Multiple occurrences of old_str `at` in lines: 1, 2. Please ensure it is unique")
    );
    assert!(told("writer", replace("eight")).contains("did not appear verbatim in /memories/a/tide.md."));
    let insert = |line: u64| json!({"command": "insert", "path": "/memories/a/tide.md", "insert_line": line, "insert_text": "Then it falls."});
    assert_eq!(told("writer", insert(1)), "The file /memories/a/tide.md has been edited.");
    assert!(told("writer", insert(9)).contains("within the range of lines of the file: [0, 3]"));
    let shown = "Here's the content of /memories/a/tide.md with line numbers:\n     1\tHigh at seven.\n     2\tThen it falls.\n     3\tLow at noon.";
    assert_eq!(told("writer", view("/memories/a/tide.md")), shown);
    let part = told("writer", json!({"command": "view", "path": "/memories/a/tide.md", "view_range": [3, -1]}));
    assert!(part.ends_with("line numbers:\n     3\tLow at noon."), "{part}");
    for first in [-2, 0, 4] {
        let range = json!({"command": "view", "path": "/memories/a/tide.md", "view_range": [first, -1]});
        let refused = format!(
            "! /arguments/view_range: Invalid `view_range`: [{first}, -1]. Its first element `{first}` should be within the \
             range of lines of the file: [1, 3]"
        );
        assert_eq!(told("writer", range), refused);
    }
    let listed = told("writer", view("/memories"));
    assert!(listed.ends_with("43B\t/memories\n43B\t/memories/a/\n43B\t/memories/a/tide.md"), "{listed}");
    // Another agent has other files.
    assert_eq!(told("critic", view("/memories")), nothing);
    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    assert!(told("writer", rename("/memories/a", "/memories/a/b")).contains("is within"));
    assert_eq!(told("writer", rename("/memories/a", "/memories/b")), "Successfully renamed /memories/a to /memories/b");
    for outside in ["/memories/../writer/b", "/etc/passwd", "/memories-of-others"] {
        assert!(told("critic", create(outside, "x")).starts_with("! /arguments/path: "), "{outside}");
    }
    let gone = "! /arguments/path: The path /memories/a does not exist. Please provide a valid path.";
    assert_eq!(told("writer", view("/memories/a")), gone);
    assert!(told("writer", json!({"command": "forget", "path": "/memories/a"})).contains("`forget` is not known here"));
    let documents = |board: &Board, viewer: &str| -> Vec<_> {
        board.view(viewer).unwrap().documents().map(|document| document.held().name.to_string()).collect()
    };
    assert_eq!(documents(&board, "writer"), ["memories/writer/b/tide.md"]);
    assert_eq!((documents(&board, "lead").len(), documents(&board, "critic").len()), (1, 0));
    let delete = json!({"command": "delete", "path": "/memories/b"});
    assert_eq!(memory(&mut board, "writer", delete.clone()), "Successfully deleted /memories/b");
    assert!(memory(&mut board, "writer", delete).contains("does not exist"));
    assert_eq!(board.state.documents.count(), 0);
}

#[test]
fn a_file_takes_no_place_that_is_taken_and_the_folder_of_all_stays() {
    let mut board = Board::team("lead writer critic");
    let create = |path: &str| json!({"command": "create", "path": path, "file_text": "High at six."});
    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    let put = |name: &str, of: &str, media_type: &str| PutDocument {
        name: name.parse().unwrap(),
        text: "The user wrote this.".into(),
        visible_to: serde_json::from_value(json!([of])).unwrap(),
        media_type: Some(media_type.parse().unwrap()),
    };
    board.user(put("memories/writer/b/hidden.md", "critic", "text/markdown")).unwrap();
    board.user(put("memories/writer/seen.md", "writer", "text/markdown")).unwrap();
    let before = board.state.documents.get(&"memories/writer/b/hidden.md".parse().unwrap()).unwrap().clone();
    let mut told = |arguments: Value| memory(&mut board, "writer", arguments);
    // What is hidden is neither replaced nor taken away.
    let taken = "! /arguments/path: File /memories/b/hidden.md already exists";
    assert_eq!(told(create("/memories/b/hidden.md")), taken);
    assert!(told(create("/memories/a/hidden.md")).starts_with("File created"));
    assert_eq!(
        told(rename("/memories/a", "/memories/b")),
        "! /arguments/new_path: The destination /memories/b already exists"
    );
    assert!(told(json!({"command": "delete", "path": "/memories/b"})).contains("does not exist"));
    // A file is no folder, and the folder of all stays.
    assert!(told(create("/memories/a/hidden.md/b.md")).contains("is within a file: memories/writer/a/hidden.md"));
    assert!(told(json!({"command": "delete", "path": "/memories/"})).contains("/memories itself stays"));
    assert!(told(rename("/memories/seen.md", "/memories/moved.md")).starts_with("Successfully renamed"));
    // There are not more of them than somebody can look through.
    let full = (3..=201).map(|number| told(create(&format!("/memories/{number}.md")))).collect::<Vec<_>>();
    assert!(full.iter().take(198).all(|told| told.starts_with("File created")), "{full:?}");
    assert!(full.last().unwrap().contains("you have 200 files, which is the most"), "{full:?}");
    let held = |name: &str| board.state.documents.get(&name.parse().unwrap()).unwrap();
    assert_eq!(held("memories/writer/b/hidden.md"), &before);
    assert_eq!(held("memories/writer/moved.md").media_type.as_str(), "text/markdown");
    // The manager knows of what is hidden from it, and is told at which path it is.
    board.user(put("memories/lead/hidden.md", "critic", "text/plain")).unwrap();
    for (arguments, pointer) in [
        (json!({"command": "view", "path": "/memories/hidden.md"}), "path"),
        (rename("/memories/hidden.md", "/memories/a.md"), "old_path"),
    ] {
        let refused = format!("! /arguments/{pointer}: /memories/hidden.md is hidden from you");
        assert_eq!(memory(&mut board, "lead", arguments), refused);
    }
}

#[test]
fn what_others_see_of_a_folder_is_changed_with_the_grant_alone() {
    let mut board = Board::team("lead writer critic");
    let put = |name: &str, audience: Value| PutDocument {
        name: name.parse().unwrap(),
        text: "High at six.".into(),
        visible_to: serde_json::from_value(audience).unwrap(),
        media_type: None,
    };
    board.user(put("memories/writer/all.md", json!("all"))).unwrap();
    board.user(put("memories/writer/own.md", json!(["writer"]))).unwrap();
    let all = "/memories/all.md";
    let replace = |path: &str| json!({"command": "str_replace", "path": path, "old_str": "six", "new_str": "seven"});
    let rename = json!({"command": "rename", "old_path": all, "new_path": "/memories/a.md"});
    for change in [replace(all), rename, json!({"command": "delete", "path": all})] {
        let told = memory(&mut board, "writer", change);
        assert!(told.contains("may not write documents"), "{told}");
    }
    assert!(memory(&mut board, "writer", replace("/memories/own.md")).contains("has been edited"));
    board.user(serde_json::from_value::<SessionPatch>(json!({"grant": ["documents"]})).unwrap()).unwrap();
    assert!(memory(&mut board, "writer", replace(all)).contains("has been edited"));
}

#[test]
fn paths_of_files_are_taken_as_they_are_written() {
    let mut board = Board::team("lead writer critic");
    let create = |path: &str| json!({"command": "create", "path": path, "file_text": "High at six."});
    for path in ["/memories/%2e%2e/critic/a.md", "/memories/A.md", "/memories/a.md"] {
        let told = memory(&mut board, "writer", create(path));
        assert_eq!(told, format!("File created successfully at: {path}"));
    }
    for path in ["/Memories/b.md", "memories/b.md", "/memories/./b.md", "/memories/b/../../critic/b.md", "/memories//"]
    {
        let told = memory(&mut board, "writer", create(path));
        assert!(told.starts_with("! /arguments/path: "), "{path}: {told}");
    }
    let names: Vec<_> = board.state.documents.iter().map(|held| held.name.as_str()).collect();
    assert_eq!(names, ["memories/writer/%2e%2e/critic/a.md", "memories/writer/A.md", "memories/writer/a.md"]);
}

#[test]
fn what_recall_finds_is_read_by_a_tool_that_there_is() {
    for source in Source::ALL {
        let (tool, argument) = source.tool();
        let (properties, _) = (own_tool(tool).unwrap().arguments)();
        assert!(argument.is_none_or(|argument| properties.get(argument).is_some()), "{tool}");
    }
}
