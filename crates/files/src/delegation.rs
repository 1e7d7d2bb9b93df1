//! Delegating a task to another agent: what to say, and whether to write a context file.

/// A task that may be delegated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Whether it is delegated to another agent.
    pub delegating: bool,
    /// How many sentences its context needs.
    pub sentences: u64,
    /// Whether it could be misread without more context.
    pub risk: bool,
}

/// Whether to write a context file, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Whether to write one.
    pub create: bool,
    /// Why, in words.
    pub reason: &'static str,
}

/// So many sentences need no file.
const BRIEF: u64 = 2;

/// Whether to write a context file: only if the task is delegated, and is long or could be misread.
pub fn should_create(task: Task) -> Advice {
    let advice = |create, reason| Advice { create, reason };
    match (task.delegating, task.sentences > BRIEF, task.risk) {
        (false, _, _) => advice(false, "nothing is delegated: who does the work has the context already"),
        (true, false, false) => advice(false, "two sentences or less that cannot be misread fit into the message"),
        (true, true, false) => advice(true, "it is delegated, and takes more than two sentences"),
        (true, false, true) => advice(true, "it is delegated, and could be misread"),
        (true, true, true) => advice(true, "it is delegated, takes more than two sentences, and could be misread"),
    }
}

/// The message that delegates `task` to the agent `to`, with the paths of its context files.
pub fn message<S: AsRef<str>>(to: &str, task: &str, paths: &[S]) -> String {
    let task = task.trim();
    if paths.is_empty() {
        return format!("Delegating to {to}:\n\"{task}\n\nNo related context was found.\"");
    }
    let paths: String = paths.iter().map(|path| format!("- {}\n", path.as_ref())).collect();
    format!(
        "Delegating to {to}:\n\"{task}\n\nRelated context available at:\n{paths}\n\
         Read these files for full context on requirements and task breakdown.\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_due_where_all_conditions_hold() {
        let create = |delegating, sentences, risk| should_create(Task { delegating, sentences, risk }).create;
        assert!(create(true, 3, false) && create(true, 0, true) && create(true, 9, true));
        assert!(!create(true, 2, false) && !create(false, 9, true) && !create(false, 0, false));
    }

    #[test]
    fn a_message_names_the_files() {
        let paths = [".tmp/sessions/20250118-143022-a4f2/features/user-auth-context.md"];
        let said = message("@subagents/code/coder-agent", "Implement user authentication login component.", &paths);
        insta::assert_snapshot!(said, @r#"
        Delegating to @subagents/code/coder-agent:
        "Implement user authentication login component.

        Related context available at:
        - .tmp/sessions/20250118-143022-a4f2/features/user-auth-context.md

        Read these files for full context on requirements and task breakdown."
        "#);
    }

    #[test]
    fn a_message_says_that_nothing_was_found() {
        assert!(message("@coder", "Go.", &[] as &[&str]).contains("No related context was found."));
    }
}
