use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{NewSession, SessionPatch, Settings};
use crate::{
    agent::Agent,
    command::Command,
    context_set::DeleteSet,
    context_set::form::SubmitForm,
    conversation::PutThread,
    directive::Direct,
    entry::Actor,
    error::Error,
    run::{CancelRun, ClaimRun, PauseRun, ResumeRun, ToolResults},
    testing::Board,
};

fn create(agents: &Value, settings: &Value) -> Result<Board, String> {
    let agents: Vec<Agent> = serde_json::from_value(agents.clone()).map_err(|error| error.to_string())?;
    let settings: Settings = serde_json::from_value(settings.clone()).map_err(|error| error.to_string())?;
    let mut board = Board::empty();
    let new = NewSession { id: "s1".parse().unwrap(), agents, sets: Vec::new(), settings, salt: 1 };
    board.user(new).map_err(|error| error.to_string())?;
    Ok(board)
}

fn refused(agents: &Value) -> String {
    create(agents, &json!({})).err().unwrap()
}

fn patch(board: &mut Board, patch: &Value) -> String {
    match serde_json::from_value::<SessionPatch>(patch.clone()) {
        Ok(patch) => told(board.user(patch)),
        Err(error) => error.to_string(),
    }
}

fn told<T>(answer: Result<T, Error>) -> String {
    answer.map_or_else(|error| format!("{}: {error}", error.code()), |_| "ok".to_owned())
}

