//! Starting, taking over, pausing and ending runs.

use std::sync::Arc;

use crate::{
    audience::Audience,
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::facts::ThreadUpdated,
    conversation::{self, NewContent, NewMessage, Role, settings::ThreadSettings},
    error::{ConflictKind, Error},
    id::{RunId, ThreadId},
    input::InputVisitor,
    rights::Right,
    run::facts::{Claimed, Ended, Paused, Resumed, Started},
    run::turn_facts::TurnRequested,
    run::{
        CancelRun, ClaimRun, Epoch, Halt, NewRun, PauseRun, ResumeRun, Status, TurnFailure, TurnReply, TurnRequest,
        answer::{self, driven, unended},
        turn::no_manager,
    },
};

/// Starts a run: its input becomes the user's message in `main`.
impl Command for NewRun {
    type Answer = RunId;

    const RIGHT: Right = Right::manager("start runs");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<RunId, Undecided> {
        decision.state.team.manager().ok_or_else(no_manager)?;
        if self.input.trim().is_empty() {
            return Err(Error::invalid("/input", "say what is to be done").into());
        }
        if let Some(run) = decision.state.runs.unfinished() {
            let what = format!("the run {} has not ended", run.id);
            return Err(Error::conflict(ConflictKind::RunUnfinished, what, "wait for it, or cancel it").into());
        }
        let main = ThreadId::main();
        if let Some(thread) = decision.state.threads.get(&main) {
            check_covers(&thread.sight.audience, &decision.state.team.managers())?;
        } else {
            let (name, visible_to) = (main.clone(), decision.state.team.managers());
            decision.record(ThreadUpdated { name, visible_to, settings: ThreadSettings::default() });
        }
        let run = RunId::of_seq(decision.next_seq());
        let limits = self.limits.clone().unwrap_or_else(|| decision.state.session.settings.limits.clone());
        decision.record(Started { run: run.clone(), kind: self.kind, limits });
        conversation::decide::say(decision, &main, &[NewMessage::text(Role::User, self.input.clone())])?;
        Ok(run)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.input);
    }
}

impl KeptAnswer for RunId {
    const NAME: &'static str = "run";
}

/// Takes a run over. The answer is the new epoch.
impl Command for ClaimRun {
    type Answer = Epoch;

    const RIGHT: Right = Right::system("take a run over");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Epoch, Undecided> {
        let Self { run, node } = self;
        let epoch = unended(decision, run)?.epoch.saturating_add(1);
        decision.record(Claimed { run: run.clone(), node: node.clone(), epoch });
        Ok(Epoch(epoch))
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records that the model of the agent whose turn is due is about to be asked.
impl Command for TurnRequest {
    type Answer = ();

    const RIGHT: Right = Right::system("request a turn");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let run = driven(decision, &self.run, self.epoch)?.clone();
        let agent = run.due.turn().map(|turn| turn.agent(&decision.state.team)).transpose()?;
        let (Some(agent), None, None) = (agent, &run.pending, &run.halt) else {
            let what = format!("no turn of the run {} is due", run.id);
            return Err(Error::conflict(ConflictKind::TurnNotDue, what, "look at the run's status").into());
        };
        let TurnRequest { model, tools, prompt, .. } = self.clone();
        let turn = run.turns.saturating_add(1);
        let due = run.due.asked_of(&agent, run.due_origin.as_ref(), &decision.state.threads);
        let origin = run.due_origin.filter(|_| due.has_words()).map(|origin| origin.seq);
        let (run, due, model) = (Some(run.id), Some(due), Some(model));
        let prompt = prompt.recorded_after(decision.state.erased);
        let requested = TurnRequested { run, turn, agent, thread: None, due, model, tools, prompt, asker: None };
        decision.copying(origin.into_iter().collect(), |decision| decision.record(requested));
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records the answer of a model. The answer is the status of the run.
impl Command for TurnReply {
    type Answer = Status;

    const RIGHT: Right = Right::system("bring an answer");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        answer::answer(decision, self)?;
        Ok(decision.state.runs.get(&self.run)?.status())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.answer(&mut self.text);
        for message in &mut self.messages {
            if let Some(NewContent::Text(text)) = &mut message.content {
                visitor.answer(text);
            }
        }
        let thoughts = self.messages.iter_mut().map(|message| &mut message.reasoning).chain([&mut self.reasoning]);
        thoughts.for_each(|blocks| conversation::reasoning::input(blocks, visitor));
        let calls = self.messages.iter_mut().flat_map(|message| &mut message.tool_calls).chain(&mut self.tool_calls);
        for call in calls {
            // A model's answer is not refused for what it calls things: it would be paid for once more.
            visitor.given_name(&mut call.id);
            visitor.given_name(&mut call.name);
            // Keys in the arguments take nothing out of them: the program that executes the call needs the values.
            call.input(visitor);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        std::iter::once(self.text.clone()).chain(self.messages.iter().flat_map(NewMessage::counted)).collect()
    }
}

/// Records that a model gave no answer. The answer is the status of the run.
impl Command for TurnFailure {
    type Answer = Status;

    const RIGHT: Right = Right::system("bring a failure");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        answer::fail(decision, self)?;
        Ok(decision.state.runs.get(&self.run)?.status())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.error);
    }
}

/// Pauses a run. The answer is its status, since it may have ended before.
impl Command for PauseRun {
    type Answer = Status;

    const RIGHT: Right = Right::manager("pause runs");

    const NEEDS_WORDS: bool = false;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Status, Undecided> {
        let Self { run, reason } = self;
        if unended(decision, run)?.halt.is_none() {
            decision.record(Paused { run: run.clone(), reason: reason.clone(), agent: None });
        }
        Ok(decision.state.runs.get(run)?.status())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.reason);
    }
}

impl KeptAnswer for Status {
    const NAME: &'static str = "stands";
}

/// Resumes a paused run.
impl Command for ResumeRun {
    type Answer = ();

    const RIGHT: Right = Right::manager("resume runs");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        if unended(decision, &self.0)?.halt.is_some() {
            decision.record(Resumed { run: self.0.clone() });
        }
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Ends a run before it is done.
impl Command for CancelRun {
    type Answer = ();

    const RIGHT: Right = Right::manager("cancel runs");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        unended(decision, &self.0)?;
        let halt = Halt { status: Status::Cancelled, reason: None };
        decision.record(Ended { run: self.0.clone(), halt });
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Refuses to start a run if the manager does not see the thread `main`.
fn check_covers(main: &Audience, managers: &Audience) -> Result<(), Error> {
    if main.covers(managers) {
        return Ok(());
    }
    let what = format!("the thread main is visible to {main}, and the manager is not among them");
    Err(Error::conflict(ConflictKind::MainHidden, what, "make it visible to the manager first"))
}
