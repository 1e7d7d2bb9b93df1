//! The journal: reading it, following it, searching it.

mod events;
mod ws;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use callboard_core::{
    entry::Actor,
    error::Error as Refusal,
    id::Seq,
    rewriting::{EraseEntry, ErasedEntry},
};
use callboard_engine::{Filter, JournalQuery, Receipt, store::Order};
use futures::{StreamExt, stream};
use serde_json::json;

use crate::{
    answer::streamed,
    call::*,
    params::EntryNumber,
    rights::{ReadJournal, ReadSession},
    write_options::WriteOptions,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_journal))
        .routes(routes!(erase_entry))
        .routes(routes!(events::follow_journal))
        .route("/v1/sessions/{session}/ws", axum::routing::get(ws::ws))
        .routes(routes!(ask_why))
}

/// Read the journal: its entries in order
#[utoipa::path(get, path = "/v1/sessions/{session}/journal", tag = "journal",
    params(api::JournalQuery),
    responses((status = OK, description = "The entries that the caller may see", body = api::JournalPage)))]
async fn read_journal(
    caller: Authorized<ReadJournal>,
    Query(query): Query<api::JournalQuery>,
) -> Result<Response, CallError> {
    caller.read_journal(query).await
}

/// Erase what people wrote in an entry, for good
///
/// Only the user may erase. The entry keeps its header and the hash of what it said, so the journal can still be
/// checked. All copies that Callboard made are erased too: long texts, snapshots, summaries, and answers to requests
/// with an idempotency key. Erasing an entry again gives the same answer.
#[utoipa::path(delete, path = "/v1/sessions/{session}/journal/{seq}", tag = "journal",
    params(InPath<EntryNumber>, api::ReasonQuery),
    responses((status = OK, description = "What was erased, and which forks still hold it", body = api::ErasedEntry)))]
async fn erase_entry(
    caller: Authorized<EraseEntry>,
    InPath(EntryNumber(seq)): InPath<EntryNumber>,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::ErasedEntry>, CallError> {
    caller.erase_entry(seq, query, request.options).await
}

/// Find out where a text came from, who was shown it, and what became of it
///
/// Only entries that the caller may see are searched.
#[utoipa::path(get, path = "/v1/sessions/{session}/why", tag = "journal",
    params(api::WhyQuery),
    responses((status = OK, description = "The entries that contain the text, the oldest first", body = api::Findings)))]
async fn ask_why(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::WhyQuery>,
) -> Result<Answer<api::Findings>, CallError> {
    Ok(Answer::ok(api::Findings { findings: caller.session.why(&caller.viewer(), &query.text).await? }))
}

/// How many entries are read at a time.
const PAGE: usize = 512;

/// How many of the newest entries are listed where the caller does not say.
const LISTED: usize = 100;

impl Authorized<ReadJournal> {
    /// A page, or all entries in pages as they are read.
    pub(super) async fn read_journal(&self, query: api::JournalQuery) -> Result<Response, CallError> {
        let after = Seq(query.after.unwrap_or(0));
        let (session, viewer) = (self.session.clone(), self.viewer());
        let head = session.state().await?.head.seq;
        if after > head {
            return Err(Refusal::beyond_head(after, head).into());
        }
        let limit = query.limit.or((query.order == api::JournalOrder::Desc).then_some(LISTED));
        let wanted = self.wanted(query)?;
        // An agent that is not in the team is refused before anything is given out.
        if let Some(named) = &wanted.seen_by {
            session.view(&viewer, |view| view.state.team.agent(named).map(drop)).await?;
        }
        if let Some(limit) = limit {
            let wanted = JournalQuery { limit, ..wanted };
            let page = session.journal_page(&viewer, &wanted).await?;
            let head = page.head;
            return Ok(Answer::ok(page).at(head).into_response());
        }
        let end = wanted.before.unwrap_or(head.next()).min(head.next());
        let wanted = JournalQuery { before: Some(end), limit: PAGE, ..wanted };
        let entries = stream::try_unfold(Some(after), move |after| {
            let (session, viewer, wanted) = (session.clone(), viewer.clone(), wanted.clone());
            async move {
                let Some(after) = after else { return Ok(None) };
                let page = session.journal_page(&viewer, &JournalQuery { after, ..wanted }).await?;
                Ok(Some((page.entries, page.next)))
            }
        });
        Ok(streamed("entries", entries.boxed(), Some(("head", json!(head)))))
    }

    fn wanted(&self, query: api::JournalQuery) -> Result<JournalQuery, CallError> {
        let api::JournalQuery { after, before, types, subject, by, audience, q, order, sentences, limit: _ } = query;
        if let (Some(own), Some(named)) = (self.agent(), &audience)
            && own != named
            && !self.in_charge
        {
            return Err(self.forbidden("ask what others see"));
        }
        let author = |by: String| {
            let wrong = || CallError::invalid("/by", "use `user`, `system` or the name of an agent");
            by.parse::<Actor>().or_else(|_| format!("agent:{by}").parse()).map_err(|_| wrong())
        };
        let filter = Filter {
            types: api::words(types.as_deref()).map(Arc::from).collect(),
            subject: subject.map(Arc::from),
            by: by.map(author).transpose()?,
            ..Filter::default()
        };
        let order = match order {
            api::JournalOrder::Asc => Order::Forward,
            api::JournalOrder::Desc => Order::Backward,
        };
        Ok(JournalQuery {
            after: Seq(after.unwrap_or(0)),
            before: before.map(Seq),
            order,
            limit: PAGE,
            filter,
            seen_by: audience,
            saying: q.filter(|q| !q.trim().is_empty()),
            sentences,
        })
    }
}

impl Authorized<EraseEntry> {
    /// Erase the words of an entry
    pub(crate) async fn erase_entry(
        &self,
        seq: Seq,
        query: api::ReasonQuery,
        options: WriteOptions,
    ) -> Result<Answer<api::ErasedEntry>, CallError> {
        let erasure = self.session.erasure(seq, &query.reason).await?;
        let Receipt { answer, head } = self.execute(options, erasure).await?;
        let forks = self.app.board.holders(&self.session, seq).await?;
        let ErasedEntry { seq, erased_by, copies } = answer;
        Ok(Answer::ok(api::ErasedEntry { seq, erased_by, copies, forks, head }).at(head))
    }
}
