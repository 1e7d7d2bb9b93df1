//! Variables.

use callboard_core::{
    error::Error as Refusal,
    id::VariableName,
    secret::RestoreSecret,
    variable::{ClearVariables, PutVariable, SetVariable},
    view::View,
};
use serde_json::value::RawValue;

use crate::{call::*, cursor::NamePage, rights::ReadVariables};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_variables, clear_variables))
        .routes(routes!(read_variable, put_variable, clear_variable))
        .routes(routes!(restore_secret))
}

/// List variables
#[utoipa::path(get, path = "/v1/sessions/{session}/variables", tag = "variables",
    params(api::PageAtQuery),
    responses((status = OK, description = "A page of the variables, sorted by name", body = api::VariableList)))]
async fn list_variables(
    caller: Authorized<ReadVariables>,
    Query(query): Query<api::PageAtQuery>,
) -> Result<Answer<api::VariableList>, CallError> {
    let page = NamePage::new(query.limit, query.cursor.as_deref())?;
    let look = |view: View<'_>| {
        let (variables, next_cursor) = page.of(view.variables(), |variable| variable.name.as_str());
        Ok(api::VariableList { variables: variables.into_iter().map(api::Variable::of).collect(), next_cursor })
    };
    Ok(Answer::ok(caller.look_at(query.at, look).await?))
}

/// Clear all variables
#[utoipa::path(delete, path = "/v1/sessions/{session}/variables", tag = "variables",
    params(api::ReasonQuery),
    responses((status = NO_CONTENT, description = "All variables are cleared")))]
async fn clear_variables(
    caller: Authorized<ClearVariables>,
    Query(query): Query<api::ReasonQuery>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, ClearVariables { name: None, reason: query.reason }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read a variable
#[utoipa::path(get, path = "/v1/sessions/{session}/variables/{name}", tag = "variables",
    params(InPath<VariableName>, api::RevealQuery),
    responses((status = OK, description = "The variable with its value", body = api::VariableValue)))]
async fn read_variable(
    caller: Authorized<ReadVariables>,
    InPath(name): InPath<VariableName>,
    Query(query): Query<api::RevealQuery>,
) -> Result<Answer<api::VariableValue>, CallError> {
    if query.reveal && !caller.is_user() {
        return Err(caller.forbidden("see the values of secrets"));
    }
    if query.reveal && query.at.is_some() {
        let problem = "secrets are shown as they are now: leave `at` or `reveal` out";
        return Err(Refusal::invalid("/at", problem).into());
    }
    let variable = caller.look_at(query.at, |view| view.variable(&name).cloned()).await?;
    let mut value = caller.session.value_of(&variable).await?;
    if query.reveal && variable.secret {
        value = caller.session.reveal(caller.actor.clone(), &name).await?.to_string().into();
    }
    let unreadable = |error: serde_json::Error| CallError::new("damaged", format!("the value of {name}: {error}"));
    let value = RawValue::from_string(value.to_string()).map_err(unreadable)?;
    let api::Variable { name, secret, updated_at, .. } = api::Variable::of(&variable);
    Ok(Answer::ok(api::VariableValue { name, value, secret, updated_at }))
}

/// Set a variable
#[utoipa::path(put, path = "/v1/sessions/{session}/variables/{name}", tag = "variables",
    params(InPath<VariableName>),
    request_body = PutVariable,
    responses((status = OK, description = "The variable after the change", body = api::VariableAfter)))]
async fn put_variable(
    caller: Authorized<SetVariable>,
    InPath(name): InPath<VariableName>,
    RequestBody { body: put, options }: RequestBody<PutVariable>,
) -> Result<Answer<api::VariableAfter>, CallError> {
    let receipt = caller.execute(options, SetVariable::of(name.clone(), put)?).await?;
    let look = |view: View<'_>| Ok(api::Variable::of(view.variable(&name)?));
    let variable = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    let mut after = api::VariableAfter { variable, rewritten: None, forks: Vec::new(), searched: None };
    // An agent is not told how much of what is hidden from it says something.
    if after.variable.secret && caller.is_user() {
        let rewritten = caller.session.rewritten_by(receipt.head).await?;
        if let Some(first) = rewritten.first() {
            after.forks = caller.app.board.holders(&caller.session, *first).await?;
        }
        after.rewritten = Some(rewritten.len());
        after.searched = (!caller.session.is_looked_for(&name).await?).then_some(false);
    }
    Ok(Answer::ok(after).at(receipt.head))
}

/// Put a secret back that was marked by mistake
///
/// The variable is no secret any more, and its value stands again in all entries in which it was hidden. Where another secret
/// is hidden in an entry, that stays hidden. Only the user may call it.
#[utoipa::path(post, path = "/v1/sessions/{session}/secrets/restore", tag = "variables",
    request_body = api::RestoreSecret,
    responses((status = OK, description = "The entries in which the value stands again", body = api::RestoredSecret)))]
async fn restore_secret(
    caller: Authorized<RestoreSecret>,
    RequestBody { body, options }: RequestBody<api::RestoreSecret>,
) -> Result<Answer<api::RestoredSecret>, CallError> {
    let api::RestoreSecret { name, reason } = body;
    let restoring = caller.session.restoring(&name, &reason).await?;
    let receipt = caller.execute(options, restoring).await?;
    let entries = receipt.answer.entries;
    Ok(Answer::ok(api::RestoredSecret { name, entries, head: receipt.head }).at(receipt.head))
}

/// Clear a variable
#[utoipa::path(delete, path = "/v1/sessions/{session}/variables/{name}", tag = "variables",
    params(InPath<VariableName>, api::ReasonQuery),
    responses((status = NO_CONTENT, description = "The variable is cleared")))]
async fn clear_variable(
    caller: Authorized<ClearVariables>,
    InPath(name): InPath<VariableName>,
    Query(query): Query<api::ReasonQuery>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, ClearVariables { name: Some(name), reason: query.reason }).await?;
    Ok(StatusCode::NO_CONTENT)
}
