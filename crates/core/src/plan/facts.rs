//! What can happen to the plan, and who sees it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{HeldPlan, Plan, PlanDocument};
use crate::{
    audience::Audience,
    entry::{Entry, Header},
    error::Error,
    fact::{self, Description, Earlier, Fact, MeantFor, Repeats, Sentence, text},
    id::Seq,
    recall::{Recallable, Source},
    rights::Share,
    state::State,
    time::Timestamp,
    view::View,
};

/// What all entries of the plan are about.
pub const SUBJECT: &str = "plan";

/// The plan was replaced by another version. The entry carries the whole plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Updated {
    pub(super) version: u64,
    pub(super) plan: Plan,
    pub(super) reason: Arc<str>,
}

/// The key that a version claims, so that there is one of each number, and it is found by it.
pub fn key(version: u64) -> Arc<str> {
    format!("plan:{version}").into()
}

/// The version that an entry has. `created_at` is when the first version was made.
pub fn version_of(entry: &Entry, created_at: Timestamp) -> Result<HeldPlan, Error> {
    Ok(held(fact::read::<Updated>(entry)?, &entry.header, created_at))
}

fn held(updated: Updated, header: &Header, created_at: Timestamp) -> HeldPlan {
    let Updated { version, plan, reason } = updated;
    let (by, updated_at, seq) = (header.by.clone(), header.at, header.seq);
    HeldPlan { version, plan: Arc::new(plan), reason, by, created_at, updated_at, seq }
}

impl<'a> View<'a> {
    /// The plan as it is now. A hidden one answers like one that is not there.
    pub fn plan(&self) -> Result<&'a Arc<HeldPlan>, Error> {
        let plan = self.state.plan.as_ref().filter(|_| self.may_see(Share::Plan));
        plan.ok_or_else(|| Error::not_found("plan", ""))
    }

    /// The same as prompts show it.
    pub fn plan_document(&self) -> Result<PlanDocument, Error> {
        Ok(self.plan()?.document(&self.state.session.workflow_id))
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "plan.updated";

    const SENTENCE: Sentence =
        |it| format!("{} wrote version {} of the plan{}", it.by, it.text("version"), it.about("reason"));

    const DESCRIPTION: Description = Description {
        earlier: Earlier::Replaced,
        repeats: Repeats::Unchanged,
        ..Description::of(&[
            text("reason"),
            text("plan.overall_goal"),
            text("plan.current_phase"),
            text("plan.phases.*.phase_name"),
            text("plan.phases.*.tasks.*.description"),
            text("plan.phases.*.tasks.*.notes"),
            text("plan.next_actions.*"),
            text("plan.blockers.*"),
            text("plan.notes"),
        ])
    };

    const SOURCE: Option<Source> = Some(Source::Plan);

    const MEANT_FOR: MeantFor = MeantFor::Shared(Share::Plan);

    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn keys(&self, _: &State) -> Vec<String> {
        vec![key(self.version).to_string()]
    }

    fn apply(self, state: &mut State, header: &Header) {
        let created_at = state.plan.as_ref().map_or(header.at, |before| before.created_at);
        state.plan = Some(Arc::new(held(self, header, created_at)));
    }

    fn recallable(&self) -> Option<Recallable> {
        Recallable::new(Source::Plan, vec![self.plan.lines().as_str().into()])
    }

    /// Only the newest version, also where that is older than the session's sharing it.
    fn recalls_from(view: &View<'_>, _: &str, _: &Audience) -> Option<Seq> {
        Some(view.plan().ok()?.seq)
    }

    fn visible_to(view: &View<'_>, _: &str) -> Option<Audience> {
        view.may_see(Share::Plan).then(|| view.state.audience_of(Share::Plan))
    }
}
