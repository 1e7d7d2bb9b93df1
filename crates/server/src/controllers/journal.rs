//! The journal: reading it, following it, asking it.

mod events;
mod ws;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use callboard_core::{id::Seq, view::Projected, why::Finding};
use futures::stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, streamed},
    app::App,
    caller::Authorized,
    params::{Query, number, words},
    problem::Problem,
    rights::{AskWhy, ReadJournal},
    shape,
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

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JournalQuery {
    /// Only entries behind this one.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    after: Option<u64>,
    /// At most so many; all where it is left out.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = Option<u64>, minimum = 0)]
    limit: Option<usize>,
    /// Only entries of these types, with commas between them.
    types: Option<String>,
}

/// Entries, and the head of the journal.
#[derive(Serialize, ToSchema)]
pub(crate) struct JournalPage {
    #[schema(value_type = Vec<shape::entry::EntryShape>)]
    entries: Vec<Projected>,
    #[schema(value_type = u64)]
    head: Seq,
}

/// Read the journal
#[utoipa::path(get, path = "/v1/sessions/{session}/journal", tag = "journal", operation_id = "read_journal",
    params(("session" = String, Path, description = "The session"), JournalQuery),
    responses((status = OK, description = "The entries that the caller may see", body = JournalPage)))]
async fn read(caller: Authorized<ReadJournal>, Query(query): Query<JournalQuery>) -> Result<Response, Problem> {
    let after = Seq(query.after.unwrap_or(0));
    let types: Vec<Arc<str>> = words(query.types.as_deref()).map(Arc::from).collect();
    let head = caller.session.state().await?.head.seq;
    if after > head {
        return Err(callboard_core::error::Error::beyond_head(after, head).into());
    }
    if let Some(limit) = query.limit {
        let (entries, head) = caller.session.journal(&caller.viewer(), after, limit, &types).await?;
        return Ok(Answer::ok(JournalPage { entries, head }).at(head).into_response());
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

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyQuery {
    /// The text, as it stands somewhere.
    #[param(value_type = shape::text::Saying)]
    text: String,
}

/// Where a text stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct Findings {
    /// The entries in which it stands, the oldest first.
    #[schema(value_type = Vec<shape::entry::FindingShape>)]
    findings: Vec<Finding>,
}

/// Say where a text came from, who was shown it, and what became of it
///
/// It is looked for in what the caller may see: an agent learns nothing that it could not have read.
#[utoipa::path(get, path = "/v1/sessions/{session}/why", tag = "journal", operation_id = "ask_why",
    params(("session" = String, Path, description = "The session"), WhyQuery),
    responses((status = OK, description = "The entries in which the text stands", body = Findings)))]
async fn why(caller: Authorized<AskWhy>, Query(query): Query<WhyQuery>) -> Result<Answer<Findings>, Problem> {
    Ok(Answer::ok(Findings { findings: caller.session.why(&caller.viewer(), &query.text).await? }))
}
