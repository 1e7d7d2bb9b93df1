//! The plan and its versions.

use std::sync::Arc;

use callboard_core::plan::{HeldPlan, PatchTask, PutPlan, TaskPatch, diff::diff};

use crate::{
    call::*,
    cursor,
    params::{TaskNumber, VersionNumber},
    rights::ReadSession,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_plan, put_plan))
        .routes(routes!(list_plan_versions))
        .routes(routes!(read_plan_version))
        .routes(routes!(compare_plans))
        .routes(routes!(patch_plan_task))
}

/// Read the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan", tag = "plan",
    params(api::AtQuery),
    responses((status = OK, description = "The plan", body = api::Plan)))]
async fn read_plan(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::AtQuery>,
) -> Result<Answer<api::Plan>, CallError> {
    let look = |view: callboard_core::view::View<'_>| {
        Ok((api::Plan::of(view.plan()?, &view.state.session.workflow_id), view.state.head.seq))
    };
    let (plan, head) = caller.look_at(query.at, look).await?;
    Ok(Answer::ok(plan).at(head))
}

/// Replace the plan
///
/// The whole plan is replaced, as a new version. An invalid plan is refused with a list of all its faults. With
/// `expected_version`, only that version is replaced: if the plan has another version by now, the answer is 409.
#[utoipa::path(put, path = "/v1/sessions/{session}/plan", tag = "plan",
    request_body = PutPlan,
    responses((status = OK, description = "The new version", body = api::PlanChanged)))]
async fn put_plan(
    caller: Authorized<PutPlan>,
    RequestBody { body, options }: RequestBody<PutPlan>,
) -> Result<Answer<api::PlanChanged>, CallError> {
    let receipt = caller.execute(options, body).await?;
    Ok(Answer::ok(api::PlanChanged { version: receipt.answer.0 }).at(receipt.head))
}

/// List the versions of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/versions", tag = "plan",
    params(api::PlanVersionsQuery),
    responses((status = OK, description = "The versions that the caller may see, the newest first", body = api::PlanVersionList)))]
async fn list_plan_versions(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::PlanVersionsQuery>,
) -> Result<Answer<api::PlanVersionList>, CallError> {
    let before = query.cursor.as_deref().map(cursor::number).transpose()?;
    let limit = query.limit.unwrap_or(LISTED);
    let held = caller.session.plan_versions(&caller.viewer(), before, limit.saturating_add(1)).await?;
    let mut versions: Vec<_> = held.iter().map(api::PlanVersion::of).collect();
    let next_cursor = cursor::cut(&mut versions, limit, |held| held.version.to_string());
    Ok(Answer::ok(api::PlanVersionList { versions, next_cursor }))
}

/// Read a version of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/versions/{version}", tag = "plan",
    params(InPath<VersionNumber>),
    responses((status = OK, description = "The version", body = api::Plan)))]
async fn read_plan_version(
    caller: Authorized<ReadSession>,
    InPath(VersionNumber(version)): InPath<VersionNumber>,
) -> Result<Answer<api::Plan>, CallError> {
    let held = caller.session.plan_version(&caller.viewer(), version).await?;
    let state = caller.session.known()?;
    Ok(Answer::ok(api::Plan::of(&held, &state.session.workflow_id)))
}

/// Compare two versions of the plan
#[utoipa::path(get, path = "/v1/sessions/{session}/plan/diff", tag = "plan",
    params(api::PlanDiffQuery),
    responses((status = OK, description = "What differs, task by task", body = api::PlanDiff)))]
async fn compare_plans(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::PlanDiffQuery>,
) -> Result<Answer<api::PlanDiff>, CallError> {
    let to = match query.to {
        Some(version) => caller.session.plan_version(&caller.viewer(), version).await?,
        None => caller.session.view(&caller.viewer(), |view| Ok(view.plan()?.clone())).await?,
    };
    let from = query.from.unwrap_or_else(|| to.version.saturating_sub(1));
    let before: Option<Arc<HeldPlan>> = match from {
        0 => None,
        version => Some(caller.session.plan_version(&caller.viewer(), version).await?),
    };
    let changes = diff(before.as_ref().map(|before| &*before.plan), &to.plan);
    Ok(Answer::ok(api::PlanDiff { from, to: to.version, changes }))
}

/// Change the status or the notes of a task of the plan
///
/// This creates a version of the plan, unless nothing changes.
#[utoipa::path(patch, path = "/v1/sessions/{session}/plan/tasks/{task}", tag = "plan",
    params(InPath<TaskNumber>),
    request_body = TaskPatch,
    responses((status = OK, description = "The version after it", body = api::PlanChanged)))]
async fn patch_plan_task(
    caller: Authorized<PatchTask>,
    InPath(TaskNumber(task_id)): InPath<TaskNumber>,
    RequestBody { body: patch, options }: RequestBody<TaskPatch>,
) -> Result<Answer<api::PlanChanged>, CallError> {
    let receipt = caller.execute(options, PatchTask { task_id, patch }).await?;
    Ok(Answer::ok(api::PlanChanged { version: receipt.answer.0 }).at(receipt.head))
}

/// How many versions are listed where the caller does not say.
const LISTED: usize = 100;
