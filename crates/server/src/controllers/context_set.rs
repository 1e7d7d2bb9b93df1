//! Context sets.

use axum::{http::StatusCode, response::Response};
use callboard_api as api;
use callboard_core::{
    context_set::{DeleteSet, Held, PutSet, SetView, hidden_from_agents},
    id::SetName,
    text::Text,
    view::View,
};
use callboard_engine::Session;
use futures::{StreamExt, stream};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    cursor::{self, After},
    params::{Name, Query},
    problem::Problem,
    rights::{ReadSets, WriteSets},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(read, put, delete))
}

/// A set as it was seen, before its content is read.
pub(crate) struct Seen {
    body: api::ContextSet,
    content: Option<Text>,
}

impl Seen {
    /// What is seen of a set.
    pub(crate) fn of(seen: SetView<'_>, view: &View<'_>) -> Self {
        let Held { set, updated_at, .. } = seen.held();
        let form = set.form.as_ref().map(|form| api::Form {
            name: set.name.clone(),
            fields: form.fields.clone(),
            answered: form.answered,
            answers: form.answers.clone(),
        });
        let is_whole = matches!(seen, SetView::Whole(_));
        let body = api::ContextSet {
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
    pub(super) async fn whole(self, session: &Session) -> Result<api::ContextSet, Problem> {
        let Self { mut body, content } = self;
        if let Some(content) = content {
            body.content = Some(session.text(&content).await?);
        }
        Ok(body)
    }
}

/// List context sets
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets", tag = "context sets",
    operation_id = "list_context_sets",
    params(("session" = api::SessionId, Path, description = "The session"), api::PageQuery),
    responses((status = OK, description = "The sets that the caller sees, by name", body = api::ContextSetList)))]
async fn list(caller: Authorized<ReadSets>, Query(query): Query<api::PageQuery>) -> Result<Response, Problem> {
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
    params(("session" = api::SessionId, Path, description = "The session"), ("name" = api::SetName, Path, description = "The set")),
    responses((status = OK, description = "The set", body = api::ContextSet)))]
async fn read(caller: Authorized<ReadSets>, Name(name): Name<SetName>) -> Result<Answer<api::ContextSet>, Problem> {
    caller.read_set(name).await
}

/// Create or change a context set
#[utoipa::path(put, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "put_context_set",
    params(("session" = api::SessionId, Path, description = "The session"), ("name" = api::SetName, Path, description = "The set")),
    request_body = api::PutContextSet,
    responses((status = OK, description = "The set after it", body = api::PutContextSetAnswer)))]
async fn put(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<api::PutContextSet>,
) -> Result<Answer<api::PutContextSetAnswer>, Problem> {
    caller.put_set(name, request).await
}

/// Delete a context set
#[utoipa::path(delete, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "delete_context_set",
    params(("session" = api::SessionId, Path, description = "The session"), ("name" = api::SetName, Path, description = "The set")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn delete(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    caller.delete_set(name, request).await.map(|()| StatusCode::NO_CONTENT)
}

impl Authorized<ReadSets> {
    /// Read a context set
    pub(crate) async fn read_set(&self, name: SetName) -> Result<Answer<api::ContextSet>, Problem> {
        let seen = self.session.view(&self.viewer(), |view| Ok(Seen::of(view.set(&name)?, &view))).await?;
        Ok(Answer::ok(seen.whole(&self.session).await?))
    }
}

impl Authorized<WriteSets> {
    /// Create or change a context set
    pub(crate) async fn put_set(
        &self,
        name: SetName,
        request: RequestBody<api::PutContextSet>,
    ) -> Result<Answer<api::PutContextSetAnswer>, Problem> {
        let api::PutContextSet { content, visible_to, enabled } = request.body;
        let put = PutSet { name: name.clone(), content, visible_to, enabled };
        let receipt = self.execute(request.options, put).await?;
        let look = |view: callboard_core::view::View<'_>| Ok(Seen::of(view.set(&name)?, &view));
        let seen = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        let outcome = Some(receipt.answer.outcome);
        Ok(Answer::ok(api::PutContextSetAnswer { set: seen.whole(&self.session).await?, outcome }).at(receipt.head))
    }

    /// Delete a context set
    pub(crate) async fn delete_set(&self, name: SetName, request: RequestBody<Empty>) -> Result<(), Problem> {
        self.execute(request.options, DeleteSet(name)).await?;
        Ok(())
    }
}
