//! How the parts of prompts share budgets.

use utoipa::ToSchema;

/// How the parts of a prompt share its budget.
#[derive(ToSchema)]
#[schema(as = Profile)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileShape {
    #[schema(minimum = 0)]
    budget: Option<u64>,
    #[schema(minimum = 0)]
    answer_tokens: Option<u64>,
    #[schema(required = false)]
    parts: PartsShape,
}

/// The parts that are other than by default.
#[derive(ToSchema)]
#[schema(as = ProfileParts)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartsShape {
    #[schema(required = false)]
    context_sets: SharesShape,
    #[schema(required = false)]
    history: SharesShape,
    #[schema(required = false)]
    task: SharesShape,
}

/// What of the budget a part gets: tokens, or a percentage such as `"25%"`.
#[derive(ToSchema)]
#[schema(as = Shares)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharesShape {
    min: Option<ShareOf>,
    max: Option<ShareOf>,
    priority: Option<i32>,
}

#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum ShareOf {
    Tokens(u64),
    Percent(Percent),
}

#[derive(ToSchema)]
#[schema(pattern = "^(100|[0-9]{1,2})%$")]
pub(crate) struct Percent(String);
