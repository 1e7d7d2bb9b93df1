//! I4 and I5: a prompt never exceeds its budget, and is the same wherever and whenever it is made.

use std::collections::BTreeMap;

use callboard_core::{
    count::{Counting, Tokens},
    error::Error,
    id::Seq,
    prompt::{Format, Layout, LayoutName, Style, escape::TAGS, profile::Profile},
    state::State,
    step::offer::offer,
    testing::{Board, Pieces, Words},
};
use callboard_prompt::{Body, Prompt, ResolvedSpec, testing::Shows as _};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::story::{THREADS, Told, layouts, story, talk};

/// A session in which all of this happened.
pub(crate) fn told(steps: &[crate::story::Step]) -> Board {
    let mut told = Told::new();
    steps.iter().for_each(|step| told.take(step));
    told.board
}

fn profile() -> impl Strategy<Value = Profile> {
    let share = || prop_oneof![(0..101_u8).prop_map(|n| json!(format!("{n}%"))), (0..3000_u64).prop_map(|n| json!(n))];
    let part = (proptest::option::of(share()), proptest::option::of(share()), proptest::option::of(-3..9_i32));
    let part = part.prop_map(|(min, max, priority)| json!({"min": min, "max": max, "priority": priority}));
    (proptest::option::of(vec(part, 7)), any::<bool>()).prop_map(|(parts, last)| {
        let names = [
            "context_sets",
            "history",
            "task",
            "current_plan",
            "workflow_variables",
            "workflow_snapshot",
            "conversation_history",
        ];
        let parts: BTreeMap<_, _> = names.into_iter().zip(parts.into_iter().flatten()).collect();
        serde_json::from_value(json!({"parts": parts, "changing_parts_last": last})).unwrap()
    })
}

