//! `callboard prompt`.

use callboard_api as api;
use callboard_engine::core::{
    count::{Counting, Tokens},
    prompt::PartReport,
};
use serde_json::json;

use super::Context;
use crate::{
    cli::{self, PromptFormat},
    failure::Failure,
    output::Output,
};

pub(super) async fn prompt(context: &Context, args: cli::Prompt) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let format = match args.format {
        PromptFormat::Text => api::Format::Text,
        PromptFormat::Openai => api::Format::OpenAi,
        PromptFormat::Anthropic => api::Format::Anthropic,
    };
    let cli::Prompt { agent, thread, model, budget, at, .. } = args;
    let budget = budget.map(Tokens);
    let wanted = api::PromptBody { agent, thread, model, budget, at, format, ..api::PromptBody::default() };
    let prompt = session.post(&["prompt"], &wanted).answer::<api::Prompt>().await?;
    context.output.answer(&prompt.json, |output| show(&prompt.it, output));
    Ok(())
}

fn show(prompt: &api::Prompt, output: Output) {
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
