//! Context sets.

use axum::response::Response;
use callboard_core::{
    context_set::{DeleteSet, HeldSet, PutSet, SetView},
    id::{Seq, SetName},
    text::Text,
    view::View,
};
use callboard_engine::{Receipt, Session};
use futures::{StreamExt, stream};
use serde_json::Value;

use crate::{answer::streamed, call::*, cursor::NamePage, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_context_sets)).routes(routes!(
        read_context_set,
        put_context_set,
        delete_context_set
    ))
}

/// List context sets
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets", tag = "context sets",
    params(api::PageAtQuery),
    responses((status = OK, description = "A page of the context sets that the caller sees, sorted by name", body = api::ContextSetList)))]
async fn list_context_sets(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::PageAtQuery>,
) -> Result<Response, CallError> {
    let page = NamePage::new(query.limit, query.cursor.as_deref())?;
    let look = |view: View<'_>| {
        let (sets, next_cursor) = page.of(view.sets(), |set| set.held().set.name.as_str());
        Ok((sets.into_iter().map(|set| Seen::of(set, &view)).collect::<Vec<_>>(), next_cursor))
    };
    let (sets, next_cursor) = caller.look_at(query.at, look).await?;
    let session = caller.session.clone();
    let sets = stream::iter(sets).then(move |set| {
        let session = session.clone();
        async move { set.whole(&session).await.map(|set| vec![set]) }
    });
    let next = next_cursor.map(|next| ("next_cursor", Value::String(next)));
    Ok(streamed("context_sets", sets.boxed(), next))
}

/// Read a context set
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    params(InPath<SetName>, api::AtQuery),
    responses((status = OK, description = "The context set", body = api::ContextSet)))]
async fn read_context_set(
    caller: Authorized<ReadSession>,
    InPath(name): InPath<SetName>,
    Query(query): Query<api::AtQuery>,
) -> Result<Answer<api::ContextSet>, CallError> {
    let seen = caller.look_at(query.at, |view| Ok(Seen::of(view.set(&name)?, &view))).await?;
    Ok(Answer::ok(seen.whole(&caller.session).await?))
}

/// Create or change a context set
///
/// Fields that are left out keep their value.
#[utoipa::path(put, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    params(InPath<SetName>),
    request_body = api::PutContextSet,
    responses((status = OK, description = "The context set after the change", body = api::PutContextSetAnswer)))]
async fn put_context_set(
    caller: Authorized<PutSet>,
    InPath(name): InPath<SetName>,
    RequestBody { body, options }: RequestBody<api::PutContextSet>,
) -> Result<Answer<api::PutContextSetAnswer>, CallError> {
    let api::PutContextSet { content, visible_to, enabled } = body;
    let put = PutSet { name: name.clone(), content, visible_to, enabled };
    let Receipt { answer, head } = caller.execute(options, put).await?;
    let set = caller.set_at(&name, head).await?;
    Ok(Answer::ok(api::PutContextSetAnswer { set, outcome: Some(answer.outcome) }).at(head))
}

/// Delete a context set
#[utoipa::path(delete, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    params(InPath<SetName>),
    responses((status = NO_CONTENT, description = "The context set is deleted")))]
async fn delete_context_set(
    caller: Authorized<DeleteSet>,
    InPath(name): InPath<SetName>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, DeleteSet(name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A context set as a viewer sees it, before a long content is read.
pub(crate) struct Seen {
    body: api::ContextSet,
    content: Option<Text>,
}

impl Seen {
    /// What `view` shows of a set.
    pub(crate) fn of(seen: SetView<'_>, view: &View<'_>) -> Self {
        let HeldSet { set, sight, updated_at, .. } = seen.held();
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
            hidden_from_agents: view.state.team.hidden_from(&sight.audience).cloned().collect(),
            enabled: set.enabled,
            form: form.filter(|_| is_whole),
            tokens: set.tokens,
            updated_at: *updated_at,
        };
        Self { body, content: is_whole.then(|| set.content.clone()) }
    }

    /// Whether it is a form, and shown as one.
    pub(super) fn is_form(&self) -> bool {
        self.body.form.is_some()
    }

    /// The same with its content, which is read from the store if it is long.
    pub(super) async fn whole(self, session: &Session) -> Result<api::ContextSet, CallError> {
        let Self { mut body, content } = self;
        if let Some(content) = content {
            body.content = Some(session.text(&content).await?);
        }
        Ok(body)
    }
}

impl<R> Authorized<R> {
    /// A context set as of the entry `head`.
    pub(super) async fn set_at(&self, name: &SetName, head: Seq) -> Result<api::ContextSet, CallError> {
        let look = |view: View<'_>| Ok(Seen::of(view.set(name)?, &view));
        self.session.view_at(&self.viewer(), head, look).await?.whole(&self.session).await
    }
}
