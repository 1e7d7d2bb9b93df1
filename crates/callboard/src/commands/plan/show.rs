//! Plans as people read them: a to-do list.

use callboard_api as api;
use callboard_engine::core::plan::Plan;
use serde_json::Value;

use crate::output::{Output, Style, indented, joined};

/// A plan as a to-do list.
pub(super) fn plan(shown: &api::Plan, output: Output) {
    let api::Plan { plan: document, version } = shown;
    let plan = &document.plan;
    output.painted(Style::Name, &plan.overall_goal);
    output.painted(Style::Quiet, about(version));
    output.line("");
    todo(plan, output);
    for (name, texts) in [("next", &plan.next_actions), ("blockers", &plan.blockers)] {
        let texts = texts.iter().flatten().map(|text| format!("  - {text}")).collect::<Vec<_>>();
        if !texts.is_empty() {
            output.line(format!("\n{name}\n{}", texts.join("\n")));
        }
    }
    if let Some(notes) = &plan.notes {
        output.line(format!("\nnotes\n{}", indented(notes, "  ")));
    }
}

/// The phases with their tasks.
pub(in crate::commands) fn todo(plan: &Plan, output: Output) {
    for (at, phase) in plan.phases.iter().enumerate() {
        if at > 0 {
            output.line("");
        }
        let is_current = phase.phase_name == plan.current_phase;
        let current = if is_current { output.paint(Style::Quiet, "  <- now") } else { String::new() };
        output.line(format!(
            "{} {}{current}",
            mark(phase.status, output),
            output.paint(Style::Name, &phase.phase_name)
        ));
        phase.tasks.iter().for_each(|task| self::task(task, output));
    }
}

fn task(task: &api::PlanTask, output: Output) {
    let nodes = joined(task.node_ids.iter().flatten());
    let nodes = if nodes.is_empty() { nodes } else { output.paint(Style::Quiet, format!("  ({nodes})")) };
    output.line(format!("  {} {}. {}{nodes}", mark(task.status, output), task.task_id, task.description));
    if let Some(notes) = &task.notes {
        output.painted(Style::Quiet, indented(notes, "        "));
    }
}

/// The box before a thing that is to be done.
fn mark(status: api::PlanStatus, output: Output) -> String {
    match status {
        api::PlanStatus::Pending => "[ ]".to_owned(),
        api::PlanStatus::InProgress => output.paint(Style::Name, "[>]"),
        api::PlanStatus::Completed => output.paint(Style::Good, "[x]"),
        api::PlanStatus::Failed => output.paint(Style::Bad, "[!]"),
    }
}

fn about(version: &api::PlanVersion) -> String {
    format!("version {} by {} at {}: {}", version.version, version.by.called(), version.at, version.reason)
}

/// The versions as a table.
pub(super) fn history(list: &api::PlanVersionList, output: Output) {
    let row = |it: &api::PlanVersion| {
        vec![it.version.to_string(), it.at.to_string(), it.by.called().to_owned(), it.reason.to_string()]
    };
    output.table(&["VERSION", "MADE", "BY", "REASON"], list.versions.iter().map(row));
    if list.next_cursor.is_some() {
        output.note("there are older versions: raise --limit");
    }
}

/// What differs, one change a line.
pub(super) fn diff(diff: &api::PlanDiff, output: Output) {
    if diff.changes.is_empty() {
        return output.line(format!("versions {} and {} are equal", diff.from, diff.to));
    }
    for change in &diff.changes {
        let (sign, style) = match change.change {
            api::PlanChangeWord::Added => ("+", Style::Good),
            api::PlanChangeWord::Removed => ("-", Style::Bad),
            api::PlanChangeWord::Moved | api::PlanChangeWord::Changed => ("~", Style::Name),
        };
        output.line(format!("{} {}", output.paint(style, sign), line(change)));
    }
}

fn line(change: &api::PlanChange) -> String {
    let thing = match (&change.task_id, &change.phase) {
        (Some(task), _) => format!("task {task}"),
        (None, Some(phase)) => format!("phase {phase}"),
        (None, None) => "plan".to_owned(),
    };
    let description = |value: &Option<Value>| {
        let text = value.as_ref().and_then(|value| value.get("description")).and_then(Value::as_str);
        text.map(|text| format!(": {text}")).unwrap_or_default()
    };
    match change.change {
        api::PlanChangeWord::Added => format!("{thing}{}", description(&change.after)),
        api::PlanChangeWord::Removed => format!("{thing}{}", description(&change.before)),
        api::PlanChangeWord::Moved => match (&change.before, &change.after) {
            (Some(before), Some(after)) if before != after => {
                format!("{thing}: from {} to {}", text(before), text(after))
            }
            _ => format!("{thing}: in another place"),
        },
        api::PlanChangeWord::Changed => {
            let field = change.field.as_deref().unwrap_or_default();
            let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), text);
            format!("{thing}: {field}: {} -> {}", value(&change.before), value(&change.after))
        }
    }
}

/// A value in one line: a text bare, anything else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('\n', " "),
        value => value.to_string(),
    }
}
