//! The work of a team: what follows from the answer of an agent. A manager directs workers, describes forms, and checks answers
//! against its criteria.

use std::sync::Arc;

use serde::Deserialize;

use crate::{
    conversation::MessageChecked,
    conversation::{self, Criteria, NewMessage, Role},
    decision::{DecisionBuilder, Undecided},
    directive::Received,
    directive::{self, Directive, FormRequest, Reading, Recipient, decide::ask_user, read::whole},
    error::Fault,
    id::{AgentName, MessageId, SetName, ThreadId},
    json,
    run::outcome::{ReplyOutcome, called, entries_of, said},
    run::tools,
    run::{Due, TurnReply},
    text::shortened,
};

/// Records the calls of a manager: they come first, and once they have their results it directs as it was told to. A directive
/// beside them is none.
pub(super) fn call(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    manager: &AgentName,
    due: &Due,
) -> Result<ReplyOutcome, Undecided> {
    let mut said = said(reply);
    let is_directive = json::object_in(&reply.text).is_some();
    said.iter_mut().filter(|_| is_directive).for_each(|message| message.content = None);
    let calls = called(&said);
    // What was wrong with its last directive is due again.
    let origin = decision.state.runs.get(&reply.run)?.due_origin.as_ref();
    let origin = origin.filter(|_| matches!(due, Due::Repair { .. })).map(|origin| origin.seq);
    let mut copied_from: Vec<_> = origin.into_iter().collect();
    copied_from.extend(entries_of(&conversation::decide::say(decision, &ThreadId::main(), &said)?));
    Ok(ReplyOutcome { is_message: !is_directive, copied_from, ..tools::call(decision, manager, due.clone(), calls)? })
}

/// Applies a manager's directive. A directive with faults is sent back once; the second time its valid parts are applied.
pub(super) fn direct(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    is_repair: bool,
) -> Result<ReplyOutcome, Undecided> {
    let Reading { directive, mut faults, unparsed } = directive::read::read_text(&reply.text, &decision.state.team);
    faults.extend(directive::read::contradictions(&directive));
    if reply.cut_off {
        faults.push(whole("the answer was cut off at the length it may have: say it in fewer words"));
    }
    if faults.is_empty() && says_nothing(&directive) {
        faults.push(whole("say what is next: a message to somebody, an update, or that the work is complete"));
    }
    if !faults.is_empty() && !is_repair {
        let note = "[shortened here: the whole of it is in the journal]";
        return Ok(ReplyOutcome::due(Due::Repair { said: shortened(&reply.text, SAID_BYTES, note), faults }));
    }
    // Faults in single updates are reported in their outcomes.
    faults.retain(|fault| !fault.pointer.starts_with(directive::UPDATES));
    let run = Some(reply.run.clone());
    let outcomes = directive::decide::update_sets(decision, &directive.sets);
    let (outcome, message_to, form) = route(decision, &directive, &mut faults)?;
    let nothing_updated = outcomes.iter().all(|set| !set.outcome.is_change());
    let idle = outcome.due == Due::Directive && !outcome.completed && nothing_updated;
    let workflow_complete = outcome.completed;
    decision.record(Received { run, outcomes, message_to, message: None, workflow_complete, form, faults, unparsed });
    Ok(ReplyOutcome { idle, ..outcome })
}

/// How much of a faulty directive is shown to its author again.
const SAID_BYTES: usize = 16 * 1024;

fn says_nothing(directive: &Directive) -> bool {
    directive.message.is_none() && directive.sets.is_empty() && !directive.workflow_complete
}

/// Sends the directive's message to its recipient. Returns what is due then. Contradictory directives were sent back before;
/// here a message to an agent takes precedence over a completion or a question to the user.
fn route(
    decision: &mut DecisionBuilder<'_>,
    directive: &Directive,
    faults: &mut Vec<Fault>,
) -> Result<(ReplyOutcome, Option<Recipient>, Option<SetName>), Undecided> {
    let message = directive.message.clone();
    let worker = match &directive.message_to {
        Some(Recipient::Agent(name)) => decision.state.team.workers().find(|agent| agent.name == *name),
        _ => None,
    };
    if let (Some(worker), Some(message)) = (worker.map(|agent| agent.name.clone()), &message) {
        let asks = NewMessage {
            expected_output: directive.expected_output.clone(),
            ..NewMessage::text(Role::Ai, message.clone())
        };
        conversation::decide::say(decision, &ThreadId::of_agent(&worker), &[asks])?;
        let to = Recipient::Agent(worker.clone());
        return Ok((ReplyOutcome::due(Due::Work { agent: worker }), Some(to), None));
    }
    let misaddressed = matches!(directive.message_to, Some(Recipient::Agent(_)));
    let said = if misaddressed { None } else { say_to_user(decision, message.clone())? };
    if directive.is_info_request && !misaddressed {
        if let Some(form) = &directive.form {
            let from = said.iter().map(|_| decision.state.head.seq).collect();
            match decision.copying(from, |decision| ask_user(decision, message.as_ref(), Some(form))) {
                Ok((form, _)) => {
                    return Ok((ReplyOutcome::due(Due::User { form: Some(form.clone()) }), said, Some(form)));
                }
                Err(error) => faults.push(whole(&format!("the form is left out: {error}"))),
            }
        }
        let request = message.unwrap_or_else(|| "The manager asks for information.".into());
        let request = shortened(&request, SAID_BYTES, "[shortened here: it was said whole in main]");
        return Ok((ReplyOutcome::due(Due::Form { request }), said, None));
    }
    if directive.workflow_complete && !misaddressed {
        return Ok((ReplyOutcome { completed: true, ..ReplyOutcome::due(Due::Directive) }, said, None));
    }
    let due = if said.is_some() { Due::User { form: None } } else { Due::Directive };
    Ok((ReplyOutcome::due(due), said, None))
}

