//! Sessions.

use callboard_core::{
    agent::Agent,
    id::{Seq, SessionId},
    prompt::profile::Profile,
    run::Limits,
    schema::Title,
    session::{Grant, Share, Ttl, Visible},
    step::{Step, Steps},
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::query::number;

/// A session, as far as its reader may know it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its name.
    #[schema(value_type = String)]
    pub id: SessionId,
    /// The number of its last entry.
    #[schema(value_type = u64)]
    pub head: Seq,
    /// What people call it.
    pub title: Option<String>,
    /// A worker sees of others only who they are.
    pub agents: Vec<Agent>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was used last.
    #[schema(value_type = String, format = DateTime)]
    pub last_activity: Timestamp,
    /// `null` is never.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// The inactivity after which it expires.
    pub ttl_seconds: Ttl,
    /// What the user and the manager see besides.
    #[serde(flatten)]
    #[schema(value_type = SessionSettings, inline)]
    pub settings: Option<SessionSettings>,
}

impl Session {
    /// The same, as far as a viewer may know it.
    #[must_use]
    pub fn seen(mut self, view: &View<'_>) -> Self {
        if !view.is_in_charge() {
            self.settings = None;
            let others = self.agents.iter_mut().filter(|agent| view.agent() != Some(&agent.name));
            others.for_each(|agent| (agent.instructions, agent.model, agent.tools) = (None, None, Vec::new()));
        }
        self
    }
}

/// What the user and the manager see of a session besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct SessionSettings {
    /// Who sees a new context set that does not say so.
    #[schema(required = false)]
    pub default_visibility: Visible,
    /// What workers may see that is otherwise for the user and the manager.
    #[schema(required = false)]
    pub share: Vec<Share>,
    /// What workers may do that is otherwise for the user and the manager.
    #[schema(required = false)]
    pub grant: Vec<Grant>,
    /// How the parts of prompts share their budgets.
    #[schema(required = false)]
    pub prompt: Profile,
    /// How far a run goes before it is paused.
    #[schema(required = false)]
    pub limits: Limits,
    /// How its team goes about the work.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<Step>)]
    pub steps: Steps,
}

/// Sessions, by id or by their last use.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which sessions are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    /// At most so many; 1,000 where it is left out, which is also the most.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(pattern = "^(3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]){1,128}$")]
    pub cursor: Option<String>,
    /// `id`, or `recent` for the ones used last, the last one first: these are no pages, but the first of all, behind a
    /// cursor of those with later ids.
    #[serde(default)]
    #[param(inline, required = false)]
    pub order: SessionOrder,
}

/// In which order sessions are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOrder {
    /// By their ids.
    #[default]
    Id,
    /// By their last use.
    Recent,
}

/// What a new session is made of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Its name; a new one where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Title>)]
    pub title: Option<String>,
    /// Its team.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Agent>,
    /// Who sees a new context set that does not say so; `all` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_visibility: Option<Visible>,
    /// What workers may see that is otherwise for the user and the manager.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<Share>,
    /// What workers may do that is otherwise for the user and the manager.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant: Vec<Grant>,
    /// How the parts of prompts share their budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Profile>,
    /// The inactivity after which it expires: seconds above 0, or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<Ttl>,
    /// How far a run goes before it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// How its team goes about the work.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<Step>)]
    pub steps: Steps,
}

/// Where a session is forked.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The last entry that the fork has; the head where it is left out. For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub at: Option<Seq>,
    /// The name of the fork; a new one where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}
