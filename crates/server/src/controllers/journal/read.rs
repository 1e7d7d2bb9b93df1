//! `GET /v1/sessions/{session}/journal`

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use callboard_core::{id::Seq, view::Projected};
use futures::stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    answer::{Answer, streamed},
    caller::On,
    params::{Query, number, words},
    problem::Problem,
    rights::ReadJournal,
    shape,
};

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
pub(crate) async fn read(on: On<ReadJournal>, Query(query): Query<JournalQuery>) -> Result<Response, Problem> {
    let after = Seq(query.after.unwrap_or(0));
    let types: Vec<Arc<str>> = words(query.types.as_deref()).map(Arc::from).collect();
    let head = on.session.state().await?.head.seq;
    if after > head {
        return Err(callboard_core::error::Error::beyond_head(after, head).into());
    }
    if let Some(limit) = query.limit {
        let (entries, head) = on.session.journal(&on.viewer(), after, limit, &types).await?;
        return Ok(Answer::ok(JournalPage { entries, head }).at(head).into_response());
    }
    let pages = stream::try_unfold(Some(after), move |after| {
        let (session, viewer, types) = (on.session.clone(), on.viewer(), types.clone());
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
