//! The journal: reading it, following it, asking it.

mod events;
mod ws;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use callboard_core::id::Seq;
use futures::stream;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    caller::Authorized,
    params::Query,
    problem::Problem,
    rights::{AskWhy, ReadJournal},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read))
        .routes(routes!(events::events))
        .route("/v1/sessions/{session}/ws", axum::routing::get(ws::ws))
        .routes(routes!(why))
}

/// How many entries are read at once.
const PAGE: usize = 512;

/// Read the journal
#[utoipa::path(get, path = "/v1/sessions/{session}/journal", tag = "journal", operation_id = "read_journal",
    params(("session" = api::SessionId, Path, description = "The session"), api::JournalQuery),
    responses((status = OK, description = "The entries that the caller may see", body = api::JournalPage)))]
async fn read(caller: Authorized<ReadJournal>, Query(query): Query<api::JournalQuery>) -> Result<Response, Problem> {
    let after = Seq(query.after.unwrap_or(0));
    let types: Vec<Arc<str>> = api::words(query.types.as_deref()).map(Arc::from).collect();
    let head = caller.session.state().await?.head.seq;
    if after > head {
        return Err(callboard_core::error::Error::beyond_head(after, head).into());
    }
    if let Some(limit) = query.limit {
        let (entries, head) = caller.session.journal(&caller.viewer(), after, limit, &types).await?;
        return Ok(Answer::ok(api::JournalPage { entries, head }).at(head).into_response());
    }
    let pages = stream::try_unfold(Some(after), move |after| {
        let (session, viewer, types) = (caller.session.clone(), caller.viewer(), types.clone());
        async move {
            let Some(after) = after else { return Ok(None) };
            let (mut page, _) = session.journal(&viewer, after, PAGE, &types).await?;
            let last = page.last().map(|entry| entry.seq).filter(|last| page.len() == PAGE && *last < head);
            page.retain(|entry| entry.seq <= head);
            Ok::<_, Problem>(Some((page, last)))
        }
    });
    Ok(streamed("entries", pages, format!(",\"head\":{head}")))
}

/// Say where a text came from, who was shown it, and what became of it
///
/// It is looked for in what the caller may see: an agent learns nothing that it could not have read.
#[utoipa::path(get, path = "/v1/sessions/{session}/why", tag = "journal", operation_id = "ask_why",
    params(("session" = api::SessionId, Path, description = "The session"), api::WhyQuery),
    responses((status = OK, description = "The entries in which the text stands", body = api::Findings)))]
async fn why(caller: Authorized<AskWhy>, Query(query): Query<api::WhyQuery>) -> Result<Answer<api::Findings>, Problem> {
    caller.ask_why(query).await
}

impl Authorized<AskWhy> {
    /// Say where a text came from, who was shown it, and what became of it
    pub(crate) async fn ask_why(&self, query: api::WhyQuery) -> Result<Answer<api::Findings>, Problem> {
        Ok(Answer::ok(api::Findings { findings: self.session.why(&self.viewer(), &query.text).await? }))
    }
}
