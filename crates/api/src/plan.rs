//! The plan and its versions.

use std::sync::Arc;

use callboard_core::{
    entry::Actor,
    number,
    plan::{self, Document, Held, Status, diff::Change},
    schema::Saying,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::query::number;

/// A version of the plan.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    /// What is planned, with what Callboard knows of it, as prompts show it.
    pub plan: Document,
    /// Who made it, when and why.
    #[serde(flatten)]
    pub version: PlanVersion,
}

/// What is known of a version of the plan.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    /// Its number, from 1 without gaps.
    pub version: u64,
    /// Why it was made.
    #[schema(value_type = String)]
    pub reason: Arc<str>,
    /// Who made it: `user`, `system` or `agent:NAME`.
    #[schema(value_type = String)]
    pub by: Actor,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl PlanVersion {
    /// What is known of a version that was read.
    pub fn of(held: &Held) -> Self {
        Self { version: held.version, reason: held.reason.clone(), by: held.by.clone(), at: held.updated_at }
    }
}

impl Plan {
    /// A version that was read, in the session with this workflow.
    pub fn of(held: &Held, workflow_id: &Arc<str>) -> Self {
        Self { plan: held.document(workflow_id), version: PlanVersion::of(held) }
    }
}

/// Versions of the plan, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanVersionList {
    /// The versions.
    pub versions: Vec<PlanVersion>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which page of the versions is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlanVersionsQuery {
    /// At most so many; 100 where it is left out.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<u64>, minimum = 0)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(pattern = "^3[1-9](3[0-9]){0,17}$")]
    pub cursor: Option<String>,
}

/// A plan in the place of the one that is there.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutPlan {
    /// The whole plan. What Callboard itself sets (`workflow_id`, `plan_version`, `created_at`, `updated_at`) is ignored.
    #[schema(value_type = plan::Plan)]
    pub plan: Value,
    /// Why it is changed.
    #[schema(value_type = Saying)]
    pub reason: Arc<str>,
    /// The version that it is to replace, 0 where there is to be none yet; any where it is left out.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// A change of one task.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanTaskPatch {
    /// How far it is now; as before where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What is noted now; as before where it is left out. A blank text takes the notes away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub notes: Option<Arc<str>>,
    /// Why it is changed.
    #[schema(value_type = Saying)]
    pub reason: Arc<str>,
}

/// The version of the plan after a change.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanChanged {
    /// The version.
    pub version: u64,
}

/// Which versions are to be compared.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlanDiffQuery {
    /// The older one; the one before `to` where it is left out. 0 is before the first version.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(minimum = 0)]
    pub from: Option<u64>,
    /// The newer one; the newest where it is left out.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1)]
    pub to: Option<u64>,
}

/// What differs between two versions.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanDiff {
    /// The older version.
    pub from: u64,
    /// The newer version.
    pub to: u64,
    /// What differs; nothing where they are equal.
    pub changes: Vec<Change>,
}
