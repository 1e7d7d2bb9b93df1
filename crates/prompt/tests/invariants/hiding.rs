//! I3: no output for a viewer contains what is hidden from it.

use std::collections::BTreeSet;

use callboard_core::{
    command::Command,
    context_set::{DeleteSet, PutSet, SetView},
    conversation::{AddMessages, Message, NewMessage, Role},
    count::Tokens,
    document::{DocumentView, PutDocument, RemoveDocument},
    entry::Actor,
    prompt::Format,
    rights::Grant,
    run::{
        Due,
        next::{Next, next},
    },
    session::SessionPatch,
    testing::Board,
};
use callboard_prompt::{ResolvedSpec, testing::Shows as _};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    sight::{Sight, words},
    story::{DOCUMENTS, SETS, Step, THREADS, Told, layouts, story},
};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn i3_no_output_for_an_agent_contains_what_is_hidden_from_it(steps in story(40)) {
        let (mut told, mut sight, mut taken) = (Told::new(), Sight::default(), 0);
        for (at, step) in steps.iter().enumerate() {
            told.take(step);
            if matches!(step, Step::Erase { .. }) {
                // What was erased is hidden from everybody.
                (sight, taken) = (Sight::default(), 0);
            }
            for entry in &told.board.entries[taken..] {
                sight.take(entry);
            }
            taken = told.board.entries.len();
            for agent in sight.agents() {
                check_journal(&told.board, &sight, agent)?;
                check_runs(&told.board, &sight, agent)?;
                check_plan(&told.board, &sight, agent)?;
                check_workflow(&told.board, &sight, agent)?;
                if at % 8 == 7 || at + 1 == steps.len() {
                    check_prompts(&told.board, &sight, agent)?;
                    check_commands(&told.board, &sight, agent)?;
                }
            }
        }
    }
}

/// Says which words of `output` the agent may not see.
fn check(output: &str, sight: &Sight, agent: &str, what: &str) -> Result<(), TestCaseError> {
    let may_see = sight.may_see(agent);
    let leaked: BTreeSet<_> = words(output).difference(&may_see).cloned().collect();
    prop_assert!(leaked.is_empty(), "{} shows {} {:?}: {}", what, agent, leaked, output);
    Ok(())
}

/// What is projected, listed and sized is what the agent may see, no more and no less.
fn check_journal(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    let view = board.view(agent).unwrap();
    let mut said = BTreeSet::new();
    for entry in board.seen(agent) {
        let written = serde_json::to_string(&entry).unwrap();
        check(&written, sight, agent, "the journal")?;
        if &*entry.kind == "message.added" {
            let message: Message = serde_json::from_str(&entry.data).unwrap();
            said.extend(words(&json!(Message { thread_id: "x".parse().unwrap(), ..message }).to_string()));
        }
    }
    let whole = view.sets().filter_map(|set| match set {
        SetView::Whole(held) => {
            Some((held.set.name.to_string(), words(&json!([held.set.content, held.set.form]).to_string())))
        }
        SetView::Outline(_) => None,
    });
    prop_assert_eq!(whole.collect::<std::collections::BTreeMap<_, _>>(), sight.sets(agent), "the sets of {}", agent);
    if !view.is_in_charge() {
        prop_assert!(view.sets().all(|set| matches!(set, SetView::Whole(_))), "an outline for {}", agent);
        let managed = board.state.team.manager().is_some();
        let is_managers = |set: SetView<'_>| {
            let set = &set.held().set;
            set.is_open_form() || (managed && set.name.as_str() == "Process Steps")
        };
        prop_assert!(!view.sets().any(is_managers), "{} sees what is the manager's alone", agent);
    }
    let whole = view.documents().filter_map(|document| match document {
        DocumentView::Whole(held) => Some(held.name.as_str()),
        DocumentView::Outline(_) => None,
    });
    prop_assert_eq!(whole.collect::<Vec<_>>(), sight.documents(agent), "the documents of {}", agent);
    if !view.is_in_charge() {
        prop_assert!(
            view.documents().all(|document| matches!(document, DocumentView::Whole(_))),
            "an outline for {}",
            agent
        );
    }
    let threads = view.threads().map(|(name, thread)| (name.to_string(), view.size(thread).messages));
    let expected = sight.threads(agent);
    let sizes = expected.iter().map(|(name, (size, _))| (name.clone(), *size));
    prop_assert_eq!(threads.collect::<Vec<_>>(), sizes.collect::<Vec<_>>(), "the threads of {}", agent);
    let variables: Vec<_> = view.variables().map(|one| (one.name.as_str(), &*one.display)).collect();
    prop_assert_eq!(variables, sight.variables(agent), "the variables of {}", agent);
    let expected: BTreeSet<_> = expected.into_values().flat_map(|(_, words)| words).collect();
    prop_assert_eq!(said, expected, "the messages of {}", agent);
    Ok(())
}

/// What is told of the plan.
fn check_plan(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    let view = board.view(agent).unwrap();
    match view.plan() {
        Ok(held) => check(&json!([held, view.plan_document().unwrap()]).to_string(), sight, agent, "the plan"),
        Err(error) => check(&error.to_string(), sight, agent, "an error"),
    }
}

