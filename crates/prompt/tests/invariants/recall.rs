//! Recall: what a viewer may find is what it is shown, as far as that still stands.

use std::collections::BTreeSet;

use callboard_core::{
    context_set::ContextSet,
    count::TokenCounter,
    entry::Entry,
    event::{EventType, recallable},
    fact::Earlier,
    id::Seq,
    recall::Source,
    state::State,
    testing::Board,
    view::View,
    viewer::Viewer,
};
use proptest::prelude::*;

use crate::story::{AGENTS, Told, story};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn i3_a_viewer_finds_what_it_is_shown_and_still_stands(steps in story(40)) {
        let mut told = Told::new();
        for (at, step) in steps.iter().enumerate() {
            told.take(step);
            if at % 8 == 7 || at + 1 == steps.len() {
                let board = &told.board;
                check(&board.state, &board.entries, board.count)?;
                check_earlier(board)?;
            }
        }
    }
}

/// The same as of an entry in the middle: what came later decides nothing.
fn check_earlier(board: &Board) -> Result<(), TestCaseError> {
    let before = &board.entries[..board.entries.len() / 2];
    match State::fold(before) {
        Ok(state) => check(&state, before, board.count),
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

fn check(state: &State, entries: &[Entry], count: &dyn TokenCounter) -> Result<(), TestCaseError> {
    let agents = AGENTS.iter().map(|agent| Viewer::Agent(agent.parse().unwrap()));
    for viewer in agents.chain([Viewer::User]) {
        let Ok(view) = View::new(state, &viewer, count) else { continue };
        let found: BTreeSet<Seq> =
            entries.iter().filter(|entry| is_found(&view, entry)).map(|entry| entry.header.seq).collect();
        let shown = entries.iter().enumerate().filter(|(at, entry)| stands(entry, &entries[at + 1..]));
        let shown = shown.filter(|(_, entry)| is_shown(&view, entry)).map(|(_, entry)| entry.header.seq);
        prop_assert_eq!(found, shown.collect(), "{:?}", viewer);
    }
    Ok(())
}

fn is_found(view: &View<'_>, entry: &Entry) -> bool {
    let header = &entry.header;
    let from = |source| view.recalls_from(source, &header.subject, &header.audience);
    recallable(entry).unwrap().is_some_and(|says| from(says.source).is_some_and(|from| header.seq >= from))
}

/// Whether nothing in `later` says the whole anew or that the thing is gone.
fn stands(entry: &Entry, later: &[Entry]) -> bool {
    !later.iter().any(|later| {
        let (subject, kind) = (&later.header.subject, EventType::named(&later.header.kind).unwrap());
        let is_about = *subject == entry.header.subject
            || (&**subject == "variables" && entry.header.subject.starts_with("variable:"));
        is_about && (kind.description.earlier != Earlier::Stands || later.header.kind.starts_with("file."))
    })
}

/// Whether the viewer is shown all that the entry says. What is switched off is for the user alone. The plan and variables are
/// shown as they are now, also where that was said before the session shared them.
fn is_shown(view: &View<'_>, entry: &Entry) -> bool {
    let Some(says) = recallable(entry).unwrap() else { return false };
    match says.source {
        Source::Plan => return view.plan().is_ok_and(|plan| plan.seq == entry.header.seq),
        Source::Variable => return view.variables().any(|variable| variable.seq == entry.header.seq),
        _ => {}
    }
    let Some(seen) = view.project(entry).unwrap().filter(|seen| seen.kind == entry.header.kind) else { return false };
    let is_whole = || serde_json::from_str::<callboard_core::document::facts::Added>(&seen.data).is_ok();
    let set = || serde_json::from_str::<ContextSet>(&seen.data);
    match says.source {
        Source::ContextSet => set().is_ok_and(|set| set.enabled || view.agent().is_none()),
        Source::Document => is_whole(),
        _ => true,
    }
}
