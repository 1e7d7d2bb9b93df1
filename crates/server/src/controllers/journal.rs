//! The journal: reading it, following it, searching it.

mod events;
mod ws;

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use serde_json::json;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::streamed,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        journal::ListedEntries,
        rights::{AskWhy, EraseEntries, ReadJournal},
    },
    params::{EntryNumber, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read))
        .routes(routes!(erase))
        .routes(routes!(events::events))
        .route("/v1/sessions/{session}/ws", axum::routing::get(ws::ws))
        .routes(routes!(why))
}

/// Read the journal: its entries in order
#[utoipa::path(get, path = "/v1/sessions/{session}/journal", tag = "journal", operation_id = "read_journal",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::JournalQuery),
    responses((status = OK, description = "The entries that the caller may see", body = api::JournalPage)))]
async fn read(caller: Authorized<ReadJournal>, Query(query): Query<api::JournalQuery>) -> Result<Response, CallError> {
    Ok(match caller.read_journal(query).await? {
        ListedEntries::Page(page) => page.into_response(),
        ListedEntries::All { entries, head } => streamed("entries", entries, Some(("head", json!(head)))),
    })
}

/// Erase what people wrote in an entry, for good
///
/// Only the user may erase. The entry keeps its header and the hash of what it said, so the journal can still be
/// checked. All copies that Callboard made are erased too: long texts, snapshots, summaries, and answers to requests
/// with an idempotency key. Erasing an entry again gives the same answer.
#[utoipa::path(delete, path = "/v1/sessions/{session}/journal/{seq}", tag = "journal", operation_id = "erase_entry",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("seq" = u64, Path, description = "The number of the entry"), api::ReasonQuery),
    responses((status = OK, description = "What was erased, and which forks still hold it", body = api::ErasedEntry)))]
async fn erase(
    caller: Authorized<EraseEntries>,
    EntryNumber(seq): EntryNumber,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::ErasedEntry>, CallError> {
    caller.erase_entry(seq, query, request.options).await
}

/// Find out where a text came from, who was shown it, and what became of it
///
/// Only entries that the caller may see are searched.
#[utoipa::path(get, path = "/v1/sessions/{session}/why", tag = "journal", operation_id = "ask_why",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::WhyQuery),
    responses((status = OK, description = "The entries that contain the text, the oldest first", body = api::Findings)))]
async fn why(
    caller: Authorized<AskWhy>,
    Query(query): Query<api::WhyQuery>,
) -> Result<Answer<api::Findings>, CallError> {
    caller.ask_why(query).await
}
