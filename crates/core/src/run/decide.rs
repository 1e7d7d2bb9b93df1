//! Starting, taking over, pausing and ending runs.

use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    conversation::facts::ThreadUpdated,
    conversation::{self, NewMessage, Role, settings::ThreadSettings},
    error::{ConflictKind, Error},
    id::{RunId, ThreadId},
    input::InputVisitor,
    rights::Right,
    run::facts::{Claimed, Ended, Paused, Resumed, Started},
    run::turn_facts::TurnRequested,
    run::{
        CancelRun, ClaimRun, Halt, NewRun, PauseRun, ResumeRun, Status, TurnRequest,
        answer::{driven, unended},
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
            let audience = &thread.sight.audience;
            if !audience.covers(&decision.state.team.managers()) {
                let what = format!("the thread main is visible to {audience}, and the manager is not among them");
                let hint = "make it visible to the manager first";
                return Err(Error::conflict(ConflictKind::MainHidden, what, hint).into());
            }
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
    type Answer = u64;

    const RIGHT: Right = Right::system("take a run over");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<u64, Undecided> {
        let Self { run, node } = self;
        let epoch = unended(decision, run)?.epoch.saturating_add(1);
        decision.record(Claimed { run: run.clone(), node: node.clone(), epoch });
        Ok(epoch)
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// Records that the model of the agent whose turn is due is about to be asked.
impl Command for TurnRequest {
    type Answer = ();

    const RIGHT: Right = Right::system("request a turn");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let run = driven(decision, &self.run, self.epoch)?.clone();
        let asked = run.asked(&decision.state)?;
        let (Some((agent, due)), None, None) = (asked, &run.pending, &run.halt) else {
            let what = format!("no turn of the run {} is due", run.id);
            return Err(Error::conflict(ConflictKind::TurnNotDue, what, "look at the run's status").into());
        };
        let TurnRequest { model, tools, prompt, .. } = self.clone();
        let turn = run.turns.saturating_add(1);
        let origin = run.due_origin.filter(|_| due.has_words()).map(|origin| origin.seq);
        let (run, due, model) = (Some(run.id), Some(due), Some(model));
        let prompt = prompt.recorded_after(decision.state.erased);
        let requested = TurnRequested { run, turn, agent, thread: None, due, model, tools, prompt, asker: None };
        decision.copying(origin.into_iter().collect(), |decision| decision.record(requested));
        Ok(())
    }

    fn input(&mut self, _: &mut dyn InputVisitor) {}
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
