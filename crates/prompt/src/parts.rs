//! The parts that prompts are made of, and which parts each layout has, in order. A part is a file in this folder, and a
//! line in the list of each layout that has it.

mod browser_state;
mod context_sets;
mod current_plan;
mod duties;
mod files;
mod history;
mod instructions;
mod members;
mod recall;
mod request;
mod steps;
mod system_prompt;
mod task;
mod unsaid;
mod workflow_snapshot;
mod workflow_variables;

use callboard_core::prompt::{Layout, LayoutName, LayoutPart, LayoutText, PartName};

use crate::part::{Changes, Content, Gather, Gathered, Part, PartOutcome, Says, Source, tagged};

/// The texts that every prompt in a layout has, whatever was said and whoever reads it.
pub(crate) fn layout_texts<'a>(layout: &'a Layout) -> Vec<&'a str> {
    let of_part = |part: &'a LayoutPart| match part {
        LayoutPart::Text(text) => Some(&*text.text),
        LayoutPart::Known(name) => (name.as_str() == system_prompt::PART.name).then_some(system_prompt::TEXT),
    };
    match layout {
        Layout::Named(LayoutName::Director) => vec![system_prompt::TEXT],
        Layout::Named(LayoutName::Team | LayoutName::Plain) => Vec::new(),
        Layout::OfSession(parts) => parts.iter().filter_map(of_part).collect(),
    }
}

/// What changes least stands first, so that a provider's cache keeps as much as can be.
const TEAM: &[Part<'static>] = &[
    instructions::TAGGED,
    members::PART,
    duties::PART,
    files::PART,
    request::ENVELOPE,
    request::TOOLS,
    context_sets::PART,
    history::TAGGED,
    recall::PART,
    steps::PART,
    task::TAGGED,
];

/// What nobody asked for is not there: nobody is told who is in the team, and what to do in it.
const PLAIN: &[Part<'static>] = &[
    instructions::BARE,
    files::PART,
    request::ENVELOPE,
    request::TOOLS,
    context_sets::PART,
    history::TAGGED,
    recall::PART,
    steps::PART,
    task::TAGGED,
];

/// What is known of the work stands before what was said of it.
const DIRECTOR: &[Part<'static>] = &[
    system_prompt::PART,
    request::ENVELOPE,
    request::TOOLS,
    current_plan::PART,
    workflow_snapshot::PART,
    workflow_variables::PART,
    browser_state::PART,
    recall::PART,
    history::ABOVE,
    history::LABELLED,
    task::LABELLED,
];

/// What is in every prompt without being listed: it is no text, and costs tokens all the same.
const UNLISTED: &[Part<'static>] = &[request::ENVELOPE, request::TOOLS];

/// The parts of a layout, in order.
pub(super) fn of(layout: &Layout) -> Vec<Part<'_>> {
    match layout {
        Layout::Named(name) => named(*name).to_vec(),
        Layout::OfSession(listed) => UNLISTED.iter().copied().chain(listed.iter().flat_map(listed_part)).collect(),
    }
}

/// Whether a layout has this part.
pub fn has_part(layout: &Layout, part: PartName) -> bool {
    match layout {
        Layout::Named(name) => named(*name).iter().any(|known| known.name == part.as_str()),
        Layout::OfSession(listed) => listed.iter().any(|listed| listed.is(part)),
    }
}

/// The parts of all layouts that every session has.
pub(super) fn all() -> impl Iterator<Item = Part<'static>> {
    LayoutName::ALL.into_iter().flat_map(named).copied()
}

fn named(name: LayoutName) -> &'static [Part<'static>] {
    match name {
        LayoutName::Team => TEAM,
        LayoutName::Plain => PLAIN,
        LayoutName::Director => DIRECTOR,
    }
}

fn listed_part(listed: &LayoutPart) -> Vec<Part<'_>> {
    match listed {
        LayoutPart::Known(name) => {
            let of = |layout| named(layout).iter().copied().filter(|part| part.name == name.as_str());
            // A part that several layouts have is listed once.
            let mut parts = LayoutName::ALL.into_iter().map(|layout| of(layout).collect::<Vec<_>>());
            parts.find(|parts| !parts.is_empty()).unwrap_or_default()
        }
        LayoutPart::Text(text) => vec![of_session(text)],
    }
}

/// The part that is a text of a session's own layout.
fn of_session(text: &LayoutText) -> Part<'_> {
    Part {
        name: &text.name,
        heading: "",
        changes: Changes::Seldom,
        shares: None,
        subjects: |_, _| vec!["session".to_owned()],
        says: Says::Text(&text.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_is_listed_has_a_name_for_settings() {
        let unlisted: Vec<_> = UNLISTED.iter().map(|part| part.name).collect();
        let mut names: Vec<_> = all().map(|part| part.name).filter(|name| !unlisted.contains(name)).collect();
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
        let mut sharing: Vec<_> = all().filter_map(|part| part.shares).map(|(name, _)| name).collect();
        sharing.sort_unstable();
        sharing.dedup();
        assert_eq!(sharing, PartName::SHARING);
    }
}
