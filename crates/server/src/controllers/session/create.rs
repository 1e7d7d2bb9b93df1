//! `POST /v1/sessions`

use callboard_core::{
    agent::Agent,
    entry::Actor,
    id::SessionId,
    prompt::profile::Profile,
    run::Limits,
    session::{Grant, Settings, Share, Ttl, Visible},
    step::Steps,
};
use callboard_engine::{Board, Error, NewBoardSession};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{SessionBody, made};
use crate::{answer::Answer, body::Asked, caller::Here, once::Task, problem::Problem, rights::CreateSession, shape};

/// What a new session is made of.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSession)]
pub(crate) struct NewSessionBody {
    /// Its name; a new one where it is left out.
    #[schema(value_type = Option<shape::text::SessionId>)]
    id: Option<SessionId>,
    #[schema(value_type = Option<shape::text::Title>)]
    title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::agent::AgentShape>)]
    agents: Vec<Agent>,
    #[schema(value_type = Option<shape::session::AudienceShape>)]
    default_visibility: Option<Visible>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::session::ShareShape>)]
    share: Vec<Share>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::session::GrantShape>)]
    grant: Vec<Grant>,
    #[schema(value_type = Option<shape::profile::ProfileShape>)]
    prompt: Option<Profile>,
    /// The inactivity after which it expires: seconds above 0, or `never`.
    #[schema(value_type = Option<shape::session::TtlShape>)]
    ttl_seconds: Option<Ttl>,
    #[schema(value_type = Option<shape::session::LimitsShape>)]
    limits: Option<Limits>,
    #[serde(default)]
    #[schema(value_type = Vec<shape::step::StepShape>)]
    steps: Steps,
}

/// Make a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "create_session",
    request_body = Option<NewSessionBody>,
    responses((status = CREATED, description = "The session", body = SessionBody)))]
pub(crate) async fn create(here: Here<CreateSession>, asked: Asked<NewSessionBody>) -> Result<Answer<Value>, Problem> {
    let Asked { body, terms } = asked;
    let board = &here.app.board;
    let id = body.id.clone().unwrap_or_else(|| board.new_id());
    let made = here.app.once(Actor::User, &terms, None, id, |task| make(board, body, task)).await?;
    Ok(Answer::created(made))
}

async fn make(board: &Board, body: NewSessionBody, task: Task<SessionId>) -> Result<Value, Problem> {
    let NewSessionBody { title, agents, default_visibility, share, grant, prompt, ttl_seconds, limits, steps, .. } =
        body;
    let settings = Settings {
        title,
        default_visibility: default_visibility.unwrap_or_default(),
        share,
        grant,
        prompt: prompt.unwrap_or_default(),
        ttl_seconds: ttl_seconds.unwrap_or(board.default_ttl()),
        limits: limits.unwrap_or_default(),
        steps,
    };
    let new = NewBoardSession { id: Some(task.meant.clone()), agents, settings: Some(settings) };
    let session = match board.create(new).await {
        Err(Error::Refused(refusal)) if task.again && refusal.code() == "session_exists" => {
            board.session(&task.meant).await?
        }
        session => session?,
    };
    made(&session).await
}