/// What is told of the workflow: all that the agent may see of it, and no result.
fn check_workflow(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    let view = board.view(agent).unwrap();
    match view.workflow_document() {
        Ok(document) => prop_assert_eq!(words(&json!(document).to_string()), sight.workflow(agent)),
        Err(error) => check(&error.to_string(), sight, agent, "an error")?,
    }
    Ok(())
}

/// What is told of the runs, and what the agent is told to do in one.
fn check_runs(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    let view = board.view(agent).unwrap();
    for run in board.runs() {
        check(&json!([view.due(&run), view.reason(&run)]).to_string(), sight, agent, "a run")?;
        match next(&board.state, &run) {
            Ok(Next::Ask(ask)) if ask.agent.as_str() == agent => match &ask.due {
                Due::Repair { .. } => {
                    prop_assert_eq!(run.due_origin.as_ref().map(|origin| &origin.by), Some(&ask.agent))
                }
                _ => check(&ask.turn.task.unwrap_or_default(), sight, agent, "a task")?,
            },
            _ => {}
        }
    }
    Ok(())
}

fn check_prompts(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    for thread in THREADS {
        let formats = [(120, Format::Text), (700, Format::OpenAi), (1500, Format::Anthropic)];
        let whole = [Format::Text, Format::OpenAi, Format::Anthropic].map(|format| (1_000_000, format));
        let all = formats.into_iter().chain(whole);
        for ((budget, format), layout) in all.flat_map(|one| layouts().into_iter().map(move |layout| (one, layout))) {
            let spec = ResolvedSpec::new(agent.parse().unwrap(), thread.parse().unwrap(), Tokens(budget), board.count);
            match board.prompt_for(agent, &ResolvedSpec { format, layout, ..spec }, 3) {
                Ok(prompt) => check(&json!([prompt.body, prompt.parts]).to_string(), sight, agent, "a prompt")?,
                // The thread's name is what was asked for.
                Err(error) => check(&error.to_string().replace(thread, ""), sight, agent, "an error")?,
            }
        }
    }
    Ok(())
}

/// How a command of an agent is answered, whatever the name of what it is about.
fn answer(board: &Board, agent: &str, command: impl Command, name: &str) -> String {
    let actor = Actor::Agent(agent.parse().unwrap());
    let answer = board.clone().ask(&actor, &command);
    let answer = answer.map_or_else(|error| format!("{}: {error}", error.code()), |_| "done".to_owned());
    answer.replace(&format!("{name:?}"), "NAME")
}

/// A hidden thing answers exactly like one that is not there.
fn check_commands(board: &Board, sight: &Sight, agent: &str) -> Result<(), TestCaseError> {
    if board.view(agent).unwrap().is_in_charge() {
        return Ok(());
    }
    let mut granted = board.clone();
    let grant = SessionPatch { grant: Some(vec![Grant::ContextSets, Grant::Documents]), ..SessionPatch::default() };
    granted.user(grant).unwrap();
    let seen = sight.sets(agent);
    let put = |name: &str| PutSet { name: name.parse().unwrap(), content: "x".into(), visible_to: None, enabled: None };
    for name in SETS.into_iter().filter(|name| !seen.contains_key(*name)) {
        let delete = |name: &str| DeleteSet(put(name).name);
        let (here, absent) =
            (answer(&granted, agent, put(name), name), answer(&granted, agent, put("absent"), "absent"));
        prop_assert_eq!(here, absent, "writing {} for {}", name, agent);
        let (here, absent) =
            (answer(&granted, agent, delete(name), name), answer(&granted, agent, delete("absent"), "absent"));
        prop_assert_eq!(here, absent, "deleting {} for {}", name, agent);
    }
    let put =
        |name: &str| PutDocument { name: name.parse().unwrap(), text: "x".into(), visible_to: None, media_type: None };
    for name in DOCUMENTS.into_iter().filter(|name| !sight.documents(agent).contains(name)) {
        let remove = |name: &str| RemoveDocument(put(name).name);
        let (here, absent) =
            (answer(&granted, agent, put(name), name), answer(&granted, agent, put("absent"), "absent"));
        prop_assert_eq!(here, absent, "replacing {} for {}", name, agent);
        let (here, absent) =
            (answer(&granted, agent, remove(name), name), answer(&granted, agent, remove("absent"), "absent"));
        prop_assert_eq!(here, absent, "removing {} for {}", name, agent);
    }
    let seen = sight.threads(agent);
    let is_own = |name: &str| name == format!("agent:{agent}");
    for name in THREADS.into_iter().filter(|name| !seen.contains_key(*name) && *name != "main" && !is_own(name)) {
        let say =
            |name: &str| AddMessages { thread: name.parse().unwrap(), messages: vec![NewMessage::text(Role::Ai, "x")] };
        prop_assert_eq!(
            answer(board, agent, say(name), name),
            answer(board, agent, say("absent"), "absent"),
            "{} for {}",
            name,
            agent
        );
    }
    Ok(())
}
