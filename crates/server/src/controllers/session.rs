//! Sessions.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod fork;
pub(super) mod list;
pub(super) mod read;
pub(super) mod update;

use callboard_core::{
    agent::Agent,
    id::{Seq, SessionId},
    prompt::profile::Profile,
    run::Limits,
    session::{Grant, Settings, Share, Ttl, Visible},
    state::State,
    step::Steps,
    time::Timestamp,
    view::View,
};
use callboard_engine::{Session, SessionInfo};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{problem::Problem, shape};

/// A session, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionBody {
    #[schema(value_type = String)]
    id: SessionId,
    /// The number of its last entry.
    #[schema(value_type = u64)]
    head: Seq,
    title: Option<String>,
    /// A worker sees of others only who they are.
    #[schema(value_type = Vec<shape::agent::AgentShape>)]
    agents: Vec<Agent>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    last_activity: Timestamp,
    /// `null` is never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = shape::session::TtlShape)]
    ttl_seconds: Ttl,
    /// What the user and the manager see besides.
    #[serde(flatten)]
    #[schema(value_type = More, inline)]
    more: Option<More>,
}

/// What the user and the manager see of a session besides.
#[derive(Serialize, ToSchema)]
struct More {
    #[schema(value_type = shape::session::AudienceShape, required = false)]
    default_visibility: Visible,
    #[schema(value_type = Vec<shape::session::ShareShape>, required = false)]
    share: Vec<Share>,
    #[schema(value_type = Vec<shape::session::GrantShape>, required = false)]
    grant: Vec<Grant>,
    #[schema(value_type = shape::profile::ProfileShape, required = false)]
    prompt: Profile,
    #[schema(value_type = shape::session::LimitsShape, required = false)]
    limits: Limits,
    #[serde(skip_serializing_if = "Steps::is_empty")]
    #[schema(value_type = Vec<shape::step::StepShape>, required = false)]
    steps: Steps,
}

impl SessionBody {
    /// What the user sees of it.
    fn of(info: SessionInfo) -> Self {
        let SessionInfo { id, head, created_at, last_activity, expires_at, agents, settings } = info;
        let Settings { title, default_visibility, share, grant, prompt, ttl_seconds, limits, steps } = settings;
        let more = Some(More { default_visibility, share, grant, prompt, limits, steps });
        Self { id, head, title, agents, created_at, last_activity, expires_at, ttl_seconds, more }
    }

    /// What a viewer sees of it.
    fn seen(view: &View<'_>, info: SessionInfo) -> Self {
        let mut seen = Self::of(info);
        if !view.is_in_charge() {
            seen.more = None;
            let own = |agent: &Agent| view.agent() == Some(&agent.name);
            let public = |agent: Agent| Agent { instructions: None, model: None, tools: Vec::new(), ..agent };
            seen.agents =
                seen.agents.into_iter().map(|agent| if own(&agent) { agent } else { public(agent) }).collect();
        }
        seen
    }
}

/// What is known of a session of this state, which its last entry was its last use of.
fn known(id: &SessionId, state: &State) -> SessionInfo {
    let settings = state.session.settings.clone();
    SessionInfo {
        id: id.clone(),
        head: state.head.seq,
        created_at: state.session.created_at,
        last_activity: state.last_at,
        expires_at: settings.ttl_seconds.expires_at(state.last_at),
        agents: state.team.agents().cloned().collect(),
        settings,
    }
}

/// A session that was made, as its first answer shows it and every later one to the same request.
pub(crate) async fn made(session: &Session) -> Result<serde_json::Value, Problem> {
    let body = SessionBody::of(session.info().await?);
    serde_json::to_value(body)
        .map_err(|error| Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string()))
}
