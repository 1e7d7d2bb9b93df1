//! What survives in long conversations: the facts of a task through compressions, the beginning of each prompt, which a
//! provider has in its cache, and the newest messages in a small window. All figures are the same on any machine.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use callboard_core::{
    command::Command,
    compression::{Compression, CompressionSettings},
    context_set::PutSet,
    conversation::{AddMessages, NewMessage, Role, ToolCall},
    count::Tokens,
    entry::Actor,
    id::{Seq, ThreadId},
    prompt::{Format, LayoutName},
    session::SessionPatch,
    step::StepsChange,
    variable::SetVariable,
};
use callboard_engine::{Board, MasterKey, PromptSpec, RecallSettings, Session, Settings, sizes};
use callboard_model::{ChatAnswer, ChatModel, ChatRequest, Finish, ModelError, OnDelta};
use callboard_prompt::compression::plan::Aim;
use callboard_run::{Compressing, Compressor, Extent};
use callboard_store::{MemoryStore, SystemClock};
use serde_json::{Value, json};

use crate::{
    Scale, board,
    report::{Goal, Report},
};

/// The first message of the user, and what in it must not be lost.
const TASK: &str = "Migrate the shop to Postgres 17. Begin with node_1234, write to /srv/tides/high.log, press \
                    #identifierNext, wait 250 ms, report to https://example.com/a?b=7, and never touch the table \
                    invoices.";
const OF_THE_TASK: [&str; 6] = [
    "node_1234",
    "/srv/tides/high.log",
    "#identifierNext",
    "250 ms",
    "https://example.com/a?b=7",
    "never touch the table invoices",
];

/// What is found on the way, two in each round. The question at its end names them again.
const FOUND: [&str; 6] =
    ["node_77", "/srv/tides/low.log", "#passwordNext", "840 ms", "https://example.org/c", "boat_12"];

/// The prompts of a loop have to fit in so much, and each loop has so many turns.
const BUDGET: Tokens = Tokens(8000);
const TURNS: usize = 100;

/// The windows that are small.
const SMALL_WINDOWS: [u64; 4] = [4000, 7000, 16_000, 32_000];

/// A budget in which all of a history fits.
const WHOLE: Tokens = Tokens(1 << 40);

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let recall = RecallSettings { quiet: None, ..RecallSettings::default() };
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let master_keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let board = Board::new(store, Settings { recall, sweep: None, master_keys, ..Settings::default() });
    for summarizer in ["good", "bad", "none"] {
        facts(&board, summarizer, scale, report).await?;
    }
    for kind in Loop::ALL {
        repeated(&board, kind, scale, report).await?;
    }
    for window in SMALL_WINDOWS {
        small_window(&board, window, report).await?;
    }
    board.close().await;
    Ok(())
}

/// How many facts are in the prompt after three rounds of talk and a compression each.
async fn facts(board: &Board, summarizer: &str, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let session = board::session(board, &format!("facts-{summarizer}")).await?;
    let model = (summarizer != "none").then(|| "openai:summarizer".to_owned());
    let compressor = Compressor { session: session.clone(), models: self::summarizer(summarizer != "bad") };
    // About 85 tokens each.
    let messages = scale.of(2100).max(600);
    let (mut number, mut talked) = (0, Tokens(0));
    say(&session, &Actor::User, vec![NewMessage::text(Role::User, TASK)]).await?;
    for found in FOUND.chunks(2) {
        let found = found.join(" and ");
        let writer = Actor::Agent("writer".parse()?);
        say(&session, &writer, vec![NewMessage::text(Role::Ai, format!("I came upon {found}."))]).await?;
        for first in (0..messages).step_by(500) {
            let count = (messages - first).min(500);
            let talk = (number..number + count).map(|number| NewMessage::text(Role::Ai, board::text(number)));
            say(&session, &writer, talk.collect()).await?;
            number += count;
        }
        let question = NewMessage::text(Role::User, format!("What of {found}?"));
        say(&session, &Actor::User, vec![question]).await?;
        talked = compress(&compressor, Tokens(20_000), model.clone()).await?.tokens_before;
    }
    let prompt = session.prompt(&spec(WHOLE)).await?.text();
    // The newest question is no place in which something survives.
    let (before, _) = prompt.split_once("<CURRENT_TASK>").unwrap_or((prompt.as_str(), ""));
    let kept = |facts: &[&str]| facts.iter().filter(|fact| before.contains(**fact)).count();
    let (task, found) = (kept(&OF_THE_TASK), kept(&FOUND));
    let measured = format!("and {found} of {} that were found on the way; {talked} tokens a round", FOUND.len());
    let what = format!("facts of the task after three rounds, of {}; model: {summarizer}", OF_THE_TASK.len());
    report.promised(what, task as f64, Goal::AtLeast(OF_THE_TASK.len() as f64), measured);
    Ok(())
}

