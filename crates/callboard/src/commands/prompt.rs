//! `callboard prompt`.

use callboard_api as api;
use callboard_engine::{
    core::{
        agent::AgentRole,
        count::{Counting, Tokens},
        id::{AgentName, Seq, ThreadId},
        prompt::LayoutName,
    },
    prompt::PartReport,
};
use clap::Args;
use serde_json::json;

use super::Context;
use crate::{
    cli::{ActingAs, On},
    client::OnSession,
    failure::Failure,
    output::{Output, joined},
    parse,
};

/// Which parts a prompt has, in which order.
const LAYOUTS: [(&str, &str); 3] = [
    ("team", "The team and its shared context sets, what was said, the task"),
    ("plain", "The agent's instructions, shared context sets, what was said, the task; nothing about the team"),
    ("director", "The director's rules, the plan, the workflow, its variables, the browser's tabs, the conversation"),
];

/// The forms of a prompt.
const FORMATS: [(&str, &str); 4] = [
    ("text", "One text"),
    ("openai", "The messages of an OpenAI chat completion"),
    ("responses", "The instructions and items of OpenAI's Responses API"),
    ("anthropic", "The messages of Anthropic's Messages API, with its system"),
];

/// Build an agent's prompt, now or as of an earlier entry
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard prompt critic\n  callboard prompt critic --at 12 --format openai\n  callboard prompt --budget 4000 --model openai:gpt-4o-mini\n  callboard prompt --layout director\n\nThe prompt is printed to the standard output, the table of its parts to the standard error."
)]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) on: On,
    /// The agent (default: the manager, or the only agent)
    #[arg(value_name = "AGENT", conflicts_with = "agent")]
    pub(crate) named_agent: Option<AgentName>,
    /// The agent
    #[arg(long, value_name = "AGENT", hide = true)]
    pub(crate) agent: Option<AgentName>,
    /// The thread (default: where the agent was spoken to last, else main)
    #[arg(short, long, value_name = "THREAD")]
    pub(crate) thread: Option<ThreadId>,
    /// Build it as of this entry
    #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
    pub(crate) at: Option<Seq>,
    /// The largest size of the prompt, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) budget: Option<u64>,
    /// The model that reads it; tokens are counted in its vocabulary
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The layout: which parts the prompt has (default: those that the session lists, else team)
    #[arg(long, value_parser = parse::one_of::<LayoutName>(parse::explained(LAYOUTS)))]
    pub(crate) layout: Option<LayoutName>,
    /// Show passages that recall finds in all that was ever said
    #[arg(long, overrides_with = "no_recall")]
    pub(crate) recall: bool,
    /// Show no passages from recall
    #[arg(long)]
    pub(crate) no_recall: bool,
    /// What recall looks for (default: the task, and what the newest messages name)
    #[arg(long, value_name = "QUESTION")]
    pub(crate) query: Option<String>,
    /// The format: one text, or the messages of a provider's API
    #[arg(long, default_value = "text", value_parser = parse::one_of::<api::Format>(parse::explained(FORMATS)))]
    pub(crate) format: api::Format,
}

pub(super) async fn prompt(context: &Context, args: Prompt) -> Result<(), Failure> {
    // Where the agent was spoken to is looked for with other eyes.
    let session = context.session_on(&On { acting_as: ActingAs::default(), ..args.on.clone() }).await?;
    let recall = match (args.recall, args.no_recall) {
        (false, false) => args.query.is_some().then_some(true),
        (recall, _) => Some(recall),
    };
    let Prompt { on, agent, named_agent, thread, layout, model, budget, at, query, format, .. } = args;
    let agent = named_agent.or(agent).or_else(|| on.acting_as.agent.clone());
    let thread = match (&agent, thread) {
        (Some(agent), None) => {
            let last = spoken_to(&session, agent, at).await?;
            last.map(|(thread, seq)| {
                context.output.note(format!("thread {thread}: {agent} was spoken to there last (entry {seq})"));
                thread
            })
        }
        (_, thread) => thread,
    };
    let (budget, other) = (budget.map(Tokens), api::PromptBody::default());
    let body = api::PromptBody { agent, thread, layout, model, budget, at, recall, query, format, ..other };
    session.post(&["prompt"], &body).maybe("as", on.acting_as.agent).print(context.output, show).await
}

