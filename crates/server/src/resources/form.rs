//! Forms.

use callboard_core::{context_set::form::SubmitForm, id::SetName, view::View};

use crate::{call::*, resources::context_set::Seen, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_forms)).routes(routes!(answer_form))
}

/// List forms
#[utoipa::path(get, path = "/v1/sessions/{session}/forms", tag = "forms",
    params(api::AtQuery),
    responses((status = OK, description = "The forms that the caller sees, open and answered", body = api::FormList)))]
async fn list_forms(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::AtQuery>,
) -> Result<Answer<api::FormList>, CallError> {
    let look = |view: View<'_>| Ok(view.sets().map(|set| Seen::of(set, &view)).collect::<Vec<_>>());
    let mut forms = Vec::new();
    for seen in caller.look_at(query.at, look).await?.into_iter().filter(Seen::is_form) {
        let set = seen.whole(&caller.session).await?;
        forms.extend(set.form.map(|form| api::ListedForm { form, request: set.content.as_deref().map(str::to_owned) }));
    }
    Ok(Answer::ok(api::FormList { forms }))
}

/// Answer a form
///
/// A run that waits for it goes on.
#[utoipa::path(post, path = "/v1/sessions/{session}/forms/{name}", tag = "forms",
    params(InPath<SetName>),
    request_body = api::FormAnswers,
    responses((status = OK, description = "The context set of the form, with the answers", body = api::ContextSet)))]
async fn answer_form(
    caller: Authorized<SubmitForm>,
    InPath(name): InPath<SetName>,
    RequestBody { body, options }: RequestBody<api::FormAnswers>,
) -> Result<Answer<api::ContextSet>, CallError> {
    let receipt = caller.execute(options, SubmitForm { form: name.clone(), answers: body.answers }).await?;
    Ok(Answer::ok(caller.set_at(&name, receipt.head).await?).at(receipt.head))
}
