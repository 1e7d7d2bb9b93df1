//! The state of a session: what is true now, folded from its journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    access_token::AccessTokens,
    agent::Team,
    audience::Audience,
    calibration::Calibration,
    context_set::ContextSets,
    conversation::Threads,
    document::Documents,
    entry::{Actor, Entry, Head},
    error::Error,
    file::Files,
    id::Seq,
    plan,
    rights::{Right, Share, Who},
    run::Runs,
    secret::Secrets,
    session::Session,
    step::Progress,
    time::Timestamp,
    variable::Variables,
    workflow::Workflow,
};

/// What is true of a session at its head. It holds no messages, and long texts by their hashes only: it stays small
/// however long the journal gets, and cloning it is cheap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Where the journal ends that this was folded from.
    pub head: Head,
    /// When the last entry was decided.
    pub last_at: Timestamp,
    /// The session itself. Before the first entry, the settings of no session.
    pub session: Arc<Session>,
    /// Its agents.
    pub team: Arc<Team>,
    /// Its context sets.
    pub sets: ContextSets,
    /// Its documents, without their texts.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub documents: Documents,
    /// Its threads.
    pub threads: Threads,
    /// What is known of its runs without the journal.
    pub runs: Runs,
    /// Where its team is among its steps.
    pub steps: Arc<Progress>,
    /// Its context files, as they were seen last.
    pub files: Files,
    /// Its variables.
    pub variables: Variables,
    /// Its plan, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<plan::HeldPlan>>,
    /// Its workflow: the nodes and their configuration, without results.
    pub workflow: Arc<Workflow>,
    /// Its tokens.
    pub tokens: AccessTokens,
    /// What its turns taught about the tokens of models.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub calibration: Calibration,
    /// Which secrets it has.
    pub secrets: Secrets,
    /// The entry that last erased what others say; 0 without one.
    #[serde(default, skip_serializing_if = "Seq::is_zero")]
    pub erased: Seq,
    /// How large its entries are together, without the long texts beside them.
    pub size_bytes: u64,
}

impl State {
    /// Moves the head to an entry that was applied.
    pub(crate) fn come_to(&mut self, entry: &Entry) {
        self.head = entry.head();
        self.last_at = entry.header.at;
        self.size_bytes = self.size_bytes.saturating_add(entry.data.len() as u64);
    }

    /// Refuses `by`, unless it has this right.
    pub fn check(&self, right: Right, by: &Actor) -> Result<(), Error> {
        let settings = &self.session.settings;
        let is_user = matches!(by, Actor::User | Actor::System);
        let has = match right.who {
            Who::Everyone => true,
            Who::Granted(grant) => self.is_in_charge(by) || settings.grant.contains(&grant),
            Who::Shared(share) => self.is_in_charge(by) || settings.share.contains(&share),
            Who::Manager => self.is_in_charge(by),
            Who::ManagerGranted(grant) => is_user || (self.is_in_charge(by) && settings.grant.contains(&grant)),
            Who::User => is_user,
            Who::System => *by == Actor::System,
        };
        if has { Ok(()) } else { Err(right.refuse(by)) }
    }

    /// Whether `actor` has the rights of the user or the manager.
    pub(crate) fn is_in_charge(&self, actor: &Actor) -> bool {
        match actor {
            Actor::User | Actor::System => true,
            Actor::Agent(name) => self.team.manager().is_some_and(|manager| manager.name == *name),
        }
    }

    /// Who may see what is for the user and the manager unless the session shares it.
    pub fn audience_of(&self, what: Share) -> Audience {
        if self.session.settings.share.contains(&what) { Audience::All } else { self.team.managers() }
    }
}
