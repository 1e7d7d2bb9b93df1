//! Forms.

use callboard_api as api;
use callboard_core::{form::SubmitForm, id::SetName, view::View};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer, app::App, body::RequestBody, caller::Authorized, controllers::context_set::Seen, params::Name,
    problem::Problem, rights::AnswerForm,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(answer))
}

/// Answer a form. The run that waits for it goes on
#[utoipa::path(post, path = "/v1/sessions/{session}/forms/{name}", tag = "forms", operation_id = "answer_form",
    params(("session" = api::SessionId, Path, description = "The session"), ("name" = api::SetName, Path, description = "The form")),
    request_body = api::FormAnswers,
    responses((status = OK, description = "The set that it became", body = api::ContextSet)))]
async fn answer(
    caller: Authorized<AnswerForm>,
    Name(name): Name<SetName>,
    request: RequestBody<api::FormAnswers>,
) -> Result<Answer<api::ContextSet>, Problem> {
    caller.answer_form(name, request).await
}

impl Authorized<AnswerForm> {
    /// Answer a form. The run that waits for it goes on
    pub(crate) async fn answer_form(
        &self,
        name: SetName,
        request: RequestBody<api::FormAnswers>,
    ) -> Result<Answer<api::ContextSet>, Problem> {
        let receipt =
            self.execute(request.options, SubmitForm { form: name.clone(), answers: request.body.answers }).await?;
        let look = |view: View<'_>| Ok(Seen::of(view.set(&name)?, &view));
        let seen = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(seen.whole(&self.session).await?).at(receipt.head))
    }
}
