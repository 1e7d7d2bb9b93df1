//! The plan and its versions.

use std::sync::Arc;

use callboard_core::{
    entry::Actor,
    plan::{HeldPlan, PlanDocument, diff::Change},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::query::number;

/// A version of the plan.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    /// A plan with the fields that Callboard sets, as prompts show it.
    pub plan: PlanDocument,
    /// Its author, its time and its reason.
    #[serde(flatten)]
    pub version: PlanVersion,
}

/// A version of the plan, without the plan itself.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    /// Its number, from 1 without gaps.
    pub version: u64,
    /// Why it was made.
    pub reason: Arc<str>,
    /// Who made it: `user`, `system` or `agent:NAME`.
    #[schema(value_type = String)]
    pub by: Actor,
    /// When it was made.
    pub at: Timestamp,
}

impl PlanVersion {
    /// What is known of a version that was read.
    pub fn of(held: &HeldPlan) -> Self {
        Self { version: held.version, reason: held.reason.clone(), by: held.by.clone(), at: held.updated_at }
    }
}

impl Plan {
    /// A version that was read, in the session with this workflow.
    pub fn of(held: &HeldPlan, workflow_id: &Arc<str>) -> Self {
        Self { plan: held.document(workflow_id), version: PlanVersion::of(held) }
    }
}

/// Versions of the plan, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanVersionList {
    /// The versions.
    pub versions: Vec<PlanVersion>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which page of the versions is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlanVersionsQuery {
    /// The most versions to return. If absent: 100.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page. If absent: the first page.
    #[param(pattern = "^3[1-9](3[0-9]){0,17}$")]
    pub cursor: Option<String>,
}

/// The version of the plan after a change.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanChanged {
    /// The version.
    pub version: u64,
}

/// Which versions are to be compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlanDiffQuery {
    /// The older version. If absent: the version before `to`. 0 is before the first version.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    pub from: Option<u64>,
    /// The newer version. If absent: the newest.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 1)]
    pub to: Option<u64>,
}

/// The differences between two versions.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanDiff {
    /// The older version.
    pub from: u64,
    /// The newer version.
    pub to: u64,
    /// The differences. Empty if the versions are equal.
    pub changes: Vec<Change>,
}