fn team(board: &Board) -> String {
    let one = |agent: &Agent| format!("{} {}", json!(agent.role).as_str().unwrap(), agent.name);
    board.state.team.agents().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_team_has_at_most_one_manager_and_no_name_twice() {
    let worker = |name: &str| json!({"name": name, "role": "worker"});
    let manager = |name: &str| json!({"name": name, "role": "manager"});
    assert_snapshot!(refused(&json!([manager("a"), manager("b"), manager("c")])), @"/agents/1/role: a team has at most one manager, and a is it; /agents/2/role: a team has at most one manager, and a is it");
    assert_snapshot!(refused(&json!([worker("a"), worker("b"), worker(" a ")])), @"/agents/2/name: the name a is taken by another agent of the team");
    assert_snapshot!(refused(&json!([worker("writer"), worker("wrіter")])), @"/agents/1/name: the name looks like that of another agent, writer");
    assert_snapshot!(refused(&json!([worker("writer"), worker("Writer")])), @"/agents/1/name: the name looks like that of another agent, writer");
    assert_eq!(team(&create(&json!([]), &json!({})).unwrap()), "");
    assert_eq!(team(&create(&json!([worker("a")]), &json!({})).unwrap()), "worker a");
}

#[test]
fn names_that_mean_something_else_or_could_pretend_to_are_refused() {
    for name in ["all", "None", "USER", "system", "", "  ", "a\nb", "<b>", "a\"b", "a,b", "a:b"] {
        let error = refused(&json!([{"name": name, "role": "worker"}]));
        assert!(error.contains("agent name"), "{name:?}: {error}");
    }
    assert_snapshot!(refused(&json!([{"name": "x".repeat(1 << 20), "role": "worker"}])), @r#"agent name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not valid: use 1 to 128 characters"#);
    assert_snapshot!(refused(&json!([{"name": "a", "role": "boss"}])), @"unknown variant `boss`, expected `manager` or `worker`");
    assert_snapshot!(refused(&json!([{"name": "a", "role": "worker", "colour": "red"}])), @"unknown field `colour`, expected one of `name`, `role`, `title`, `instructions`, `model`, `tools`");
}

#[test]
fn what_is_said_of_an_agent_has_its_limits() {
    let with = |field: &str, value: Value| refused(&json!([{"name": "a", "role": "worker", field: value}]));
    assert_snapshot!(with("title", json!("a writer\n- b (manager)")), @"/agents/0/title: use one line of at most 200 characters");
    assert_snapshot!(with("title", json!("x".repeat(201))), @"/agents/0/title: use one line of at most 200 characters");
    assert_snapshot!(with("instructions", json!("x".repeat(65_537))), @"/agents/0/instructions: use at most 65536 bytes; put longer texts in context sets");
    assert_snapshot!(with("tools", json!([{"name": ""}, {"name": "a"}, {"name": "a"}])), @"/agents/0/tools/0/name: use 1 to 128 characters in one line; /agents/0/tools/2/name: the agent has another tool a");
    let deep = (0..100).fold(json!(1), |value, _| json!({"a": value}));
    assert_snapshot!(with("tools", json!([{"name": "a", "parameters": deep}])), @r#"/agents/0/tools/0/parameters: nest at most 64 levels; /agents/0/tools/0/parameters: providers take the schema of an object alone: say `"type": "object"`, or leave `parameters` out"#);
    assert_snapshot!(with("tools", json!([{"name": "a", "description": "x".repeat(65_537)}])), @"/agents/0/tools: describe them in at most 65536 bytes altogether; /agents/0/tools/0/description: it has 65537 characters: describe a tool in at most 1024");
}

#[test]
fn settings_are_read_strictly() {
    let wrong = |settings: Value| create(&json!([]), &settings).err().unwrap();
    assert_snapshot!(wrong(json!({"ttl_seconds": 0})), @r#""0" is not a time to live: use a whole number of seconds above 0, a duration such as 90d, 36h or 15m, or "never""#);
    assert_snapshot!(wrong(json!({"ttl_seconds": -5})), @r#""-5" is not a time to live: use a whole number of seconds above 0, a duration such as 90d, 36h or 15m, or "never""#);
    assert_snapshot!(wrong(json!({"ttl_seconds": "soon"})), @r#""soon" is not a time to live: use a whole number of seconds above 0, a duration such as 90d, 36h or 15m, or "never""#);
    assert_snapshot!(wrong(json!({"title": "x".repeat(501)})), @"/title: use one line of at most 500 characters");
    assert_snapshot!(wrong(json!({"default_visibility": "ghost"})), @"/default_visibility: there is no agent ghost");
    assert_snapshot!(wrong(json!({"surprise": 1})), @"unknown field `surprise`, expected one of `title`, `default_visibility`, `share`, `grant`, `prompt`, `ttl_seconds`, `limits`, `steps`, `compression`, `collections`");
    assert_snapshot!(wrong(json!({"prompt": {"parts": {"task": {"min": 9, "max": 5}}}})), @"/prompt/parts/task/min: the minimum is above the maximum");
    assert_snapshot!(wrong(json!({"prompt": {"budget": 0}})), @"/prompt/budget: no prompt has 0 tokens: give 1 or more");
}

#[test]
fn a_session_is_made_once() {
    let mut board = Board::team("lead writer");
    let again = NewSession {
        id: "s2".parse().unwrap(),
        agents: Vec::new(),
        sets: Vec::new(),
        settings: Settings::default(),
        salt: 1,
    };
    assert_snapshot!(told(board.user(again)), @"session_exists: there is a session 20250118-090000-test: take another id, or leave it out to get a new one");
    assert_snapshot!(told(Board::empty().user(DeleteSet("A".parse().unwrap()))), @r#"not_found: there is no session "here""#);
}

#[test]
fn a_change_says_only_what_changes() {
    let mut board = Board::team("lead writer");
    let before = board.entries.len();
    assert_snapshot!(patch(&mut board, &json!({"title": "Poems", "ttl_seconds": "never"})), @"ok");
    assert_snapshot!(patch(&mut board, &json!({"limits": {"turns": 9}})), @"ok");
    assert_snapshot!(patch(&mut board, &json!({})), @"ok");
    assert_eq!(board.entries.len() - before, 2);
    assert_snapshot!(json!(board.state.session.settings), @r#"{"title":"Poems","default_visibility":"all","ttl_seconds":"never","limits":{"turns":9}}"#);
    assert_snapshot!(patch(&mut board, &json!({"default_visibility": ["ghost"]})), @"no_agent: /default_visibility: there is no agent ghost");
    assert_snapshot!(patch(&mut board, &json!({"agents": [], "default_visibility": "writer"})), @"no_agent: /default_visibility: there is no agent writer");
}

#[test]
fn agents_join_leave_and_change() {
    let mut board = Board::team("lead writer");
    let agents = json!([
        {"name": "critic", "role": "worker"}, {"name": "lead", "role": "worker"}, {"name": "boss", "role": "manager"},
    ]);
    assert_snapshot!(patch(&mut board, &json!({"agents": agents})), @"ok");
    assert_snapshot!(team(&board), @"worker lead, worker critic, manager boss");
    let kinds: Vec<_> =
        board.entries.iter().skip(3).map(|entry| format!("{} {}", entry.header.kind, entry.data)).collect();
    assert_snapshot!(kinds.join("\n"), @r#"
    agent.removed {"name":"writer"}
    agent.added {"name":"critic","role":"worker"}
    agent.updated {"name":"lead","role":"worker"}
    agent.added {"name":"boss","role":"manager"}
    "#);
    assert_snapshot!(told(board.by("writer", DeleteSet("A".parse().unwrap()))), @r#"not_found: there is no agent "writer""#);
}

#[test]
fn a_worker_learns_of_others_only_who_they_are() {
    let agents = json!([
        {"name": "lead", "role": "manager", "instructions": "secret one", "model": "openai:big"},
        {"name": "writer", "role": "worker", "title": "Poet", "instructions": "secret two", "tools": [{"name": "pen"}]},
        {"name": "critic", "role": "worker"},
    ]);
    let mut board = create(&agents, &json!({"title": "T", "grant": ["context_sets"]})).unwrap();
    let seen = |board: &Board, viewer: &str| {
        let seen = board.seen(viewer).into_iter();
        seen.map(|entry| format!("{} {}", entry.kind, entry.data)).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(seen(&board, "critic"), @r#"
    session.created {"id":"s1","title":"T"}
    agent.added {"name":"lead","role":"manager"}
    agent.added {"name":"writer","role":"worker","title":"Poet"}
    agent.added {"name":"critic","role":"worker"}
    "#);
    let mut agents = agents;
    agents[1]["instructions"] = json!("secret three");
    patch(&mut board, &json!({"agents": agents}));
    assert_eq!(board.seen("critic").len(), 4, "what changed is not for the critic to know");
    assert_snapshot!(seen(&board, "writer"), @r#"
    session.created {"id":"s1","title":"T"}
    agent.added {"name":"lead","role":"manager"}
    agent.added {"name":"writer","role":"worker","title":"Poet","instructions":"secret two","tools":[{"name":"pen","description":"","parameters":{},"idempotent":false}]}
    agent.added {"name":"critic","role":"worker"}
    agent.updated {"name":"writer","role":"worker","title":"Poet","instructions":"secret three","tools":[{"name":"pen","description":"","parameters":{},"idempotent":false}]}
    "#);
    agents[1]["title"] = json!("Novelist");
    patch(&mut board, &json!({"agents": agents}));
    assert_snapshot!(board.seen("critic").last().unwrap().data, @r#"{"name":"writer","role":"worker","title":"Novelist"}"#);
}

fn forbidden<C: Command<Answer: std::fmt::Debug>>(board: &mut Board, command: &C) {
    let error = board.ask(&Actor::Agent("writer".parse().unwrap()), command).unwrap_err();
    assert_eq!(error.code(), "forbidden", "{command:?}: {error}");
    let error = board.ask(&Actor::Agent("ghost".parse().unwrap()), command).unwrap_err();
    assert_eq!(error.to_string(), "there is no agent \"ghost\"", "{command:?}");
}

#[test]
fn what_one_may_not_is_refused_before_anything_is_looked_up() {
    let mut board = Board::team("lead writer");
    let absent = || "absent".parse().unwrap();
    forbidden(&mut board, &SessionPatch::default());
    forbidden(&mut board, &DeleteSet("absent".parse().unwrap()));
    forbidden(&mut board, &SubmitForm { form: "absent".parse().unwrap(), answers: serde_json::Map::new() });
    forbidden(&mut board, &Direct(json!({})));
    let visible_to = crate::audience::Audience::All;
    forbidden(&mut board, &PutThread::seen_by("absent".parse().unwrap(), visible_to));
    forbidden(&mut board, &ClaimRun { run: absent(), node: "n".into() });
    forbidden(&mut board, &PauseRun { run: absent(), reason: String::new() });
    forbidden(&mut board, &ResumeRun(absent()));
    forbidden(&mut board, &CancelRun(absent()));
    forbidden(&mut board, &ToolResults::new(absent(), Vec::new()));
    for command in [ClaimRun { run: absent(), node: "n".into() }] {
        for answer in [board.user(command.clone()), board.by("lead", command)] {
            assert_eq!(answer.unwrap_err().code(), "forbidden");
        }
    }
}
