//! `callboard prompt`.

use callboard_engine::{
    PromptInfo, PromptQuery,
    core::{
        count::{Counting, Tokens},
        prompt::{Body, Format},
    },
};

use super::Context;
use crate::{
    cli::{self, PromptFormat},
    config,
    failure::Failure,
    output::Output,
};

pub(super) async fn prompt(context: &Context, args: cli::Prompt) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let format = match args.format {
        PromptFormat::Text => Format::Text,
        PromptFormat::Openai => Format::OpenAi,
        PromptFormat::Anthropic => Format::Anthropic,
    };
    let query = PromptQuery {
        agent: args.agent,
        thread: args.thread,
        model: args.model,
        budget: args.budget.map(Tokens),
        at: args.at,
        format,
        ..PromptQuery::default()
    };
    let query = PromptQuery { model: query.model.or_else(config::default_model), ..query };
    let prompt = PromptInfo::from(session.prompt(&query).await?);
    context.output.answer(&prompt, |output| show(&prompt, output));
    Ok(())
}

fn show(prompt: &PromptInfo, output: Output) {
    match &prompt.body {
        Body::Text(text) => output.write(text),
        Body::Messages(messages) => output.json(messages),
        body @ Body::Anthropic { .. } => output.json(body),
    }
    let row = |part: &callboard_engine::core::prompt::PartReport| {
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
