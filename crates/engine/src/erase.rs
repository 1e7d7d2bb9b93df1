//! Erasing the words of an entry: finding their copies, and the forks that hold them.

use callboard_core::{
    entry::Tag,
    error::Error as Refusal,
    event,
    id::{Seq, SessionId},
    rewriting::{CopySearch, EraseEntry},
};
use futures::{StreamExt, TryStreamExt, stream};

use crate::{board::Board, error::Error, journal::PAGE, session::Session};

/// How many sessions are looked at together.
const AT_ONCE: usize = 16;

impl Session {
    /// What erases the words of the entry `seq`, with all copies of them that there are now.
    pub async fn erasure(&self, seq: Seq, reason: &str) -> Result<EraseEntry, Error> {
        let head = self.state().await?.head.seq;
        let entry = if seq == Seq::ZERO || seq > head { None } else { self.entry(seq).await? };
        let entry = entry.ok_or(Refusal::NoEntry { seq, head })?;
        let mut copies = CopySearch::of(&entry);
        if !event::is_erased(&entry) {
            self.search(&mut copies, head).await?;
        }
        Ok(EraseEntry { seq, reason: reason.into(), copies: copies.into() })
    }

    /// Looks at the entries up to `head`; at those before too, if a long text may be theirs.
    async fn search(&self, copies: &mut CopySearch, head: Seq) -> Result<(), Error> {
        while copies.through < head {
            let page = self.page(copies.through, head, PAGE).await?;
            if page.is_empty() {
                return Err(self.live.gone());
            }
            page.iter().try_for_each(|entry| copies.look_at(entry))?;
        }
        let (mut at, before) = (Seq::ZERO, copies.seq.previous());
        while at < before && copies.long_texts().next().is_some() {
            let page = self.page(at, before, PAGE).await?;
            page.iter().filter(|entry| !event::is_erased(entry)).for_each(|entry| copies.note_needed(entry));
            at = page.last().map(|last| last.header.seq).ok_or_else(|| self.live.gone())?;
        }
        Ok(())
    }
}

impl Board {
    /// The other sessions, or for a collection the other collections, that hold the entry `seq` of `session` as it was before it
    /// was changed: forks and copies of it, or what it was forked from.
    pub async fn holders(&self, session: &Session, seq: Seq) -> Result<Vec<SessionId>, Error> {
        let Some(entry) = session.entry(seq).await? else { return Ok(Vec::new()) };
        let collections = session.id().as_collection().map(|_| SessionId::before_collections());
        let (mut holders, mut last) = (Vec::new(), collections.clone());
        loop {
            let page = match &collections {
                None => self.store().sessions(last.as_ref(), PAGE).await?,
                Some(first) => {
                    let mut page = self.store().journals(last.as_ref(), PAGE).await?;
                    page.retain(|(id, _)| id.as_str().starts_with(first.as_str()));
                    page
                }
            };
            let Some((id, _)) = page.last() else { return Ok(holders) };
            last = Some(id.clone());
            let others = page.into_iter().filter(|(id, row)| id != session.id() && row.head.seq >= seq);
            let looks =
                others.map(|(id, _)| async { Ok::<_, Error>(self.holds(&id, seq, entry.tag).await?.then_some(id)) });
            let found: Vec<_> = stream::iter(looks).buffered(AT_ONCE).try_collect().await?;
            holders.extend(found.into_iter().flatten());
        }
    }

    async fn holds(&self, session: &SessionId, seq: Seq, tag: Tag) -> Result<bool, Error> {
        let there = self.store().read_each(session, &[seq]).await?;
        Ok(there.first().is_some_and(|entry| entry.tag == tag && entry.erasure().is_none()))
    }
}