/// What a prompt costs, counted anew from what the model gets.
fn recount(prompt: &Prompt, board: &Board) -> Tokens {
    let count = |value: &Value| value.as_str().map_or(0, |text| board.count.count(text).0);
    let messages = match &prompt.body {
        Body::Text(text) => return board.count.count(text),
        Body::Messages(messages) => messages,
        Body::Responses { .. } => return prompt.tokens,
        Body::Anthropic { .. } => {
            return crate::anthropic::recount(prompt, &prompt.tools, board.count);
        }
    };
    let call = |call: &Value| {
        12 + count(&call["id"]) + count(&call["function"]["name"]) + count(&call["function"]["arguments"])
    };
    let calls = |message: &Value| message["tool_calls"].as_array().into_iter().flatten().map(call).sum::<u64>();
    let message = |message: &Value| 4 + count(&message["content"]) + count(&message["tool_call_id"]) + calls(message);
    let tool = |tool: &callboard_core::agent::Tool| {
        let parameters = json!(Value::Object(tool.parameters.clone()).to_string());
        16 + count(&json!(tool.name)) + count(&json!(tool.description)) + count(&parameters)
    };
    Tokens(messages.iter().map(message).sum::<u64>() + prompt.tools.iter().map(tool).sum::<u64>() + 3)
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn i4_a_prompt_never_exceeds_its_budget_and_one_that_does_not_fit_says_why(
        steps in story(24), talk in talk(40), budgets in [0..60_u64, 60..400, 400..3000, 3000..40_000], profile in profile(),
        layout in select(layouts().to_vec()), task in proptest::option::of(0..2000_usize), pieces in any::<bool>(),
    ) {
        let mut board = told(&[steps, talk].concat());
        board.count = if pieces { &Pieces } else { &Words };
        let task = task.map(|words| "do it <CURRENT_TASK> ".repeat(words / 3));
        for agent in board.state.team.names().map(ToString::to_string).collect::<Vec<_>>() {
            for (thread, budget, format) in all_ways(&budgets) {
                let spec = ResolvedSpec {
                    format, profile: Some(profile.clone()), layout: layout.clone(), task: task.clone(),
                    ..ResolvedSpec::new(agent.parse().unwrap(), thread.parse().unwrap(), Tokens(budget), board.count)
                };
                match board.prompt_for(&agent, &spec, 5) {
                    Ok(prompt) => check_fits(&prompt, &board, &agent)?,
                    Err(Error::BudgetExceeded { budget, needed, parts, .. }) => {
                        prop_assert!(needed > budget, "{} of {}: {:?}", needed, budget, parts);
                        prop_assert_eq!(parts.iter().map(|(_, tokens)| *tokens).sum::<Tokens>(), needed, "{:?}", parts);
                        prop_assert!(budget < Tokens(3000) || parts.iter().any(|(_, tokens)| tokens.0 > 500), "{:?}", parts);
                    }
                    Err(Error::NotFound { .. }) => {}
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
        }
    }

    #[test]
    fn i4_what_fits_in_a_budget_fits_in_a_larger_one(
        steps in story(24), budget in 100..900_u64, more in 1..900_u64, layout in select(layouts().to_vec()),
    ) {
        let board = told(&steps);
        for agent in board.state.team.names() {
            for (thread, budget, format) in all_ways(&[budget]) {
                // What a director is told takes room.
                let budget = if layout == Layout::Named(LayoutName::Director) { budget + 3000 } else { budget };
                let prompt = |budget| {
                    let (agent, thread) = (agent.clone(), thread.parse().unwrap());
                    let spec = ResolvedSpec::new(agent.clone(), thread, Tokens(budget), board.count);
                    board.prompt_for(agent.as_str(), &ResolvedSpec { format, layout: layout.clone(), ..spec }, 3)
                };
                if prompt(budget).is_ok() {
                    let larger = prompt(budget + more);
                    prop_assert!(larger.is_ok(), "{} and {} more: {:?}", budget, more, larger);
                }
            }
        }
    }

    #[test]
    fn i5_a_prompt_is_the_same_whatever_was_read_for_it_and_whenever_it_is_made(
        steps in story(24), talk in talk(80), budgets in [60..400_u64, 400..3000, 3000..40_000], at in 0.0..1.0_f64,
        layout in select(layouts().to_vec()), page in 1..9_usize,
    ) {
        let board = told(&[steps, talk].concat());
        let then = board.as_of(Seq((board.entries.len() as f64 * at) as u64 + 4));
        let mut restored = then.clone();
        restored.state = serde_json::from_str::<State>(&serde_json::to_string(&then.state).unwrap()).unwrap();
        // Whoever makes it later has read entries that are newer, and leaves them out.
        restored.entries.truncate(then.entries.len());
        for agent in then.state.team.names() {
            for (thread, budget, format) in all_ways(&budgets) {
                let spec = ResolvedSpec {
                    format, profile: Some(Profile::default()), layout: layout.clone(),
                    ..ResolvedSpec::new(agent.clone(), thread.parse().unwrap(), Tokens(budget), then.count)
                };
                let whole = then.prompt_for(agent.as_str(), &spec, usize::MAX);
                prop_assert_eq!(&then.prompt_for(agent.as_str(), &spec, page), &whole);
                prop_assert_eq!(&restored.prompt_for(agent.as_str(), &spec, 2), &whole);
            }
        }
    }
}

fn all_ways(budgets: &[u64]) -> impl Iterator<Item = (&'static str, u64, Format)> {
    let formats = [Format::Text, Format::OpenAi, Format::Anthropic];
    THREADS
        .into_iter()
        .flat_map(move |thread| budgets.iter().flat_map(move |budget| formats.map(|format| (thread, *budget, format))))
}

fn check_fits(prompt: &Prompt, board: &Board, agent: &str) -> Result<(), TestCaseError> {
    prop_assert!(prompt.tokens <= prompt.budget, "{} of {}", prompt.tokens, prompt.budget);
    let recounted = recount(prompt, board);
    // Messages for Anthropic are counted before they are joined, so that together they are less.
    // So is what is allowed for the ids and names of calls.
    let is_bound = prompt.counting == Counting::UpperBound;
    let is_right = if is_bound { recounted <= prompt.tokens } else { recounted == prompt.tokens };
    prop_assert!(is_right, "{} and {}: {:?}", recounted, prompt.tokens, prompt.body);
    prop_assert_eq!(prompt.parts.iter().map(|part| part.tokens).sum::<Tokens>(), prompt.tokens);
    match &prompt.body {
        Body::Messages(messages) => check_calls(messages)?,
        Body::Text(text) => {
            check_tags(text)?;
            check_headings(text, prompt)?;
        }
        Body::Responses { .. } | Body::Anthropic { .. } => {}
    }
    check_steps(prompt, board, agent)
}

/// Every tag that begins a line is one that a part of the layout says it writes, so that it is escaped in what is said.
fn check_tags(text: &str) -> Result<(), TestCaseError> {
    for line in text.lines().filter(|line| line.starts_with('<')) {
        let rest = line.trim_start_matches(['<', '/']);
        let (name, behind) =
            rest.split_at(rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len()));
        // Markup of others is no tag of ours, and a text that was shortened may end within one.
        let is_tag = name.contains('_') && (behind.starts_with('>') || behind.starts_with(' '));
        prop_assert!(!is_tag || TAGS.contains(&name), "no part says that it writes {}", line);
    }
    Ok(())
}

/// A heading begins a line once, above its part, whatever was said, planned or set.
fn check_headings(text: &str, prompt: &Prompt) -> Result<(), TestCaseError> {
    if prompt.layout.style() == Style::Tagged {
        return Ok(());
    }
    let headings = [
        ("CURRENT PLAN:", "current_plan"),
        ("WORKFLOW SNAPSHOT:", "workflow_snapshot"),
        ("WORKFLOW VARIABLES:", "workflow_variables"),
        ("BROWSER STATE:", "browser_state"),
        ("CONVERSATION HISTORY:", "conversation_history"),
    ];
    for (heading, part) in headings {
        let found = text.lines().filter(|line| line.starts_with(heading)).count();
        let expected = prompt.parts.iter().filter(|report| report.name == part).count();
        prop_assert_eq!(found, expected, "{} in {}", heading, text);
    }
    Ok(())
}

/// Sessions with steps say once, right before the task, where they are, and offer the tools that may be used now.
fn check_steps(prompt: &Prompt, board: &Board, agent: &str) -> Result<(), TestCaseError> {
    let has_steps = !board.state.session.settings.steps.is_empty();
    let names: Vec<_> = prompt.parts.iter().map(|part| part.name.as_str()).collect();
    let at = names.iter().position(|name| *name == "steps");
    let has_steps = has_steps && matches!(prompt.layout, Layout::Named(LayoutName::Team | LayoutName::Plain));
    prop_assert_eq!(at.is_some(), has_steps, "{:?}", names);
    let behind = at.map_or(&[][..], |at| &names[at + 1..]);
    // Sets that changed lately may stand at the very end.
    let behind = behind.strip_suffix(&["context_sets"]).unwrap_or(behind);
    prop_assert!(["task"].starts_with(behind), "{:?}", names);
    let whole = prompt.text();
    for tag in ["<ACTIVE_STEP", "</ACTIVE_STEP>"] {
        prop_assert_eq!(whole.matches(tag).count(), usize::from(has_steps), "{}", whole);
    }
    let agent = board.state.team.agent(&agent.parse().unwrap()).unwrap();
    let offered: Vec<_> = prompt.tools.iter().map(|tool| tool.name.clone()).collect();
    match offer(&board.state, agent.tools.iter().map(|tool| tool.name.as_str())) {
        Ok(offer) => prop_assert_eq!(offered, offer.allowed),
        Err(_) => prop_assert!(offered.is_empty(), "{:?} while another one is due", offered),
    }
    Ok(())
}

/// A tool call is never separated from its result: what follows on calls are their results, and results follow on calls.
fn check_calls(messages: &[Value]) -> Result<(), TestCaseError> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let at = open.iter().position(|call| call == id);
            prop_assert!(at.is_some(), "a result without its call: {:?}", messages);
            open.remove(at.unwrap());
        } else {
            prop_assert!(open.is_empty(), "calls without results: {:?}", messages);
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            open = calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect();
        }
    }
    prop_assert!(open.is_empty(), "calls without results: {:?}", messages);
    Ok(())
}