fn say_to_user(decision: &mut DecisionBuilder<'_>, message: Option<Arc<str>>) -> Result<Option<Recipient>, Undecided> {
    let Some(message) = message else { return Ok(None) };
    conversation::decide::say(decision, &ThreadId::main(), &[NewMessage::text(Role::Ai, message)])?;
    Ok(Some(Recipient::USER))
}

/// Shows the user the form that the manager described, or one text field if the description cannot be read.
pub(super) fn fill_form(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    request: &Arc<str>,
) -> Result<ReplyOutcome, Undecided> {
    let form: Option<FormRequest> = json_in(&reply.text);
    let request = Some(request).filter(|request| !request.is_empty());
    let from = decision.state.runs.get(&reply.run)?.due_origin.iter().map(|origin| origin.seq).collect();
    let (form, _) = decision.copying(from, |decision| {
        let asked = ask_user(decision, request, form.as_ref());
        asked.or_else(|_| ask_user(decision, request, None))
    })?;
    Ok(ReplyOutcome::due(Due::User { form: Some(form) }))
}

/// Records a worker's answer. Calls of tools come first. Otherwise the answer goes to its thread and then to the manager; it is
/// checked before if the message that it answers has criteria.
pub(super) fn work(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    agent: &AgentName,
) -> Result<ReplyOutcome, Undecided> {
    let thread = ThreadId::of_agent(agent);
    let said = said(reply);
    let calls = called(&said);
    let receipts = conversation::decide::say(decision, &thread, &said)?;
    let spoken = |due: Due| ReplyOutcome { is_message: true, ..ReplyOutcome::due(due) };
    if !calls.is_empty() {
        let called = tools::call(decision, agent, Due::Work { agent: agent.clone() }, calls)?;
        return Ok(ReplyOutcome { is_message: true, copied_from: entries_of(&receipts), ..called });
    }
    let criteria = decision.state.threads.criteria(&thread);
    let (Some(criteria), Some(receipt)) = (criteria, receipts.into_iter().next()) else {
        return Ok(spoken(Due::Directive));
    };
    let Criteria { message_id: criteria_of, text: criteria, seq, .. } = criteria;
    let message_id = receipt.message_id;
    let due = Due::Check { thread, criteria_of, criteria, message_id, agent: agent.clone() };
    Ok(ReplyOutcome { copied_from: vec![seq], ..spoken(due) })
}

/// Records the verdict on an answer. The answer itself stays as it is.
pub(super) fn check(
    decision: &mut DecisionBuilder<'_>,
    reply: &TurnReply,
    thread: &ThreadId,
    criteria_of: &MessageId,
    message_id: &MessageId,
) {
    #[derive(Deserialize)]
    struct Verdict {
        valid: bool,
        #[serde(default)]
        reason: String,
    }
    let verdict: Option<Verdict> = json_in(&reply.text);
    let (valid, reason) = match verdict {
        Some(verdict) => (Some(verdict.valid), verdict.reason),
        None => (None, "the check gave no verdict that could be read".to_owned()),
    };
    let (thread_id, criteria_of, message_id) = (thread.clone(), criteria_of.clone(), message_id.clone());
    decision.record(MessageChecked { thread_id, message_id, criteria_of, valid, reason: reason.into() });
}

/// Parses a text as JSON, or the JSON in a code fence in it.
fn json_in<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    let fields = json::object_in(text)?.ok()?;
    serde_json::from_value(json::without_nulls(fields.into())).ok()
}

impl conversation::Threads {
    /// The criteria of the last message in `thread` that has any.
    fn criteria(&self, thread: &ThreadId) -> Option<Criteria> {
        self.get(thread)?.criteria.clone()
    }
}
