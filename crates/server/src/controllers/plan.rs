//! The plan and its versions.

use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{
        Answer, Authorized, CallError,
        rights::{ChangePlan, ReadPlan},
    },
    params::{Query, TaskNumber, VersionNumber},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read, put))
        .routes(routes!(versions))
        .routes(routes!(version))
        .routes(routes!(compare))
        .routes(routes!(patch))
}

/// Read the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan", tag = "plan", operation_id = "read_plan",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::AtQuery),
    responses((status = OK, description = "The plan", body = api::Plan)))]
async fn read(caller: Authorized<ReadPlan>, Query(query): Query<api::AtQuery>) -> Result<Answer<api::Plan>, CallError> {
    caller.read_plan(query).await
}

/// Replace the plan
///
/// The whole plan is replaced, as a new version. An invalid plan is refused with a list of all its faults. With
/// `expected_version`, only that version is replaced: if the plan has another version by now, the answer is 409.
#[utoipa::path(put, path = "/v1/sessions/{session}/plan", tag = "plan", operation_id = "put_plan",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::PutPlan,
    responses((status = OK, description = "The new version", body = api::PlanChanged)))]
async fn put(
    caller: Authorized<ChangePlan>,
    request: RequestBody<api::PutPlan>,
) -> Result<Answer<api::PlanChanged>, CallError> {
    caller.put_plan(request.body, request.options).await
}

/// List the versions of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/versions", tag = "plan", operation_id = "list_plan_versions",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::PlanVersionsQuery),
    responses((status = OK, description = "The versions that the caller may see, the newest first", body = api::PlanVersionList)))]
async fn versions(
    caller: Authorized<ReadPlan>,
    Query(query): Query<api::PlanVersionsQuery>,
) -> Result<Answer<api::PlanVersionList>, CallError> {
    caller.list_plan_versions(query).await
}

/// Read a version of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/versions/{version}", tag = "plan",
    operation_id = "read_plan_version",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("version" = u64, Path, description = "The number of the version")),
    responses((status = OK, description = "The version", body = api::Plan)))]
async fn version(
    caller: Authorized<ReadPlan>,
    VersionNumber(version): VersionNumber,
) -> Result<Answer<api::Plan>, CallError> {
    caller.read_plan_version(version).await
}

/// Compare two versions of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/diff", tag = "plan", operation_id = "compare_plans",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::PlanDiffQuery),
    responses((status = OK, description = "What differs, task by task", body = api::PlanDiff)))]
async fn compare(
    caller: Authorized<ReadPlan>,
    Query(query): Query<api::PlanDiffQuery>,
) -> Result<Answer<api::PlanDiff>, CallError> {
    caller.compare_plans(query).await
}

/// Change the status or the notes of a task of the plan
///
/// This creates a version of the plan, unless nothing changes.
#[utoipa::path(patch, path = "/v1/sessions/{session}/plan/tasks/{task}", tag = "plan", operation_id = "patch_plan_task",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("task" = u64, Path, description = "The number of the task")),
    request_body = api::PlanTaskPatch,
    responses((status = OK, description = "The version after it", body = api::PlanChanged)))]
async fn patch(
    caller: Authorized<ChangePlan>,
    TaskNumber(task): TaskNumber,
    request: RequestBody<api::PlanTaskPatch>,
) -> Result<Answer<api::PlanChanged>, CallError> {
    caller.patch_plan_task(task, request.body, request.options).await
}
