//! The journal: reading it, following it, searching it.

use std::sync::Arc;

use callboard_api as api;
use callboard_core::{
    entry::Actor,
    erasure::ErasedEntry,
    error::Error as Refusal,
    id::{AgentName, Seq},
    view::Projected,
};
use callboard_engine::{Filter, JournalPage, JournalQuery, Receipt, store::Order};
use futures::{StreamExt, stream};

use super::{
    Answer, Authorized, CallError, Pages, WriteOptions,
    feed::Feed,
    rights::{AskWhy, EraseEntries, Rank, ReadJournal},
};

/// How many entries are read at a time.
const PAGE: usize = 512;

/// How many of the newest entries are listed where the caller does not say.
const LISTED: usize = 100;

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
        let (session, viewer) = (self.session.clone(), self.viewer());
        let head = session.state().await?.head.seq;
        if after > head {
            return Err(Refusal::beyond_head(after, head).into());
        }
        let limit = query.limit.or((query.order == api::JournalOrder::Desc).then_some(LISTED));
        let wanted = self.wanted(query)?;
        self.check_audience(wanted.seen_by.as_ref()).await?;
        if let Some(limit) = limit {
            let wanted = JournalQuery { limit, ..wanted };
            let JournalPage { entries, next, head } = session.journal_page(&viewer, &wanted).await?;
            return Ok(ListedEntries::Page(Answer::ok(api::JournalPage { entries, next, head }).at(head)));
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
        Ok(ListedEntries::All { entries: entries.boxed(), head })
    }

    /// Refuses a filter by an agent that is not in the team, before anything is given out.
    async fn check_audience(&self, named: Option<&AgentName>) -> Result<(), CallError> {
        let Some(named) = named else { return Ok(()) };
        Ok(self.session.view(&self.viewer(), |view| view.state.team.agent(named).map(drop)).await?)
    }

    fn wanted(&self, query: api::JournalQuery) -> Result<JournalQuery, CallError> {
        let api::JournalQuery { after, before, types, subject, by, audience, q, order, sentences, limit: _ } = query;
        if let (Some(own), Some(named)) = (self.agent(), &audience)
            && own != named
            && self.rank < Rank::Manager
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
        let forks = self.app.board.holders(&self.session, seq).await?;
        let ErasedEntry { seq, erased_by, copies } = answer;
        Ok(Answer::ok(api::ErasedEntry { seq, erased_by, copies, forks, head }).at(head))
    }
}

impl Authorized<AskWhy> {
    pub(crate) async fn ask_why(&self, query: api::WhyQuery) -> Result<Answer<api::Findings>, CallError> {
        Ok(Answer::ok(api::Findings { findings: self.session.why(&self.viewer(), &query.text).await? }))
    }
}
