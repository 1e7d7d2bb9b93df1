//! The part that says where the team is among its steps. It changes with each tool that is used, so it stands behind the
//! history.

use callboard_core::{
    prompt::escape::{attribute, escape},
    step::{Progress, Steps},
    view::View,
};

use crate::parts::{Changes, Gathered, Part, Source};

/// How many of the tools that were used are named: enough to see what was done last.
const NAMED: usize = 8;

pub(crate) const PART: Part<'static> =
    Part { subjects: |_, _| vec!["session".to_owned()], ..Part::new("steps", Changes::Always, gather) };

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    Ok(active(from.view).and_then(|step| from.whole(step)))
}

/// Where the team is among its steps: the active one, the tools that were used, and the one that is due. Nothing where
/// the session has no steps.
fn active(view: &View<'_>) -> Option<String> {
    let steps = &view.state.session.settings.steps;
    if steps.is_empty() {
        return None;
    }
    let progress = &view.state.steps;
    let used = used(progress);
    let Some(step) = progress.active(steps) else {
        return Some(format!("<ACTIVE_STEP>\nNo step is active.\n{used}\n</ACTIVE_STEP>\n"));
    };
    let description = match step.description.trim_end() {
        "" => String::new(),
        text => format!("{}\n", escape(text)),
    };
    let due = due(progress, steps).map(|due| format!("{due}\n")).unwrap_or_default();
    let name = attribute(step.name.as_str());
    Some(format!("<ACTIVE_STEP name=\"{name}\">\n{description}{used}\n{due}</ACTIVE_STEP>\n"))
}

fn used(progress: &Progress) -> String {
    let recent = progress.log.iter();
    let skipped = recent.len().saturating_sub(NAMED);
    let names: Vec<_> = recent.skip(skipped).map(|name| escape(name)).collect();
    let more = progress.used.saturating_sub(names.len() as u64);
    match (names.is_empty(), more) {
        (true, _) => "Tools used so far: none.".to_owned(),
        (false, 0) => format!("Tools used so far: {}.", names.join(", ")),
        (false, more) => format!("Tools used so far: {more} more, then {}.", names.join(", ")),
    }
}

fn due(progress: &Progress, steps: &Steps) -> Option<String> {
    let due = progress.due(steps)?;
    Some(format!("The tool that is due now, before any other: {}.", escape(due)))
}