/// A model that answers at once with what this makes of a request.
pub(crate) struct Answering<F>(pub(crate) F);

#[async_trait]
impl<F: Fn(&ChatRequest) -> String + Send + Sync> ChatModel for Answering<F> {
    async fn chat(&self, request: &ChatRequest, _: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let text = (self.0)(request);
        let (reasoning, tool_calls, usage, finish) = (Vec::new(), Vec::new(), None, Finish::Stop);
        Ok(ChatAnswer { text, reasoning, tool_calls, pieces: Vec::new(), usage, finish })
    }
}

/// A model that writes summaries: good ones, or bad ones in turns.
fn summarizer(is_good: bool) -> Arc<dyn ChatModel> {
    let asked = AtomicUsize::default();
    Arc::new(Answering(move |request: &ChatRequest| {
        let said = Value::from(request.messages.clone()).to_string();
        let known: Vec<&str> = FOUND.into_iter().filter(|fact| said.contains(fact)).collect();
        match asked.fetch_add(1, Ordering::Relaxed) % 4 {
            _ if is_good => {
                format!("They talk of tides and of vessels in the harbour. Known so far: {}.", known.join(", "))
            }
            0 => "   ".to_owned(),
            1 => "word ".repeat(40_000),
            2 => "Sure! Let me continue.".to_owned(),
            _ => "I’m sorry, but I can't help with that.".to_owned(),
        }
    }))
}

/// How an agent works, turn by turn.
#[derive(Clone, Copy, Debug)]
enum Loop {
    /// The user asks, and the agent answers.
    Talk,
    /// The agent calls one tool after the other.
    Calls,
    /// The same in a team with steps, which note each use.
    Steps,
    /// A context set changes before each question.
    Sets,
    /// A director, of whose variables one changes before each question.
    Director,
}

impl Loop {
    const ALL: [Self; 5] = [Self::Talk, Self::Calls, Self::Steps, Self::Sets, Self::Director];

    /// What is said and done before the prompt of a turn.
    async fn before(self, session: &Session, turn: usize) -> anyhow::Result<()> {
        if matches!(self, Self::Calls | Self::Steps) {
            let name = if turn.is_multiple_of(2) { "look_up" } else { "note" };
            if matches!(self, Self::Steps) {
                execute(session, StepsChange::UseTool(name.into())).await?;
            }
            let id = format!("call{turn}");
            let call = ToolCall { id: id.clone(), name: name.to_owned(), arguments: json!({"boat": turn}) };
            let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "I look.") };
            let result = NewMessage { tool_call_id: Some(id), ..NewMessage::text(Role::Tool, board::text(turn)) };
            return say(session, &Actor::User, vec![calling, result]).await;
        }
        match self {
            Self::Sets => {
                let content = format!("So far there are {turn} lines.");
                execute(session, PutSet::new("Score".parse()?, content)).await?;
            }
            Self::Director => {
                let value = json!({"inbox": turn});
                execute(session, SetVariable::new("mails".parse()?, value, None, "measured".into())?).await?;
            }
            Self::Talk | Self::Calls | Self::Steps => {}
        }
        say(session, &Actor::User, vec![NewMessage::text(Role::User, board::text(turn))]).await
    }

    /// What the agent says then, where it has not called a tool.
    async fn after(self, session: &Session, turn: usize) -> anyhow::Result<()> {
        if matches!(self, Self::Calls | Self::Steps) {
            return Ok(());
        }
        let answer = NewMessage::text(Role::Ai, board::text(TURNS + turn));
        say(session, &Actor::Agent("lead".parse()?), vec![answer]).await
    }
}

