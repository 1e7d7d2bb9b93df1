//! The tool of models for their memory, by the name and with the arguments of Anthropic's `memory_20250818`.

use serde_json::{Value, json};

use crate::{
    command::{DecisionBuilder, Undecided},
    document::memory::MemoryCommand,
    tool::{OwnTool, ToolExecution, parse, text},
};

/// Reads and changes what an agent keeps for itself.
pub(crate) static MEMORY: OwnTool = OwnTool {
    name: "memory",
    description: "Keeps notes for later in files below `/memories`, which are your own: lists a folder or shows a file (view), \
        makes a file (create), replaces a text that stands in a file once (str_replace), inserts lines (insert), deletes, \
        renames.",
    idempotent: false,
    execution: ToolExecution::Command(call),
    is_for: |_| true,
    arguments: || {
        let command = json!({"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
            "description": "What to do."});
        let lines = json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2,
            "description": "For `view`: the first and the last line to show; -1 is the end."});
        let line = json!({"type": "integer", "minimum": 0,
            "description": "For `insert`: the line behind which the text comes; 0 is the beginning."});
        let properties = json!({
            "command": command,
            "path": text("The file or the folder, such as `/memories/notes.md`; for all but `rename`."),
            "view_range": lines,
            "file_text": text("For `create`: what the file says."),
            "old_str": text("For `str_replace`: the text that is replaced."),
            "new_str": text("For `str_replace`: what comes in its place."),
            "insert_line": line,
            "insert_text": text("For `insert`: the lines that are inserted."),
            "old_path": text("For `rename`: the path that is there."),
            "new_path": text("For `rename`: the path from now on."),
        });
        (properties, json!(["command"]))
    },
};

fn call(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    parse::<MemoryCommand>(arguments)?.perform(decision)
}
