//! `PUT /v1/sessions/{session}/context-sets/{name}`

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    command::{Answer as Executed, Command},
    context_set::{Outcome, PutSet},
    id::SetName,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Seen, SetBody};
use crate::{answer::Answer, body::Asked, caller::On, params::Name, problem::Problem, rights::WriteSets, shape};

/// What a set is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PutContextSet)]
pub(crate) struct PutBody {
    /// What it is to say. An empty text is stored, too: a set is deleted with `DELETE`.
    #[schema(value_type = String)]
    content: Arc<str>,
    /// Who is to see it; as before, or the session's default, where it is left out.
    #[schema(value_type = Option<shape::session::AudienceShape>)]
    visible_to: Option<Audience>,
    /// Whether it is to stand in prompts. Only the user says so.
    enabled: Option<bool>,
}

/// The set after it, and how it came out.
#[derive(Serialize, ToSchema)]
#[schema(as = PutContextSetAnswer)]
pub(crate) struct PutAnswer {
    #[serde(flatten)]
    set: SetBody,
    /// `created`, `updated` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<shape::directive::OutcomeWord>)]
    outcome: Option<Outcome>,
}

/// Create or change a context set
#[utoipa::path(put, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "put_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    request_body = PutBody,
    responses((status = OK, description = "The set after it", body = PutAnswer)))]
pub(crate) async fn put(
    on: On<WriteSets>,
    Name(name): Name<SetName>,
    asked: Asked<PutBody>,
) -> Result<Answer<PutAnswer>, Problem> {
    let PutBody { content, visible_to, enabled } = asked.body;
    let put = PutSet { name: name.clone(), content, visible_to, enabled };
    let receipt = on.execute(asked.terms, Command::PutSet(put)).await?;
    let look = |view: callboard_core::view::View<'_>| Ok(Seen::of(view.set(&name)?, &view));
    let seen = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    let outcome = match receipt.answer {
        Executed::Directed(directed) => directed.outcomes.first().map(|set| set.outcome),
        _ => None,
    };
    Ok(Answer::ok(PutAnswer { set: seen.whole(&on.session).await?, outcome }).at(receipt.head))
}
