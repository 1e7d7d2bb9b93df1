//! Context files.

use utoipa::ToSchema;

/// What a context file is for: the folder it is in.
#[derive(ToSchema)]
#[schema(as = ContextFileCategory, rename_all = "snake_case")]
pub(crate) enum CategoryShape {
    Features,
    Documentation,
    Code,
    Refactoring,
    Testing,
    Tasks,
    General,
}

/// How many of some words have to fit.
#[derive(ToSchema)]
#[schema(as = Match, rename_all = "snake_case")]
pub(crate) enum MatchShape {
    Any,
    All,
}
