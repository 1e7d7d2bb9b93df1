//! Texts that are cut, and secrets in them that were said before they were known: of a value that is cut nothing would be found
//! in what is left.

use std::sync::Arc;

use callboard_engine::{
    Board, MasterKey, PromptSpec, Session, Settings,
    core::{
        conversation::{NewMessage, Role, ToolCall},
        count::Tokens,
        plan::PutPlan,
        prompt::{Format, LayoutName},
        rights::Share,
        session::SessionPatch,
        variable::SetVariable,
    },
    prompt::compression::{
        material::CompressionScope,
        plan::{Aim, Outlook},
    },
    sizes,
};
use serde_json::json;

use crate::fixture::{add, clock, memory, new, put, run, settings, text};

/// None of its pieces of six characters stands anywhere else.
const SECRET: &str = "zqWOMBAT-yxQUOKKA-vuNUMBAT-tsBILBY";

/// A session in which the secret stands in long texts of every kind, from before it was known.
async fn told() -> Session {
    let master_keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let board = Board::new(memory(&clock()), Settings { master_keys, ..settings(&clock()) });
    let session = board.create(new("s")).await.unwrap();
    let long = |times: usize| format!("{SECRET} ").repeat(times);
    let call = ToolCall { id: "c1".into(), name: "look".into(), arguments: json!({"at": long(400)}) };
    let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "I look.") };
    let result = NewMessage { tool_call_id: Some("c1".to_owned()), ..NewMessage::text(Role::Tool, long(400)) };
    // The second is so long that it stands beside the journal.
    let said = [text(&long(400)), text(&long(3000)), calling, result, text(&format!("What of it? {}", long(200)))];
    run(&session, add("main", said.into())).await;
    run(&session, put("short", &long(300))).await;
    run(&session, put("long", &long(3000))).await;
    let task = json!({"task_id": 1, "description": long(40), "status": "pending", "notes": long(400)});
    let phase = json!({"phase_name": "all", "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": "g", "current_phase": "all", "phases": [phase]});
    run(&session, PutPlan { plan, reason: "begin".into(), expected_version: None }).await;
    session
}

async fn learn(session: &Session) {
    run(session, SetVariable::new("password".parse().unwrap(), json!(SECRET), None, "needed".into()).unwrap()).await;
}

/// The pieces of the secret that stand in a text.
fn pieces_in(text: &str) -> Vec<&'static str> {
    let pieces = (0..SECRET.len() - 5).map(|at| &SECRET[at..at + 6]);
    pieces.filter(|piece| text.contains(piece)).collect()
}

#[tokio::test]
async fn i6_no_piece_of_a_secret_is_left_where_a_prompt_shortens_what_was_said_before_it_was_known() {
    let session = told().await;
    run(&session, SessionPatch { share: Some(vec![Share::Plan]), ..SessionPatch::default() }).await;
    // What is kept of prompts from before is of no use any more.
    for known in [false, true] {
        for agent in ["lead", "writer"] {
            for layout in [LayoutName::Team, LayoutName::Plain, LayoutName::Director] {
                for (format, budget) in [(Format::Text, 4000), (Format::OpenAi, 5001), (Format::Anthropic, 9003)] {
                    let (agent, budget) = (agent.parse().ok(), Some(Tokens(budget)));
                    let spec = PromptSpec { agent, layout: Some(layout), format, budget, ..PromptSpec::default() };
                    let prompt = session.prompt(&spec).await.unwrap();
                    let body = json!(prompt.body).to_string();
                    assert!(prompt.tokens <= prompt.budget);
                    assert!(body.contains("shortened") || body.contains("left out"), "{body}");
                    let found = pieces_in(&body);
                    assert_eq!(found.is_empty(), known, "{:?} {layout:?} {format:?}: {found:?} in {body}", spec.agent);
                }
            }
        }
        learn(&session).await;
    }
}

#[tokio::test]
async fn i6_no_piece_of_a_secret_is_left_in_a_summary_that_is_made_of_excerpts() {
    let session = told().await;
    learn(&session).await;
    let aim = Aim { target: Tokens(2000), keep_recent: None };
    let outlook = session.plan_compression(&"main".parse().unwrap(), CompressionScope::default(), aim).await.unwrap();
    let Outlook::Compress(plan) = outlook else { panic!("{outlook:?}") };
    let summary = plan.extract(sizes()).unwrap();
    assert!(summary.text.contains("[hidden]"), "{}", summary.text);
    assert_eq!(pieces_in(&summary.text), Vec::<&str>::new(), "{}", summary.text);
    assert!(plan.needed.iter().all(|one| pieces_in(one).is_empty()), "{:?}", plan.needed);
}
