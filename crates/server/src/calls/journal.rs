//! The journal: reading it, following it, searching it.

use std::sync::Arc;

use callboard_api as api;
use callboard_core::{
    erasure::{ErasedEntry, Scrubbed},
    error::Error as Refusal,
    id::Seq,
    view::Projected,
};
use callboard_engine::Receipt;
use futures::{StreamExt, stream};

use super::{
    Answer, Authorized, CallError, Pages, WriteOptions,
    feed::Feed,
    rights::{AskWhy, EraseEntries, ReadJournal, ScrubSecrets},
};

/// How many entries are read at a time.
const PAGE: usize = 512;

/// Entries of a journal: one page, or all in pages.
pub(crate) enum ListedEntries {
    /// A page.
    Page(Answer<api::JournalPage>),
    /// All entries up to this head.
    All { entries: Pages<Projected>, head: Seq },
}

impl Authorized<ReadJournal> {
    pub(crate) async fn read_journal(&self, query: api::JournalQuery) -> Result<ListedEntries, CallError> {
        let after = Seq(query.after.unwrap_or(0));
        let types: Vec<Arc<str>> = api::words(query.types.as_deref()).map(Arc::from).collect();
        let (session, viewer) = (self.session.clone(), self.viewer());
        let head = session.state().await?.head.seq;
        if after > head {
            return Err(Refusal::beyond_head(after, head).into());
        }
        if let Some(limit) = query.limit {
            let (entries, head) = session.journal(&viewer, after, limit, &types).await?;
            return Ok(ListedEntries::Page(Answer::ok(api::JournalPage { entries, head }).at(head)));
        }
        let entries = stream::try_unfold(Some(after), move |after| {
            let (session, viewer, types) = (session.clone(), viewer.clone(), types.clone());
            async move {
                let Some(after) = after else { return Ok(None) };
                let (mut page, _) = session.journal(&viewer, after, PAGE, &types).await?;
                let last = page.last().map(|entry| entry.seq).filter(|last| page.len() == PAGE && *last < head);
                page.retain(|entry| entry.seq <= head);
                Ok(Some((page, last)))
            }
        });
        Ok(ListedEntries::All { entries: entries.boxed(), head })
    }

    /// Follows the journal. `last` is the last entry that a caller has who reconnects.
    pub(crate) async fn follow_journal(&self, query: api::FollowQuery, last: Option<Seq>) -> Result<Feed, CallError> {
        Feed::open(self, query, last).await
    }
}

impl Authorized<EraseEntries> {
    /// Erase the words of an entry
    pub(crate) async fn erase_entry(
        &self,
        seq: Seq,
        query: api::ReasonQuery,
        options: WriteOptions,
    ) -> Result<Answer<api::ErasedEntry>, CallError> {
        let erasure = self.session.erasure(seq, &query.reason).await?;
        let Receipt { answer, head } = self.execute(options, erasure).await?;
        self.session.forget_erased().await?;
        let forks = self.app.board.holders(&self.session, seq).await?;
        let ErasedEntry { seq, erased_by, copies } = answer;
        Ok(Answer::ok(api::ErasedEntry { seq, erased_by, copies, forks, head }).at(head))
    }
}

impl Authorized<ScrubSecrets> {
    /// Masks known secrets in the words that the journal already holds.
    pub(crate) async fn scrub_secrets(
        &self,
        body: api::ScrubSecrets,
        options: WriteOptions,
    ) -> Result<Answer<api::ScrubbedSecrets>, CallError> {
        let scrubbing = self.session.scrubbing(&body.reason).await?;
        let Receipt { answer, head } = self.execute(options, scrubbing).await?;
        self.session.forget_erased().await?;
        let Scrubbed { scrubbed_by, entries } = answer;
        Ok(Answer::ok(api::ScrubbedSecrets { scrubbed_by, entries, head }).at(head))
    }
}

impl Authorized<AskWhy> {
    pub(crate) async fn ask_why(&self, query: api::WhyQuery) -> Result<Answer<api::Findings>, CallError> {
        Ok(Answer::ok(api::Findings { findings: self.session.why(&self.viewer(), &query.text).await? }))
    }
}
