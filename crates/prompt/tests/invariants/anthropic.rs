//! What Anthropic's Messages API refuses is in no prompt for it, and what is marked as worth keeping is there again.

use callboard_core::{
    count::{TokenCounter, Tokens},
    prompt::{Format, profile::Profile},
    testing::{Board, Words},
};
use callboard_prompt::{Body, Prompt, ResolvedSpec, testing::Shows as _};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::{
    budget::told,
    rules::Checked,
    rules_of_claude,
    story::{Step, THREADS, Tool, change, steps, story, talk},
};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn messages_for_anthropic_obey_its_rules(
        steps in story(24), talk in talk(40), budgets in [700..1500_u64, 1500..6000, 6000..60_000],
        task in proptest::option::of(0..200_usize),
    ) {
        let board = told(&[steps, talk].concat());
        let task = task.map(|words| "do it ".repeat(words / 2 + 1));
        for agent in board.state.team.names() {
            for (thread, budget) in THREADS.iter().flat_map(|thread| budgets.iter().map(move |budget| (thread, *budget))) {
                let spec = ResolvedSpec {
                    format: Format::Anthropic, profile: Some(Profile::default()), task: task.clone(),
                    ..ResolvedSpec::new(agent.clone(), thread.parse().unwrap(), Tokens(budget), board.count)
                };
                if let Ok(prompt) = board.prompt_for(agent.as_str(), &spec, 5) {
                    check_rules(&prompt)?;
                    prop_assert!(blocks(&prompt).iter().any(|(_, _, marked)| *marked), "nothing is marked");
                }
            }
        }
    }

    #[test]
    fn what_is_marked_for_anthropics_cache_begins_the_next_prompt_too(
        talk in talk(24), more in talk(3), steps in proptest::option::of(steps()), used in vec(change(), 0..4),
    ) {
        // A result that comes late stands where its call is, in the place of the note that there is none.
        let more = more.into_iter().filter(|step| !matches!(step, Step::Say { tool: Tool::Result(_), .. }));
        let talk: Vec<_> = steps.into_iter().map(Step::Settings).chain(talk).collect();
        let used = used.into_iter().map(|change| Step::Steps { by: "user", change });
        let before = told(&talk);
        let after = told(&talk.into_iter().chain(more).chain(used).collect::<Vec<_>>());
        for (agent, thread) in before.state.team.names().flat_map(|agent| ["main", "agent:writer"].map(|thread| (agent, thread))) {
            let ask = |board: &Board| board.prompt_as(agent.as_str(), thread, 1_000_000, Format::Anthropic);
            let (Ok(before), Ok(after)) = (ask(&before), ask(&after)) else { continue };
            let (before, after) = (blocks(&before), blocks(&after));
            let marked = before.iter().rposition(|(_, _, marked)| *marked).map_or(0, |last| last + 1);
            let bare = |blocks: &[(String, Value, bool)]| -> Vec<_> {
                blocks.iter().map(|(role, block, _)| (role.clone(), block.clone())).collect()
            };
            prop_assert!(marked > 0 && bare(&after).starts_with(&bare(&before)[..marked]), "{before:?}\n{after:?}");
        }
    }
}

/// All blocks of a prompt with their roles, without their marks, and whether they had one.
fn blocks(prompt: &Prompt) -> Vec<(String, Value, bool)> {
    let Body::Anthropic { system, messages } = &prompt.body else { panic!("{:?}", prompt.body) };
    rules_of_claude::blocks(system, messages)
}

/// The rules of the Messages API for a prompt.
pub(crate) fn check_rules(prompt: &Prompt) -> Checked {
    let Body::Anthropic { system, messages } = &prompt.body else { panic!("{:?}", prompt.body) };
    rules_of_claude::check(system, messages)
}

/// What a prompt costs at the least, counted anew from what the model gets: what is around the texts is generous.
pub(crate) fn recount(prompt: &Prompt, tools: &[callboard_core::agent::Tool], count: &dyn TokenCounter) -> Tokens {
    let Body::Anthropic { system, messages } = &prompt.body else { panic!("{:?}", prompt.body) };
    let text = |value: &Value| value.as_str().map_or(0, |text| count.count(text).0);
    let block = |block: &Value| {
        let around = match block["type"].as_str().unwrap() {
            "text" => 4,
            "tool_use" => {
                36 + count.count(&block["input"].to_string()).0 + 12 * block["input"].as_object().unwrap().len() as u64
            }
            _ => 36,
        };
        around + ["text", "id", "name", "tool_use_id", "content"].map(|name| text(&block[name])).iter().sum::<u64>()
    };
    let said: u64 =
        messages.iter().map(|message| 8 + message["content"].as_array().unwrap().iter().map(block).sum::<u64>()).sum();
    let tool = |tool: &callboard_core::agent::Tool| {
        let parameters = Value::Object(tool.parameters.clone()).to_string();
        32 + text(&json!(tool.name)) + text(&json!(tool.description)) + text(&json!(parameters))
    };
    let tools = tools.iter().map(tool).sum::<u64>() + if tools.is_empty() { 0 } else { 804 };
    Tokens(8 + system.iter().map(block).sum::<u64>() + said + tools)
}

#[test]
fn a_prompt_in_a_few_words_is_counted_with_what_is_around_them() {
    let prompt = Board::team("lead writer").prompt_as("writer", "agent:writer", 1000, Format::Anthropic).unwrap();
    let recounted = recount(&prompt, &[], &Words);
    assert!(recounted <= prompt.tokens && prompt.tokens.0 < recounted.0 + 60, "{recounted} and {}", prompt.tokens);
}
