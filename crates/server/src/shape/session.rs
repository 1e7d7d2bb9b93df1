//! What can be set of sessions.

use utoipa::ToSchema;

use super::{
    agent::AgentShape,
    profile::ProfileShape,
    step::StepShape,
    text::{AgentName, Title},
};

/// Who may see a thing: `all`, `none`, an agent's name or a list of names.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Audience)]
pub(crate) enum AudienceShape {
    Word(AudienceWord),
    Name(AgentName),
    Names(Vec<AgentName>),
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum AudienceWord {
    All,
    None,
}

/// A number of seconds above 0, or `never`.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Ttl)]
pub(crate) enum TtlShape {
    Seconds(Seconds),
    Never(Never),
}

#[derive(ToSchema)]
#[schema(minimum = 1)]
pub(crate) struct Seconds(u64);

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Never {
    Never,
}

/// What workers may see that is otherwise for the user and the manager.
#[derive(ToSchema)]
#[schema(as = Share, rename_all = "snake_case")]
pub(crate) enum ShareShape {
    Plan,
    Workflow,
    Variables,
    Browser,
    Runs,
}

/// What workers may do that is otherwise for the user and the manager.
#[derive(ToSchema)]
#[schema(as = Grant, rename_all = "snake_case")]
pub(crate) enum GrantShape {
    ContextSets,
}

/// How far a run goes before it is paused; what is left out is not limited.
#[derive(ToSchema)]
#[schema(as = Limits)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsShape {
    #[schema(minimum = 0)]
    turns: Option<u64>,
    #[schema(minimum = 0)]
    tokens: Option<u64>,
    #[schema(minimum = 0)]
    seconds: Option<u64>,
}

/// What is to be changed of a session; what is left out stays as it is.
#[derive(ToSchema)]
#[schema(as = SessionPatch)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionPatchShape {
    title: Option<Title>,
    agents: Option<Vec<AgentShape>>,
    default_visibility: Option<AudienceShape>,
    share: Option<Vec<ShareShape>>,
    grant: Option<Vec<GrantShape>>,
    prompt: Option<ProfileShape>,
    ttl_seconds: Option<TtlShape>,
    limits: Option<LimitsShape>,
    steps: Option<Vec<StepShape>>,
}
