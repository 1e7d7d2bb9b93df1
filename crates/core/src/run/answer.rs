//! What follows from a model's answer: all of it is decided here, and lands in one append.

use std::sync::Arc;

use serde::Deserialize;

use crate::{
    conversation::facts::MessageChecked,
    conversation::{self, Criteria, NewMessage, Role, ToolCall},
    decision::{DecisionBuilder, Undecided},
    directive::facts::Received,
    directive::{self, Directive, FormRequest, Reading, Recipient},
    entry::Actor,
    error::{ConflictKind, Error, Fault},
    id::{AgentName, RunId, SetName, ThreadId},
    json, rights,
    run::decide::driven,
    run::facts::{Ended, Paused, TurnAnswered, TurnFailed},
    run::sight::no_answer,
    run::{Due, Halt, Status, TurnFailure, TurnReply, next},
    step,
    text::{Text, shortened},
};

/// Takes in that a model gave no answer: the run is held, and can be resumed.
pub(crate) fn fail(decision: &mut DecisionBuilder<'_>, failure: &TurnFailure) -> Result<(), Error> {
    rights::system(decision, "bring a failure")?;
    let (agent, _) = pending(decision, &failure.run, failure.epoch, failure.turn)?;
    failed(decision, failure, agent);
    Ok(())
}

fn failed(decision: &mut DecisionBuilder<'_>, failure: &TurnFailure, agent: AgentName) {
    let TurnFailure { run, turn, error, .. } = failure.clone();
    let held = decision.state.runs.get(&run).is_ok_and(|run| run.halt.is_some());
    let reason = format!("{}: {error}", no_answer(&agent));
    decision.record(TurnFailed { run: run.clone(), turn, agent: agent.clone(), error });
    if !held {
        decision.record(Paused { run, reason, agent: Some(agent) });
    }
}

/// Takes in what a model answered. Whatever it is, the run can go on.
pub(crate) fn answer(decision: &mut DecisionBuilder<'_>, reply: &TurnReply) -> Result<(), Undecided> {
    rights::system(decision, "bring an answer")?;
    let (agent, due) = pending(decision, &reply.run, reply.epoch, reply.turn)?;
    if reply.text.trim().is_empty() && reply.tool_calls.is_empty() {
        let TurnReply { run, epoch, turn, .. } = reply.clone();
        failed(decision, &TurnFailure { run, epoch, turn, error: "the model said nothing".to_owned() }, agent);
        return Ok(());
    }
    let driver = std::mem::replace(&mut decision.by, Actor::Agent(agent.clone()));
    let outcome = match &due {
        Due::Directive | Due::Answered { .. } | Due::Repair { .. } => direct(decision, reply, &due)?,
        Due::Form { request } => fill_form(decision, reply, request)?,
        Due::Work { agent } => work(decision, reply, agent)?,
        Due::Check { .. } => check(decision, reply, &due)?,
        Due::User { .. } | Due::Tools { .. } => return Err(not_pending(&reply.run, reply.turn).into()),
    };
    let said = match outcome.is_message {
        true => None,
        false => Some(Text::keep(&reply.text, "the answer", &mut decision.values)?),
    };
    let TurnReply { run, turn, usage, cut_off, .. } = reply.clone();
    decision.by = driver;
    decision.record(TurnAnswered {
        run: run.clone(),
        turn,
        agent,
        said,
        usage,
        cut_off,
        due: outcome.due,
        idle: outcome.idle,
    });
    if outcome.completed {
        decision.record(Ended { run, halt: Halt { status: Status::Completed, reason: None } });
    }
    Ok(())
}

/// Whose turn it is that waits for an answer, and what it was asked for.
fn pending(decision: &DecisionBuilder<'_>, run: &RunId, epoch: u64, turn: u64) -> Result<(AgentName, Due), Error> {
    let run = driven(decision, run, epoch)?;
    let agent = next::agent(&decision.state.team, &run.due)?;
    match (&run.pending, agent) {
        (Some(pending), Some(agent)) if pending.turn == turn => {
            let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &decision.state.threads);
            Ok((agent, due))
        }
        _ => Err(not_pending(&run.id, turn)),
    }
}

fn not_pending(run: &RunId, turn: u64) -> Error {
    Error::Conflict {
        kind: ConflictKind::TurnNotPending,
        what: format!("turn {turn} of the run {run} waits for no answer"),
        hint: "it was answered before, or never requested",
    }
}

/// What an answer leads to.
struct Outcome {
    due: Due,
    /// Whether what was said became a message, so that it need not be kept twice.
    is_message: bool,
    idle: bool,
    completed: bool,
}

