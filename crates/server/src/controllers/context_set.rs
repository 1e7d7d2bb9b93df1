//! Context sets.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use callboard_core::{
    audience::Audience,
    context_set::{DeleteSet, Held, Outcome, PutSet, SetView, hidden_from_agents},
    count::Tokens,
    form::Field,
    id::{AgentName, SetName},
    text::Text,
    time::Timestamp,
    view::View,
};
use callboard_engine::Session;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    cursor::{self, After},
    params::{Name, PageQuery, Query},
    problem::Problem,
    rights::{ReadSets, WriteSets},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(read, put, delete))
}

/// A context set, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextSet)]
pub(crate) struct SetBody {
    #[schema(value_type = String)]
    name: SetName,
    /// Left out where the manager sees that there is such a set, and not what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    content: Option<Arc<str>>,
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
    #[schema(value_type = Vec<String>)]
    hidden_from_agents: Vec<AgentName>,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<FormBody>,
    #[schema(value_type = u64)]
    tokens: Tokens,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A form.
#[derive(Serialize, ToSchema)]
#[schema(as = Form)]
struct FormBody {
    #[schema(value_type = String)]
    name: SetName,
    #[schema(value_type = Vec<shape::form::FieldShape>)]
    fields: Vec<Field>,
    answered: bool,
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Value>, required = false)]
    answers: Map<String, Value>,
}

/// A set as it was seen, before its content is read.
pub(crate) struct Seen {
    body: SetBody,
    content: Option<Text>,
}

impl Seen {
    /// What is seen of a set.
    pub(crate) fn of(seen: SetView<'_>, view: &View<'_>) -> Self {
        let Held { set, updated_at, .. } = seen.held();
        let form = set.form.as_ref().map(|form| FormBody {
            name: set.name.clone(),
            fields: form.fields.clone(),
            answered: form.answered,
            answers: form.answers.clone(),
        });
        let is_whole = matches!(seen, SetView::Whole(_));
        let body = SetBody {
            name: set.name.clone(),
            content: None,
            visible_to: set.visible_to.clone(),
            hidden_from_agents: hidden_from_agents(seen.held(), &view.state.team).cloned().collect(),
            enabled: set.enabled,
            form: form.filter(|_| is_whole),
            tokens: set.tokens,
            updated_at: *updated_at,
        };
        Self { body, content: is_whole.then(|| set.content.clone()) }
    }

    /// The same with its content, which is read where it is long.
    pub(super) async fn whole(self, session: &Session) -> Result<SetBody, Problem> {
        let Self { mut body, content } = self;
        if let Some(content) = content {
            body.content = Some(session.text(&content).await?);
        }
        Ok(body)
    }
}

/// Context sets by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct ContextSetList {
    context_sets: Vec<SetBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List context sets
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets", tag = "context sets",
    operation_id = "list_context_sets",
    params(("session" = String, Path, description = "The session"), PageQuery),
    responses((status = OK, description = "The sets that the caller sees, by name", body = ContextSetList)))]
async fn list(caller: Authorized<ReadSets>, Query(query): Query<PageQuery>) -> Result<Response, Problem> {
    let after = After::read(query.cursor.as_deref())?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut sets = caller
        .session
        .view(&caller.viewer(), |view| {
            let sets = view.sets().filter(|set| after.is_before(set.held().set.name.as_str()));
            let sets = sets.take(limit.saturating_add(1));
            Ok(sets.map(|set| (set.held().set.name.clone(), Seen::of(set, &view))).collect::<Vec<_>>())
        })
        .await?;
    let next = cursor::cut(&mut sets, limit, |(name, _)| name.as_str());
    let behind = next.map(|next| format!(",\"next_cursor\":\"{next}\"")).unwrap_or_default();
    let sets = stream::iter(sets).then(move |(_, set)| {
        let session = caller.session.clone();
        async move { set.whole(&session).await.map(|set| vec![set]) }
    });
    Ok(streamed("context_sets", sets, behind))
}

/// Read a context set
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "read_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    responses((status = OK, description = "The set", body = SetBody)))]
async fn read(caller: Authorized<ReadSets>, Name(name): Name<SetName>) -> Result<Answer<SetBody>, Problem> {
    let seen = caller.session.view(&caller.viewer(), |view| Ok(Seen::of(view.set(&name)?, &view))).await?;
    Ok(Answer::ok(seen.whole(&caller.session).await?))
}

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
async fn put(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<PutBody>,
) -> Result<Answer<PutAnswer>, Problem> {
    let PutBody { content, visible_to, enabled } = request.body;
    let put = PutSet { name: name.clone(), content, visible_to, enabled };
    let receipt = caller.execute(request.options, put).await?;
    let look = |view: callboard_core::view::View<'_>| Ok(Seen::of(view.set(&name)?, &view));
    let seen = caller.session.view_at(&caller.viewer(), receipt.head, look).await?;
    let outcome = Some(receipt.answer.outcome);
    Ok(Answer::ok(PutAnswer { set: seen.whole(&caller.session).await?, outcome }).at(receipt.head))
}

/// Delete a context set
#[utoipa::path(delete, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "delete_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn delete(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    caller.execute(request.options, DeleteSet(name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
