//! Where an agent was spoken to last.

use callboard_api as api;
use callboard_engine::core::{
    agent::AgentRole,
    id::{AgentName, Seq, ThreadId},
};

use crate::{cli::ActingAs, client::OnSession, failure::Failure};

/// How many of the newest messages of a thread are looked at.
const LOOKED_AT: usize = 50;

/// The thread in which somebody else spoke to a worker last, and the entry. In a team with a manager, `main` is between the
/// manager and the user. `None` if nobody has spoken to it, and for the manager.
pub(super) async fn thread(
    session: &OnSession<'_>,
    agent: &AgentName,
    at: Option<Seq>,
) -> Result<Option<(ThreadId, Seq)>, Failure> {
    let team = session.get(&[]).answer::<api::Session>().await?.it.agents;
    let is_manager = |other: &AgentName| team.iter().any(|it| it.name == *other && it.role == AgentRole::Manager);
    if is_manager(agent) {
        return Ok(None);
    }
    let is_led = team.iter().any(|it| it.role == AgentRole::Manager);
    let own_eyes = ActingAs { agent: Some(agent.clone()) };
    let threads = match session.get(&["threads"]).acting_as(&own_eyes).answer::<api::ThreadList>().await {
        Ok(threads) => threads.it.threads,
        // Whoever may not look with this agent's eyes gets the thread that the server takes.
        Err(failure) if failure.problem.code == "forbidden" => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let mut last: Option<(ThreadId, Seq)> = None;
    for thread in threads.into_iter().filter(|thread| !(is_led && thread.name == ThreadId::main())) {
        let call = session.get(&["threads", thread.name.as_str(), "messages"]).acting_as(&own_eyes);
        // As of an earlier entry, the messages up to it may be far from the newest.
        let call = call.maybe("limit", at.is_none().then_some(LOOKED_AT));
        let messages = call.answer::<api::MessageList>().await?.it.messages;
        let by_others = messages.iter().filter(|message| message.agent.as_ref() != Some(agent));
        let seq = by_others.map(|message| message.seq).filter(|seq| at.is_none_or(|at| *seq <= at)).max();
        if let Some(seq) = seq.filter(|seq| last.as_ref().is_none_or(|(_, last)| seq > last)) {
            last = Some((thread.name, seq));
        }
    }
    Ok(last)
}