/// How many of the newest messages of a thread are looked at.
const LOOKED_AT: usize = 50;

/// The thread in which somebody else spoke to a worker last, and the entry. In a team with a manager, `main` is between the
/// manager and the user. `None` if nobody has spoken to it, and for the manager.
async fn spoken_to(
    session: &OnSession<'_>,
    agent: &AgentName,
    at: Option<Seq>,
) -> Result<Option<(ThreadId, Seq)>, Failure> {
    let team = session.get(&[]).answer::<api::Session>().await?.it.agents;
    let manager = team.iter().find(|it| it.role == AgentRole::Manager);
    if manager.is_some_and(|manager| manager.name == *agent) {
        return Ok(None);
    }
    // With its own eyes.
    let threads = match session.get(&["threads"]).query("as", agent).answer::<api::ThreadList>().await {
        Ok(threads) => threads.it.threads,
        // Whoever may not look with this agent's eyes gets the thread that the server takes.
        Err(failure) if failure.problem.code == "forbidden" => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let mut last: Option<(ThreadId, Seq)> = None;
    for thread in threads.into_iter().filter(|thread| manager.is_none() || thread.name != ThreadId::main()) {
        let call = session.get(&["threads", thread.name.as_str(), "messages"]).query("as", agent);
        // As of an earlier entry, the messages up to it may be far from the newest.
        let call = call.maybe("limit", at.is_none().then_some(LOOKED_AT));
        let messages = call.answer::<api::MessageList>().await?.it.messages;
        let by_others = messages.iter().filter(|message| message.agent.as_ref() != Some(agent));
        let seq = by_others.map(|message| message.seq).filter(|seq| at.is_none_or(|at| *seq <= at)).max();
        if let Some(seq) = seq.filter(|seq| last.as_ref().is_none_or(|(_, last)| seq > last)) {
            last = Some((thread.name, seq));
        }
    }
    Ok(last)
}

pub(super) fn show(prompt: &api::Prompt, output: Output) {
    if let Some(text) = &prompt.text {
        output.write(text);
    }
    if let (Some(instructions), Some(input)) = (&prompt.instructions, &prompt.input) {
        output.json(&json!({"instructions": instructions, "input": input}));
    }
    match (&prompt.system, &prompt.messages) {
        (Some(system), Some(messages)) => output.json(&json!({"system": system, "messages": messages})),
        (None, Some(messages)) => output.json(messages),
        (_, None) => {}
    }
    let row = |part: &PartReport| {
        let omitted = match (part.omitted.as_slice(), part.shortened) {
            ([], false) => String::new(),
            ([], true) => "shortened".to_owned(),
            (names, _) => format!("omitted: {}", names.join(", ")),
        };
        vec![part.name.clone(), part.tokens.to_string(), omitted]
    };
    let mut rows: Vec<_> = prompt.parts.iter().map(row).collect();
    let counted = match prompt.counting {
        Counting::Exact => format!("of {}, exact in {}", prompt.budget, prompt.vocabulary),
        Counting::Estimated => format!("of {}, estimated", prompt.budget),
        Counting::UpperBound => format!("of {}, an upper bound", prompt.budget),
    };
    rows.push(vec!["all".to_owned(), prompt.tokens.to_string(), counted]);
    output.note_table(&["PART", "TOKENS", ""], &rows);
    if !prompt.rewritten.is_empty() {
        output.note(format!("a secret was hidden in entries: {}", joined(&prompt.rewritten)));
    }
    if !prompt.erased.is_empty() {
        output.note(format!("erased entries: {}", joined(&prompt.erased)));
    }
}
