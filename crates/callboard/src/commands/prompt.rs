//! `callboard prompt`.

use callboard_engine::core::{
    count::Counting,
    id::{AgentName, Seq, ThreadId},
    prompt::PartReport,
};
use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::{
    answers::Prompt,
    cli::{self, PromptFormat},
    failure::Failure,
    output::Output,
};

/// Which prompt is wanted.
#[derive(Serialize)]
struct Wanted {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<ThreadId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Seq>,
    format: &'static str,
}

pub(super) async fn prompt(context: &Context, args: cli::Prompt) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let format = match args.format {
        PromptFormat::Text => "text",
        PromptFormat::Openai => "openai",
        PromptFormat::Anthropic => "anthropic",
    };
    let cli::Prompt { agent, thread, model, budget, at, .. } = args;
    let wanted = Wanted { agent, thread, model, budget, at, format };
    let prompt = session.post(&["prompt"], &wanted).answer::<Prompt>().await?;
    context.output.answer(&prompt.json, |output| show(&prompt.it, output));
    Ok(())
}

fn show(prompt: &Prompt, output: Output) {
    if let Some(text) = &prompt.text {
        output.write(text);
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
            (names, _) => format!("left out: {}", names.join(", ")),
        };
        vec![part.name.clone(), part.tokens.to_string(), omitted]
    };
    let mut rows: Vec<_> = prompt.parts.iter().map(row).collect();
    let counted = match prompt.counting {
        Counting::Exact => format!("of {}, exact in {}", prompt.budget, prompt.vocabulary),
        Counting::UpperBound => format!("of {}, at the most", prompt.budget),
    };
    rows.push(vec!["all".to_owned(), prompt.tokens.to_string(), counted]);
    output.note_table(&["PART", "TOKENS", ""], &rows);
}
