//! The parts that prompts are made of, and which parts each layout has, in order. A part is a file in this folder, and a
//! line in the list of each layout that has it.

mod browser_state;
mod context_sets;
mod current_plan;
mod duties;
mod files;
mod history;
mod instructions;
mod layout_text;
mod members;
mod recall;
mod request;
mod steps;
mod system_prompt;
mod task;
mod unsaid;
mod workflow_snapshot;
mod workflow_variables;

use callboard_core::prompt::{Layout, LayoutName, LayoutPart, PartName};

use crate::part::{Changes, Content, Part, PartOutcome, Source, tagged};

/// The texts that every prompt in a layout has, whatever was said and whoever reads it.
pub(crate) fn layout_texts<'a>(layout: &'a Layout) -> Vec<&'a str> {
    let of_part = |part: &'a LayoutPart| match part {
        LayoutPart::Text(text) => Some(&*text.text),
        LayoutPart::Known(name) => (name.as_str() == system_prompt::SystemPrompt.name()).then_some(system_prompt::TEXT),
    };
    match layout {
        Layout::Named(LayoutName::Director) => vec![system_prompt::TEXT],
        Layout::Named(LayoutName::Team | LayoutName::Plain) => Vec::new(),
        Layout::OfSession(parts) => parts.iter().filter_map(of_part).collect(),
    }
}

/// What changes least stands first, so that a provider's cache keeps as much as can be.
const TEAM: &[&dyn Part] = &[
    &instructions::Instructions::TAGGED,
    &members::Members,
    &duties::Duties,
    &files::Files,
    &request::Envelope,
    &request::Tools,
    &context_sets::ContextSets,
    &history::ConversationHistory::TAGGED,
    &recall::Recall,
    &steps::ActiveStep,
    &task::CurrentTask::TAGGED,
];

/// What nobody asked for is not there: nobody is told who is in the team, and what to do in it.
const PLAIN: &[&dyn Part] = &[
    &instructions::Instructions::BARE,
    &files::Files,
    &request::Envelope,
    &request::Tools,
    &context_sets::ContextSets,
    &history::ConversationHistory::TAGGED,
    &recall::Recall,
    &steps::ActiveStep,
    &task::CurrentTask::TAGGED,
];

/// What is known of the work stands before what was said of it.
const DIRECTOR: &[&dyn Part] = &[
    &system_prompt::SystemPrompt,
    &request::Envelope,
    &request::Tools,
    &current_plan::CurrentPlan,
    &workflow_snapshot::WorkflowSnapshot,
    &workflow_variables::WorkflowVariables,
    &browser_state::BrowserState,
    &recall::Recall,
    &history::HistoryHeading,
    &history::ConversationHistory::LABELLED,
    &task::CurrentTask::LABELLED,
];

/// What is in every prompt without being listed: it is no text, and costs tokens all the same.
const UNLISTED: &[&dyn Part] = &[&request::Envelope, &request::Tools];

/// The parts of a layout, in order.
pub(super) fn of(layout: &Layout) -> Vec<&dyn Part> {
    match layout {
        Layout::Named(name) => named(*name).to_vec(),
        Layout::OfSession(listed) => UNLISTED.iter().copied().chain(listed.iter().flat_map(listed_part)).collect(),
    }
}

/// Whether a layout has this part.
pub fn has_part(layout: &Layout, part: PartName) -> bool {
    match layout {
        Layout::Named(name) => named(*name).iter().any(|known| known.name() == part.as_str()),
        Layout::OfSession(listed) => listed.iter().any(|listed| listed.is(part)),
    }
}

/// The parts of all layouts that every session has.
pub(super) fn all() -> impl Iterator<Item = &'static dyn Part> {
    LayoutName::ALL.into_iter().flat_map(named).copied()
}

fn named(name: LayoutName) -> &'static [&'static dyn Part] {
    match name {
        LayoutName::Team => TEAM,
        LayoutName::Plain => PLAIN,
        LayoutName::Director => DIRECTOR,
    }
}

fn listed_part(listed: &LayoutPart) -> Vec<&dyn Part> {
    match listed {
        LayoutPart::Known(name) => {
            let of = |layout| named(layout).iter().copied().filter(|part| part.name() == name.as_str());
            // A part that several layouts have is listed once.
            let parts = LayoutName::ALL.into_iter().map(|layout| of(layout).map(|part| part as _).collect::<Vec<_>>());
            parts.into_iter().find(|parts| !parts.is_empty()).unwrap_or_default()
        }
        LayoutPart::Text(text) => vec![text],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_is_listed_has_a_name_for_settings() {
        let unlisted: Vec<_> = UNLISTED.iter().map(|part| part.name()).collect();
        let mut names: Vec<_> = all().map(|part| part.name()).filter(|name| !unlisted.contains(name)).collect();
        names.sort_unstable();
        names.dedup();
        let mut known: Vec<_> = PartName::ALL.iter().map(|name| name.as_str()).collect();
        known.sort_unstable();
        assert_eq!(names, known);
    }

    #[test]
    fn the_documentation_names_every_part() {
        let page = include_str!("../../../docs/prompts.md");
        let missing = PartName::ALL.iter().filter(|name| !page.contains(&format!("`{}`", name.as_str())));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&PartName>::new());
    }

    #[test]
    fn profiles_name_the_parts_that_share_the_budget() {
        let mut sharing: Vec<_> = all().filter_map(|part| part.shares()).map(|(name, _)| name).collect();
        sharing.sort_unstable();
        sharing.dedup();
        assert_eq!(sharing, PartName::SHARING);
    }
}
