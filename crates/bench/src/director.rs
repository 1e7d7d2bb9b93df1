//! What a director costs: its prompt after a change, hiding secrets in a long text, and compressing without a model.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use callboard_core::{
    compression::Method,
    conversation::{AddMessages, NewMessage, Role},
    count::Tokens,
    entry::Actor,
    id::ThreadId,
    plan::PutPlan,
    prompt::LayoutName,
    variable::{SetVariable, display},
    view::View,
    viewer::Viewer,
    workflow::PutWorkflow,
};
use callboard_engine::{Board, MasterKey, PromptSpec, Session, Settings, sizes};
use callboard_model::ChatRequest;
use callboard_prompt::compression::plan::{Aim, Outlook};
use callboard_run::Compressor;
use callboard_store::{Durability, SqliteStore};
use serde_json::{Map, Value, json};

use crate::{
    Scale, board,
    report::{Goal, Report},
    rounds,
    survive::{Answering, compress},
    timing::{median, millis, ms, percentile},
};

/// How often each is measured.
const TIMES: usize = 40;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = callboard_store::Settings { durability: Durability::Normal, ..Default::default() };
    let store = Arc::new(SqliteStore::open(folder.path().join("callboard.db"), store)?);
    let master_keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let board = Board::new(store, Settings { sweep: None, master_keys, ..Default::default() });
    prompt(&board, scale, report).await?;
    long_variable(&board, report).await?;
    secrets(&board, scale, report).await?;
    compression(&board, scale, report).await?;
    compression_by_a_model(&board, scale, report).await?;
    board.close().await;
    Ok(())
}

/// The prompt of a director after a change of one variable.
async fn prompt(board: &Board, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (variables, nodes, messages) = (200, 100, scale.of(100_000));
    let session = board::session(board, "director").await?;
    board::fill(&session, messages).await?;
    for number in 0..variables {
        let value = json!({"subject": board::text(number), "number": number});
        set(&session, &format!("node{number}.mail"), value).await?;
    }
    session.execute(Actor::User, PutPlan { plan: plan(), reason: "begin".into(), expected_version: None }).await?;
    let node = |number| {
        let config =
            json!({"action": "type", "text": format!("{{{{node{number}.mail}}}}"), "selector": board::text(number)});
        json!({"type": "browser_action", "description": board::text(number), "config": config})
    };
    let nodes_of_it = (1..=nodes).map(node).collect::<Vec<_>>().into();
    let workflow = PutWorkflow { nodes: nodes_of_it, ..PutWorkflow::default() };
    session.execute(Actor::User, workflow).await?;
    let query = PromptSpec {
        agent: "lead".parse().ok(),
        model: Some("gpt-4o".to_owned()),
        budget: Some(Tokens(180_000)),
        layout: Some(LayoutName::Director),
        ..PromptSpec::default()
    };
    session.prompt(&query).await?;
    let mut times = Vec::new();
    for number in 0..TIMES {
        set(&session, "counter", json!(number)).await?;
        let start = Instant::now();
        let prompt = session.prompt(&query).await?;
        times.push(start.elapsed());
        anyhow::ensure!(prompt.text().contains(&format!("counter = {number}")), "the prompt shows an old value");
    }
    let what =
        format!("prompt of a director, {variables} variables, {nodes} nodes and {messages} messages: again, in ms");
    promised(report, what, &times, 2.0);
    Ok(())
}

/// The line that shows a long value: when the value is set, and whenever it is shown later.
async fn long_variable(board: &Board, report: &mut Report) -> anyhow::Result<()> {
    let value = json!({"rows": (0..25_000).map(board::text).collect::<Vec<_>>()});
    let times: Vec<_> = (0..TIMES)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(display(&value));
            start.elapsed()
        })
        .collect();
    promised(report, "display of a variable of 10 MB, in ms".to_owned(), &times, 5.0);

    let session = board::session(board, "long").await?;
    set(&session, "page", value).await?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let start = Instant::now();
        let state = session.state().await?;
        let view = View::new(&state, &Viewer::User, sizes())?;
        let shown: usize = view.variables().map(|variable| variable.display.len()).sum();
        times.push(start.elapsed());
        anyhow::ensure!(shown > 100, "the variable is not shown");
    }
    promised(report, "display of the same variable: again, in ms".to_owned(), &times, 0.1);
    Ok(())
}

