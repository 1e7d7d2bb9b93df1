//! The tools of models for finding things again.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::recall::Source;
use crate::{
    error::Error,
    id::ThreadId,
    tool::{OwnTool, Read, ToolExecution, parse, text},
};

/// How much is found where the model does not say.
const HITS: usize = 8;
/// How much is found at most.
const MAX_HITS: usize = 50;

/// What a model asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallAsked {
    /// The question, or the words that must be there.
    pub text: String,
    /// The most passages.
    pub limit: usize,
    /// Only messages of this thread.
    pub thread: Option<ThreadId>,
    /// Only from these sources; from all where it is empty.
    pub sources: Vec<String>,
}

/// Finds what answers a question.
pub(crate) static RECALL: OwnTool = OwnTool {
    name: "recall",
    description: "Finds passages that answer a question in all that was ever said here, also what you are no longer shown: \
        messages, results of tools, context sets, the plan, variables, files and documents. Ask with names, dates and the \
        words that the answer may have.",
    idempotent: true,
    execution: ToolExecution::Read(|_, arguments| {
        let Question { query, limit, thread, sources } = parse(arguments)?;
        Ok(Read::Recall(asked(query, "/arguments/query", limit, thread, sources)?))
    }),
    is_for: |_| true,
    arguments: || {
        let words = Source::ALL.map(Source::as_str);
        let properties = json!({
            "query": text("The question, in words."),
            "limit": limit_schema(),
            "thread": text("Only what was said in this thread."),
            "sources": {"type": "array", "items": {"type": "string"},
                "description": format!("Of {}; all by default.", words.join(", "))},
        });
        (properties, json!(["query"]))
    },
};

/// Finds where words stand.
pub(crate) static SEARCH: OwnTool = OwnTool {
    name: "search",
    description: "Finds where words stand exactly as they are written, the newest first. All words must be there. \
        \"Quoted phrases\" and the filters from:NAME, in:THREAD, before:DATE, after:DATE and type:SOURCE work too.",
    idempotent: true,
    execution: ToolExecution::Read(|_, arguments| {
        let Words { q, limit } = parse(arguments)?;
        Ok(Read::Search(asked(q, "/arguments/q", limit, None, Vec::new())?))
    }),
    is_for: |_| true,
    arguments: || (json!({"q": text("The words."), "limit": limit_schema()}), json!(["q"])),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
    limit: Option<usize>,
    thread: Option<ThreadId>,
    #[serde(default)]
    sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    q: String,
    limit: Option<usize>,
}

fn asked(
    text: String,
    pointer: &str,
    limit: Option<usize>,
    thread: Option<ThreadId>,
    sources: Vec<String>,
) -> Result<RecallAsked, Error> {
    if text.trim().is_empty() {
        return Err(Error::invalid(pointer, "say what is looked for"));
    }
    Ok(RecallAsked { text, limit: limit.unwrap_or(HITS).clamp(1, MAX_HITS), thread, sources })
}

fn limit_schema() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_HITS,
        "description": format!("{HITS} by default.")})
}
