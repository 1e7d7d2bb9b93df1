//! Sessions.

use callboard_core::{
    agent::Agent,
    audience::Audience,
    compression::CompressionSettings,
    id::{CollectionName, Seq, SessionId},
    limits::Limits,
    prompt::profile::Profile,
    rights::{Grant, Share},
    schema::Title,
    session::Ttl,
    step::{Step, Steps},
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{SessionOverview, query::number};

/// A session, as its reader may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its id.
    #[schema(value_type = String)]
    pub id: SessionId,
    /// The number of the newest entry of its journal.
    #[schema(value_type = u64)]
    pub head: Seq,
    /// A title for people.
    pub title: Option<String>,
    /// The team. A worker sees only the names, roles and titles of other agents.
    pub agents: Vec<Agent>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_activity: Timestamp,
    /// When it expires unless it is used again; `null` means never.
    pub expires_at: Option<Timestamp>,
    /// After how many seconds without use it expires, or `never`.
    pub ttl_seconds: Ttl,
    /// Settings that only the user and the manager see.
    #[serde(flatten)]
    #[schema(value_type = SessionSettings, inline)]
    pub settings: Option<SessionSettings>,
    /// What is known of it at a glance; only for the user and the manager.
    #[serde(flatten)]
    #[schema(value_type = SessionOverview, inline)]
    pub overview: Option<SessionOverview>,
}

impl Session {
    /// The same, as a viewer may see it.
    #[must_use]
    pub fn seen(mut self, view: &View<'_>) -> Self {
        if !view.is_in_charge() {
            (self.settings, self.overview) = (None, None);
            let others = self.agents.iter_mut().filter(|agent| view.agent() != Some(&agent.name));
            others.for_each(|agent| (agent.instructions, agent.model, agent.tools) = (None, None, Vec::new()));
        }
        if let (Some(_), Some(run)) = (view.agent(), self.overview.as_mut().and_then(|overview| overview.run.as_mut()))
        {
            // It may repeat words of threads that the manager does not see.
            run.reason = None;
        }
        self
    }
}

/// Settings of a session that only the user and the manager see.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct SessionSettings {
    /// Which agents see a new context set that has no `visible_to`.
    #[schema(required = false)]
    pub default_visibility: Audience,
    /// What workers may also see. Without it, only the user and the manager may.
    #[schema(required = false)]
    pub share: Vec<Share>,
    /// What workers may also change. Without it, only the user and the manager may.
    #[schema(required = false)]
    pub grant: Vec<Grant>,
    /// How the parts of a prompt share its budget.
    #[schema(required = false)]
    pub prompt: Profile,
    /// The limits of runs. At a limit a run is paused.
    #[schema(required = false)]
    pub limits: Limits,
    /// The steps of the team's work. They say which tools may be used when.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<Step>)]
    pub steps: Steps,
    /// When its threads are compressed.
    #[serde(default, skip_serializing_if = "callboard_core::json::is_default")]
    #[schema(required = false)]
    pub compression: CompressionSettings,
    /// The collections whose documents its agents can look things up in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub collections: Vec<CollectionName>,
}

/// Sessions, sorted by id or by last use.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An event of the stream of sessions.
#[derive(Debug, ToSchema)]
pub struct SessionEvent {
    /// `session.changed`, `session.gone` or `sessions.changed`.
    pub event: Option<String>,
    /// A session as a list has it, an object with an `id`, or an empty object, as JSON.
    pub data: Option<String>,
}

/// Selects sessions.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    /// The most sessions to return. At most 1,000, which is also the default.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page. If absent: the first page.
    #[param(pattern = "^(3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]){1,128}$")]
    pub cursor: Option<String>,
    /// Only sessions whose id or title contains this, in upper or lower case.
    pub q: Option<String>,
    /// `recent` lists the last used ones first, `id` sorts them by id.
    #[serde(default)]
    #[param(inline, required = false)]
    pub order: SessionOrder,
}

/// The order of a list of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOrder {
    /// Sorted by id.
    Id,
    /// The last used first.
    #[default]
    Recent,
}

/// A session to create.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "title": "Release notes",
    "agents": [
        {"name": "lead", "role": "manager", "model": "openai:gpt-4o"},
        {"name": "writer", "role": "worker", "instructions": "Write short sentences."},
    ],
    "ttl_seconds": 86400,
}))]
pub struct NewSession {
    /// Its id. If absent: a generated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Title>)]
    pub title: Option<String>,
    /// The team. Team runs need a manager.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Agent>,
    /// Which agents see a new context set that has no `visible_to`. If absent: `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_visibility: Option<Audience>,
    /// What workers may also see. Without it, only the user and the manager may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<Share>,
    /// What workers may also change. Without it, only the user and the manager may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant: Vec<Grant>,
    /// How the parts of a prompt share its budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Profile>,
    /// After how many seconds without use it expires, or `never`. If absent: what the server was started with (`--ttl`,
    /// `SESSION_TTL_SECONDS`), which is 24 hours unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<Ttl>,
    /// The limits of runs. At a limit a run is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// The steps of the team's work. They say which tools may be used when.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<Step>)]
    pub steps: Steps,
    /// When its threads are compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<CompressionSettings>,
    /// The collections whose documents its agents can look things up in. Each must exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<CollectionName>,
    /// A session whose context sets it begins with: the latest version of each, for the same agents, with secrets hidden.
    /// The new team must have these agents. Process Steps goes to its manager. Forms that wait for the user are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_sets_from: Option<SessionId>,
}

/// Where to fork a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The number of the last entry to copy. If absent: all entries. Only the user may set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub at: Option<Seq>,
    /// The id of the fork. If absent: a generated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}