/// How much longer it takes to add a long message where many secrets are known.
async fn secrets(board: &Board, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let many = scale.of(10_000);
    let (plain, sealed) = (board::session(board, "plain").await?, board::session(board, "sealed").await?);
    let secret = |number: usize| format!("s3cr3t-{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for first in (0..many).step_by(500) {
        let of_part = (first..many.min(first + 500))
            .map(|number| (format!("api_key_{number}"), json!({"token": secret(number)})));
        set(&sealed, &format!("keys{first}"), Value::Object(of_part.collect::<Map<_, _>>())).await?;
    }
    let text: String = (0..2_600).map(board::text).collect();
    let add = async |session: &Session, number: usize| -> anyhow::Result<Duration> {
        let message = NewMessage::text(Role::User, format!("{number} {text}"));
        let command = AddMessages { thread: ThreadId::main(), messages: vec![message] };
        let start = Instant::now();
        session.execute(Actor::User, command).await?;
        Ok(start.elapsed())
    };
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..TIMES {
        for (session, times) in [&plain, &sealed].into_iter().zip(&mut times) {
            times.push(add(session, number).await?);
        }
    }
    let [plain, sealed] = times.map(|times| median(&times));
    let more = sealed.saturating_sub(plain);
    let measured = format!("{} ms with {many} secrets − {} ms with none", millis(sealed), millis(plain));
    report.promised("hiding secrets in a message of 1 MB, in ms", ms(more), Goal::AtMost(10.0), measured);
    Ok(())
}

/// Compressing a full conversation without a model.
async fn compression(board: &Board, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let session = board::session(board, "full").await?;
    // About 85 tokens each.
    board::fill(&session, scale.of(2_200).max(600)).await?;
    let aim = Aim { target: Tokens(20_000), keep_recent: None };
    let mut times = Vec::new();
    let mut before = Tokens(0);
    for _ in 0..10 {
        let start = Instant::now();
        let Outlook::Compress(plan) = session.plan_compression(&ThreadId::main(), Default::default(), aim).await?
        else {
            anyhow::bail!("there is nothing to compress");
        };
        let summary = plan.extract(sizes())?;
        times.push(start.elapsed());
        before = plan.tokens_before;
        anyhow::ensure!(summary.tokens_after <= aim.target, "the summary is too long");
    }
    promised(report, format!("compressing {before} tokens without a model, in ms"), &times, 300.0);
    Ok(())
}

/// How many tokens a second a fast model writes.
const TOKENS_A_SECOND: f64 = 200.0;

/// What compressing by a model takes besides the time that the model writes.
async fn compression_by_a_model(board: &Board, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let summary: String = (0..150).map(board::text).collect();
    let writing = sizes().count(&summary).0 as f64 / TOKENS_A_SECOND * 1000.0;
    let mut shares = Vec::new();
    for number in 0..5 {
        let session = board::session(board, &format!("by-a-model-{number}")).await?;
        board::fill(&session, scale.of(2_200).max(600)).await?;
        let summary = summary.clone();
        let compressor = Compressor { session, models: Arc::new(Answering(move |_: &ChatRequest| summary.clone())) };
        let start = Instant::now();
        let done = compress(&compressor, Tokens(20_000), Some("openai:writer".to_owned())).await?;
        shares.push(ms(start.elapsed()));
        anyhow::ensure!(done.method == Method::Model, "the summary of the model was not taken: {:?}", done.reason);
    }
    let median = rounds::median(shares);
    let measured =
        format!("{median:.1} ms beside the {writing:.0} ms in which {TOKENS_A_SECOND} tokens a second are written");
    report.promised(
        "compressing by a model: more than its own time, in %",
        median / writing * 100.0,
        Goal::AtMost(1.0),
        measured,
    );
    Ok(())
}

fn promised(report: &mut Report, what: String, times: &[Duration], most: f64) {
    let measured = format!("median of {}; 95 of 100 within {} ms", times.len(), millis(percentile(times, 95)));
    report.promised(what, ms(median(times)), Goal::AtMost(most), measured);
}

async fn set(session: &Session, name: &str, value: Value) -> anyhow::Result<()> {
    let command = SetVariable::new(name.parse()?, value, None, "measured".into())?;
    session.execute(Actor::User, command).await?;
    Ok(())
}

/// A plan of five phases with eight tasks each.
fn plan() -> Value {
    let task = |id: usize| json!({"task_id": id, "description": board::text(id), "status": "pending"});
    let phase = |number: usize| {
        json!({
            "phase_name": format!("Phase {number}"),
            "status": "pending",
            "tasks": (0..8).map(|at| task(number * 8 + at)).collect::<Vec<_>>(),
        })
    };
    let phases: Vec<Value> = (0..5).map(phase).collect();
    json!({"overall_goal": "Measure", "current_phase": "Phase 0", "phases": phases})
}
