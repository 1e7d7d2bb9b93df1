//! `PUT /v1/sessions/{session}/context-sets/{name}`

use std::sync::Arc;

use callboard_core::{audience::Audience, command::Command, context_set::PutSet, id::SetName};
use serde::Deserialize;
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
    #[schema(value_type = Option<shape::AudienceShape>)]
    visible_to: Option<Audience>,
    /// Whether it is to stand in prompts. Only the user says so.
    enabled: Option<bool>,
}

/// Create or change a context set
#[utoipa::path(put, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "put_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    request_body = PutBody,
    responses((status = OK, description = "The set after it", body = SetBody)))]
pub(crate) async fn put(
    on: On<WriteSets>,
    Name(name): Name<SetName>,
    asked: Asked<PutBody>,
) -> Result<Answer<SetBody>, Problem> {
    let PutBody { content, visible_to, enabled } = asked.body;
    let put = PutSet { name: name.clone(), content, visible_to, enabled };
    let receipt = on.execute(asked.terms, Command::PutSet(put)).await?;
    let look = |view: callboard_core::view::View<'_>| Ok(Seen::of(view.set(&name)?, &view));
    let seen = on.session.view_at(&on.viewer(), receipt.head, look).await?;
    Ok(Answer::ok(seen.whole(&on.session).await?).at(receipt.head))
}