impl Outcome {
    fn due(due: Due) -> Self {
        Self { due, is_message: false, idle: false, completed: false }
    }
}

/// Applies a manager's directive. One with faults is sent back once; the second time what is good in it is applied.
fn direct(decision: &mut DecisionBuilder<'_>, reply: &TurnReply, due: &Due) -> Result<Outcome, Undecided> {
    let Reading { directive, mut faults, unparsed } = directive::read::read_text(&reply.text, &decision.state.team);
    faults.extend(directive::read::contradictions(&directive));
    if reply.cut_off {
        faults.push(fault("the answer was cut off at the length it may have: say it in fewer words"));
    }
    if faults.is_empty() && says_nothing(&directive) {
        faults.push(fault("say what is next: a message to somebody, an update, or that the work is complete"));
    }
    if !faults.is_empty() && !matches!(due, Due::Repair { .. }) {
        let note = "[shortened here: the whole of it is in the journal]";
        return Ok(Outcome::due(Due::Repair { said: shortened(&reply.text, SAID_BYTES, note), faults }));
    }
    // What is wrong with single updates shows in their outcomes.
    faults.retain(|fault| !fault.pointer.starts_with(directive::UPDATES));
    let run = Some(reply.run.clone());
    let outcomes = directive::decide::update_sets(decision, &directive.sets);
    let (outcome, message_to, form) = route(decision, &directive, &mut faults)?;
    let nothing_updated = outcomes.iter().all(|set| !set.outcome.is_change());
    let idle = outcome.due == Due::Directive && !outcome.completed && nothing_updated;
    let workflow_complete = outcome.completed;
    decision.record(Received { run, outcomes, message_to, message: None, workflow_complete, form, faults, unparsed });
    Ok(Outcome { idle, ..outcome })
}

/// How much of a faulty directive its author is shown again.
const SAID_BYTES: usize = 16 * 1024;

fn says_nothing(directive: &Directive) -> bool {
    directive.message.is_none() && directive.sets.is_empty() && !directive.workflow_complete
}

fn fault(problem: &str) -> Fault {
    Fault { pointer: String::new(), problem: problem.to_owned() }
}

/// Sends the directive's message where it is to go and says what is due then. What cannot all be meant was sent back
/// before: here a message to an agent comes before a completion or a question to the user.
fn route(
    decision: &mut DecisionBuilder<'_>,
    directive: &Directive,
    faults: &mut Vec<Fault>,
) -> Result<(Outcome, Option<Recipient>, Option<SetName>), Undecided> {
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
        return Ok((Outcome::due(Due::Work { agent: worker }), Some(to), None));
    }
    let misaddressed = matches!(directive.message_to, Some(Recipient::Agent(_)));
    let said = if misaddressed { None } else { say_to_user(decision, message.clone())? };
    if directive.is_info_request && !misaddressed {
        let request = message.unwrap_or_else(|| "The manager asks for information.".into());
        let note = "[shortened here: it was said whole in main]";
        if directive.form.is_none() {
            let request = shortened(&request, SAID_BYTES, note);
            return Ok((Outcome::due(Due::Form { request }), said, None));
        }
        return match directive::decide::ask_user(decision, directive) {
            Ok(form) => {
                let form = form.map(|(name, _)| name);
                Ok((Outcome::due(Due::User { form: form.clone() }), said, form))
            }
            Err(error) => {
                faults.push(fault(&format!("the form is left out: {error}")));
                let request = shortened(&request, SAID_BYTES, note);
                Ok((Outcome::due(Due::Form { request }), said, None))
            }
        };
    }
    if directive.workflow_complete && !misaddressed {
        return Ok((Outcome { completed: true, ..Outcome::due(Due::Directive) }, said, None));
    }
    let due = if said.is_some() { Due::User { form: None } } else { Due::Directive };
    Ok((Outcome::due(due), said, None))
}

fn say_to_user(decision: &mut DecisionBuilder<'_>, message: Option<Arc<str>>) -> Result<Option<Recipient>, Undecided> {
    let Some(message) = message else { return Ok(None) };
    conversation::decide::say(decision, &ThreadId::main(), &[NewMessage::text(Role::Ai, message)])?;
    Ok(Some(Recipient::USER))
}