/// How much of each prompt repeats the one before, where nothing is compressed and the history is cut.
async fn repeated(board: &Board, kind: Loop, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let name = format!("{kind:?}").to_lowercase();
    let session = board::session(board, &format!("loop-{name}")).await?;
    let mut settings = json!({"prompt": {"changing_parts_last": true}});
    if matches!(kind, Loop::Steps)
        && let Some(settings) = settings.as_object_mut()
    {
        settings.insert("steps".to_owned(), json!([{"name": "work", "is_default": true}]));
    }
    execute(&session, serde_json::from_value::<SessionPatch>(settings)?).await?;
    say(&session, &Actor::User, vec![NewMessage::text(Role::User, TASK)]).await?;
    let layout = matches!(kind, Loop::Director).then_some(LayoutName::Director);
    let spec = PromptSpec { format: Format::OpenAi, layout, ..spec(BUDGET) };
    let (mut last, mut same, mut all, mut anew) = (String::new(), 0, 0, 0);
    let turns = scale.of(TURNS);
    for turn in 0..turns {
        kind.before(&session, turn).await?;
        let prompt = serde_json::to_string(&session.prompt(&spec).await?.body)?;
        if turn > 0 {
            let common = last.bytes().zip(prompt.bytes()).take_while(|(a, b)| a == b).count();
            (same, all) = (same + common, all + prompt.len());
            anew += usize::from(common * 10 < last.len() * 6);
        }
        last = prompt;
        kind.after(&session, turn).await?;
    }
    let share = same as f64 / all.max(1) as f64 * 100.0;
    let what = format!("what of a prompt repeats the one before, in a loop of {name}");
    report.noted(what, format!("{share:.0} % in {turns} turns; {anew} prompts repeat less than 60 % of it"));
    Ok(())
}

/// What stands word for word after the first compression in a small window.
async fn small_window(board: &Board, window: u64, report: &mut Report) -> anyhow::Result<()> {
    let session = board::session(board, &format!("window-{window}")).await?;
    let thresholds = CompressionSettings::default().thresholds(Tokens(window));
    let lead = Actor::Agent("lead".parse()?);
    let mut said: usize = 0;
    // The user has the last word.
    while said.is_multiple_of(2) || session.prompt(&spec(WHOLE)).await?.tokens < thresholds.compress {
        let (by, role) = if said.is_multiple_of(2) { (&Actor::User, Role::User) } else { (&lead, Role::Ai) };
        say(&session, by, vec![NewMessage::text(role, board::text(said))]).await?;
        said += 1;
    }
    let compressor = Compressor { session: session.clone(), models: summarizer(true) };
    let done = compress(&compressor, thresholds.target, None).await?;
    let prompt = session.prompt(&spec(Tokens(window))).await?.text();
    let (before, rest) = prompt.split_once("<CONVERSATION_SUMMARY").unwrap_or((prompt.as_str(), ""));
    let (_, behind) = rest.split_once("</CONVERSATION_SUMMARY>").unwrap_or(("", rest));
    let (history, _) = behind.split_once("<CURRENT_TASK>").unwrap_or((behind, ""));
    let stands = |text: &String| before.contains(text.as_str()) || history.contains(text.as_str());
    let whole: Vec<String> = (0..said).map(board::text).filter(stands).collect();
    let tokens: Tokens = whole.iter().map(|text| sizes().count(text)).sum();
    let Compression { tokens_before, tokens_after, .. } = done;
    let what = format!("word for word after a compression in a window of {window} tokens");
    let measured = format!("{tokens} tokens in {} messages; {tokens_before} became {tokens_after}", whole.len());
    report.noted(what, measured);
    Ok(())
}

/// Compresses the main thread.
pub(crate) async fn compress(
    compressor: &Compressor,
    target: Tokens,
    model: Option<String>,
) -> anyhow::Result<Compression> {
    let wanted = Compressing {
        thread: ThreadId::main(),
        aim: Aim { target, keep_recent: None },
        model,
        by: Actor::User,
        extent: Extent::Record,
        default_model: None,
        layout: None,
        behind: Seq::ZERO,
    };
    let done = compressor.compress(wanted).await?;
    anyhow::ensure!(done.seq.is_some(), "there was nothing to compress");
    Ok(done)
}

fn spec(budget: Tokens) -> PromptSpec {
    PromptSpec { budget: Some(budget), recall: Some(false), ..PromptSpec::default() }
}

async fn say(session: &Session, by: &Actor, messages: Vec<NewMessage>) -> anyhow::Result<()> {
    session.execute(by.clone(), AddMessages { thread: ThreadId::main(), messages }).await?;
    Ok(())
}

async fn execute(session: &Session, command: impl Command) -> anyhow::Result<()> {
    session.execute(Actor::User, command).await?;
    Ok(())
}
