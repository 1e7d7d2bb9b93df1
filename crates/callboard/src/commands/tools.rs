//! `callboard tools`.

use callboard_api as api;
use callboard_engine::core::json::in_words;
use clap::Subcommand;
use serde_json::Value;

use super::Context;
use crate::{cli::On, failure::Failure, output::Output, terminal};

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List the tools that an agent may use
    #[command(after_help = "Example:\n  callboard tools list --as writer")]
    List(On),
    /// Call a tool as an agent and print what its model would be told
    #[command(
        after_help = "Examples:\n  callboard tools call read_messages '{\"limit\": 5}' --as writer\n  callboard tools call write_context_set - < arguments.json"
    )]
    Call {
        #[command(flatten)]
        on: On,
        /// The tool
        tool: String,
        /// The arguments as JSON, or - for the standard input (default: none)
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
}

pub(super) async fn execute(context: &Context, command: Tools) -> Result<(), Failure> {
    match command {
        Tools::List(on) => context.get(&on, &["tools"]).await?.print(context.output, table).await,
        Tools::Call { on, tool, arguments } => {
            let arguments = arguments.map(|text| read(&text)).transpose()?.unwrap_or_default();
            let call = context.post(&on, &["tools", &tool], &api::ToolCallBody { agent: None, arguments }).await?;
            let told = call.answer::<api::ToolCallResult>().await?;
            if told.it.is_error {
                let why = told.it.result;
                let bare = why.strip_prefix("[not done: ").and_then(|why| why.strip_suffix(']'));
                return Err(Failure::failed("tool_failed", bare.unwrap_or(&why)));
            }
            told.print(context.output, |told, output| output.line(&told.result));
            Ok(())
        }
    }
}

fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(&terminal::text(text)?).map_err(|error| {
        Failure::usage("invalid", format!("the arguments are not JSON: {}", in_words(&error.to_string())))
            .hint("write for instance '{\"limit\": 5}'")
    })
}

fn table(list: &api::ToolList, output: Output) {
    let cell = |tool: &Value, field: &str| {
        tool.pointer(&format!("/function/{field}")).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let row = |tool: &Value| vec![cell(tool, "name"), cell(tool, "description")];
    output.list(&["TOOL", ""], list.tools.iter().map(row), "tools");
}