/// Puts the form before the user that the manager described, or one text field where it cannot be made out.
fn fill_form(decision: &mut DecisionBuilder<'_>, reply: &TurnReply, request: &Arc<str>) -> Result<Outcome, Undecided> {
    let form: Option<FormRequest> = json_in(&reply.text);
    let plain = Directive {
        is_info_request: true,
        message: (!request.is_empty()).then(|| request.clone()),
        ..Directive::default()
    };
    let asked = match directive::decide::ask_user(decision, &Directive { form, ..plain.clone() }) {
        Ok(asked) => asked,
        Err(_) => directive::decide::ask_user(decision, &plain)?,
    };
    Ok(Outcome::due(Due::User { form: asked.map(|(name, _)| name) }))
}

/// Takes in what a worker said: its answer goes to its thread, and then to the manager, by way of a check where the
/// message that it answers says what is expected. Tools that it calls come first.
fn work(decision: &mut DecisionBuilder<'_>, reply: &TurnReply, agent: &AgentName) -> Result<Outcome, Undecided> {
    let thread = ThreadId::of_agent(agent);
    let text: Arc<str> = match reply.cut_off {
        true => format!("{}\n[cut off here: the answer reached the length it may have]", reply.text.trim_end()).into(),
        false => reply.text.clone(),
    };
    let calls: Vec<_> = reply.tool_calls.iter().map(readable).collect();
    let said = NewMessage { tool_calls: calls.clone(), ..NewMessage::text(Role::Ai, text) };
    let receipts = conversation::decide::say(decision, &thread, &[said])?;
    let spoken = |due| Outcome { is_message: true, ..Outcome::due(due) };
    if !calls.is_empty() {
        let due = call_tools(decision, &thread, agent, calls)?;
        let idle = matches!(due, Due::Work { .. });
        return Ok(Outcome { idle, ..spoken(due) });
    }
    let criteria = decision.state.threads.criteria(&thread);
    let (Some(criteria), Some(receipt)) = (criteria, receipts.into_iter().next()) else {
        return Ok(spoken(Due::Directive));
    };
    let Criteria { message_id: criteria_of, text: criteria, .. } = criteria;
    let message_id = receipt.message_id;
    Ok(spoken(Due::Check { thread, criteria_of, criteria, message_id, agent: agent.clone() }))
}

/// Notes the calls of tools that the steps allow, each as a use of its tool; the others get their refusal as result, and
/// the worker is asked again where no result has to be waited for.
fn call_tools(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    agent: &AgentName,
    calls: Vec<ToolCall>,
) -> Result<Due, Undecided> {
    if decision.state.session.settings.steps.is_empty() {
        return Ok(Due::Tools { agent: agent.clone(), calls });
    }
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        match step::decide::call(decision, &call.name.as_str().into()) {
            Ok(()) => allowed.push(call),
            Err(reason) => refused.push(NewMessage {
                tool_call_id: Some(call.id),
                ..NewMessage::text(Role::Tool, format!("[not done: {reason}]"))
            }),
        }
    }
    conversation::decide::say(decision, thread, &refused)?;
    let agent = agent.clone();
    Ok(if allowed.is_empty() { Due::Work { agent } } else { Due::Tools { agent, calls: allowed } })
}

/// Takes in the verdict on an answer. It stands beside the answer, which stays as it is.
fn check(decision: &mut DecisionBuilder<'_>, reply: &TurnReply, due: &Due) -> Result<Outcome, Undecided> {
    #[derive(Deserialize)]
    struct Verdict {
        valid: bool,
        #[serde(default)]
        reason: String,
    }
    if let Due::Check { thread, criteria_of, message_id, .. } = due {
        let verdict: Option<Verdict> = json_in(&reply.text);
        let (valid, reason) = match verdict {
            Some(verdict) => (Some(verdict.valid), verdict.reason),
            None => (None, "the check gave no verdict that could be read".to_owned()),
        };
        let (thread_id, criteria_of) = (thread.clone(), criteria_of.clone());
        let message_id = message_id.clone();
        decision.record(MessageChecked { thread_id, message_id, criteria_of, valid, reason: reason.into() });
    }
    Ok(Outcome::due(Due::Directive))
}

/// The call, with arguments that can be read back: those that are nested too deep are kept as the text that they are.
fn readable(call: &ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        deep if !json::is_shallow(deep) => deep.to_string().into(),
        arguments => arguments.clone(),
    };
    ToolCall { arguments, ..call.clone() }
}

/// The JSON that a text is, or that stands in a code fence in it.
fn json_in<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    let fields = json::object_in(text)?.ok()?;
    serde_json::from_value(json::without_nulls(fields.into())).ok()
}

impl conversation::Threads {
    /// What the last message in `thread` that said so expects of its answer.
    fn criteria(&self, thread: &ThreadId) -> Option<Criteria> {
        self.get(thread)?.criteria.clone()
    }
}
