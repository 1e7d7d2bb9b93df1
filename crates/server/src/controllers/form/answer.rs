//! `POST /v1/sessions/{session}/forms/{name}`

use callboard_core::{command::Command, id::SetName, view::View};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    answer::Answer,
    body::Asked,
    caller::On,
    controllers::context_set::{Seen, SetBody},
    params::Name,
    problem::Problem,
    rights::AnswerForm,
};

/// What the user gives.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormAnswers {
    /// An answer for each field, by its key.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    answers: Map<String, Value>,
}

/// Answer a form. The run that waits for it goes on
#[utoipa::path(post, path = "/v1/sessions/{session}/forms/{name}", tag = "forms", operation_id = "answer_form",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The form")),
    request_body = FormAnswers,
    responses((status = OK, description = "The set that it became", body = SetBody)))]
pub(crate) async fn answer(
    on: On<AnswerForm>,
    Name(name): Name<SetName>,
    asked: Asked<FormAnswers>,
) -> Result<Answer<SetBody>, Problem> {
    let receipt = on.execute(asked.terms, Command::SubmitForm(name.clone(), asked.body.answers)).await?;
    let look = |view: View<'_>| Ok(Seen::of(view.set(&name)?, &view));
    let seen = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(seen.whole(&on.session).await?).at(receipt.head))
}
