//! How a director's work is shown: what it says as it says it, each call of a tool in one line with its result in short, and the
//! plan when it changes.

use callboard_api as api;
use callboard_engine::core::{
    compression::{Compressed, facts::ContextWarned},
    conversation::{Message, Role, ToolCall},
    id::ThreadId,
    plan::Plan,
    text::first_chars,
};
use serde::Deserialize;
use serde_json::from_str;

use super::super::{plan::show::todo, watch};
use crate::output::{Output, Style};

/// How many characters of a call, and of its result, are shown.
const SHORT: usize = 90;

/// How the whole of a long text is read.
const READ_WITH: &str = "`callboard messages`";

/// Prints entries and pieces of answers.
pub(super) struct Show {
    output: Output,
    /// Whether the answer that comes next was streamed to the screen.
    was_streamed: bool,
    /// The calls whose results are not shown yet.
    calls: Vec<ToolCall>,
}

/// The parts of an entry that are shown.
#[derive(Deserialize)]
struct Planned {
    plan: Plan,
    version: u64,
}

impl Show {
    pub(super) fn new(output: Output) -> Self {
        Self { output, was_streamed: false, calls: Vec::new() }
    }

    fn message(&mut self, message: Message) {
        let is_main = message.thread_id == ThreadId::main();
        match message.role {
            Role::Ai if is_main => {
                let was_streamed = std::mem::take(&mut self.was_streamed);
                let said = watch::content(&message.content, READ_WITH);
                if !was_streamed && !said.trim().is_empty() {
                    self.output.line(said.trim_end());
                }
                self.calls.extend(message.tool_calls);
            }
            Role::Ai => {
                let scout = message.thread_id.as_str().replace(':', " ");
                for call in &message.tool_calls {
                    self.output.painted(Style::Quiet, format!("    {scout}: {}", in_short(call)));
                }
            }
            Role::Tool if is_main => {
                let at = self.calls.iter().position(|call| Some(&call.id) == message.tool_call_id.as_ref());
                let call = at.map(|at| in_short(&self.calls.remove(at))).unwrap_or_default();
                let result = short(&watch::content(&message.content, READ_WITH));
                self.output.line(format!("  {} → {result}", self.output.paint(Style::Name, call)));
            }
            Role::Tool | Role::User | Role::System => {}
        }
    }
}

impl watch::Show for Show {
    fn piece(&mut self, piece: &api::Delta, _: bool) {
        self.output.write(&piece.text);
        self.was_streamed = true;
    }

    fn entry(&mut self, entry: &api::Entry) -> serde_json::Result<()> {
        let data: &str = &entry.data;
        let output = self.output;
        match &*entry.kind {
            "message.added" => self.message(from_str(data)?),
            "plan.updated" => {
                let Planned { plan, version } = from_str(data)?;
                output.painted(Style::Quiet, format!("\nplan, version {version}"));
                todo(&plan, output);
                output.line("");
            }
            "conversation.compressed" => {
                let Compressed { messages, tokens_before, tokens_after, .. } = from_str(data)?;
                let told = format!("  compressed {messages} messages: from {tokens_before} to {tokens_after} tokens");
                output.painted(Style::Quiet, told);
            }
            "context.warned" => {
                let ContextWarned { tokens, compress_at, .. } = from_str(data)?;
                let told = format!("  the context has {tokens} tokens; it is compressed at {compress_at}");
                output.painted(Style::Quiet, told);
            }
            "turn.failed" => self.was_streamed = false,
            "run.paused" => from_str::<watch::Paused>(data)?.show(output),
            _ => {}
        }
        Ok(())
    }
}

/// A call in one line.
fn in_short(call: &ToolCall) -> String {
    short(&format!("{} {}", call.name, call.arguments_text()))
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    first_chars(&text.split_whitespace().collect::<Vec<_>>().join(" "), SHORT)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn what_is_long_is_shown_in_one_short_line() {
        assert_eq!(short("a\n  b"), "a b");
        assert_eq!(short(&"x".repeat(91)), format!("{}…", "x".repeat(90)));
    }
}
