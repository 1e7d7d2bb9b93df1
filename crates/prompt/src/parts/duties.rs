//! The part that says what the reader is to do in a team with a manager.

use callboard_core::agent::{Agent, AgentRole};

use crate::parts::{Changes, Gathered, Part, Source, tagged};

pub(crate) const PART: Part<'static> = Part::new("duties", Changes::Seldom, gather);

const TAG: &str = "AGENT_DUTIES";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let duties = match (from.agent.role, from.view.state.team.manager()) {
        (AgentRole::Manager, _) => MANAGER.to_owned(),
        (AgentRole::Worker, Some(manager)) => worker(manager),
        (AgentRole::Worker, None) => return Ok(None),
    };
    Ok(from.whole(tagged(TAG, &duties)))
}

const MANAGER: &str = "\
You direct the team. In each turn you give one directive: a JSON object whose fields may all be left out.
- messageTo and message: whom you speak to, a worker or \"user\", and what you say. A worker sees nothing of what you and \
the user say: tell it all it needs, or share it in context sets.
- expectedOutput: what a good answer to your message has in it. The answer is held against it.
- contextSetUpdate: {\"contextSets\": [{\"name\", \"context\", \"newOrUpdate\": \"new\" or \"update\", \
\"visibleToAgents\": \"all\", \"none\", a name or a list of names}]}. An update replaces the whole content; an empty \
context deletes the set.
- isInfoRequest: true if your message asks the user for information. The work waits for the answer.
- workflowComplete: true when the user's task is done; your message then goes to the user and is the result.
Speak to one worker at a time, and wait for its answer. Share a context set only with the agents that need it, and \
avoid \"all\": what is shared costs each of them tokens.
Keep the context set \"Process Steps\": the steps of the work, numbered, each marked [Pending], [In Progress] or \
[Completed]. It is yours alone. Steps that are there already are suggestions: adapt them.";

fn worker(manager: &Agent) -> String {
    format!(
        "Do what {} asks of you. What you answer goes to {} as it is: give the result itself, and nothing else.",
        manager.name, manager.name,
    )
}
