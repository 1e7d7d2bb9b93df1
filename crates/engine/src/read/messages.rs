//! Messages of a thread, page by page, as one viewer sees them: from memory where they are there.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    conversation::facts::{MessageAdded, thread_subject},
    count::Tokens,
    entry::Entry,
    fact::Fact,
    id::{Seq, ThreadId},
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, TimeQuery};

use crate::{
    error::Error,
    journal::PAGE,
    live::message_cache::NewestMessages,
    read::message::{Found, MessageCursor, MessageJson, MessagePage, MessageQuery, given, stored},
    session::Session,
    sizes::sizes,
};

/// A thread of at most so many messages is short.
const SHORT_MESSAGES: u64 = 1024;

/// A thread of at most so many tokens is short.
const SHORT_TOKENS: Tokens = Tokens(1 << 18);

impl Session {
    /// The messages of a thread that `viewer` may see, by their own time, those with the same time as they came.
    pub async fn messages(
        &self,
        viewer: &Viewer,
        thread: &ThreadId,
        query: MessageQuery,
    ) -> Result<MessagePage, Error> {
        let MessagePage { messages, next } = self.messages_as_json(viewer, thread, query).await?;
        Ok(MessagePage { messages: messages.iter().map(MessageJson::read).collect::<Result<_, _>>()?, next })
    }

    /// The same, as JSON.
    pub async fn messages_as_json(
        &self,
        viewer: &Viewer,
        thread: &ThreadId,
        query: MessageQuery,
    ) -> Result<MessagePage<MessageJson>, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        match view.thread(thread) {
            Err(_) if *thread == ThreadId::main() && state.threads.get(thread).is_none() => {}
            known => drop(known?),
        }
        if query.limit == Some(0) {
            return Ok(MessagePage { messages: Vec::new(), next: None });
        }
        match self.cached_page(&view, thread, &query)? {
            Some(page) => Ok(page),
            None => self.read_page(&view, thread, &query).await,
        }
    }

    /// A page of messages, where all of it is in memory.
    fn cached_page(
        &self,
        view: &View<'_>,
        thread: &ThreadId,
        query: &MessageQuery,
    ) -> Result<Option<MessagePage<MessageJson>>, Error> {
        let Some(newest) = self.newest_messages(view, thread)? else { return Ok(None) };
        let (limit, mut found) = (query.limit.unwrap_or(usize::MAX), Vec::new());
        let behind = query.after.map(|time| (time, Seq(u64::MAX)));
        for message in newest.iter() {
            // One more than wanted says whether there are older ones.
            if found.len() > limit || behind.is_some_and(|behind| message.place() <= behind) {
                break;
            }
            let is_wanted = message.seq <= view.state.head.seq
                && query.before.is_none_or(|before| message.time < before)
                && query.cursor.is_none_or(|cursor| message.place() < cursor)
                && message.is_wanted(view, thread, &query.roles);
            if is_wanted {
                let seen = message.content.clone().seen_by(view);
                found.push((message.place(), shown(seen, view, query, &message.audience)?));
            }
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        Ok((has_more || newest.has_all_behind(behind)).then(|| page_of(found, has_more)))
    }

    /// The newest messages of a thread that are in memory, as of the state or later.
    fn newest_messages(&self, view: &View<'_>, thread: &ThreadId) -> Result<Option<Arc<NewestMessages>>, Error> {
        let (cache, head) = (&self.live.messages, view.state.head.seq);
        let known = cache.get(thread).filter(|known| known.erased == view.state.erased);
        let Some(known) = known else { return Ok(None) };
        if known.through >= head {
            return Ok(Some(known));
        }
        let Some(entries) = self.live.newer(known.through, head) else { return Ok(None) };
        let (mut newest, subject) = (NewestMessages::clone(&known), thread_subject(thread));
        newest.through = head;
        for entry in entries {
            if *entry.header.kind == *MessageAdded::TYPE && *entry.header.subject == *subject {
                Found::read(&entry)?.keep_in(&mut newest);
            }
        }
        let newest = Arc::new(newest);
        cache.keep(thread.clone(), newest.clone());
        Ok(Some(newest))
    }

    /// Reads a page of messages from the store. The newest messages are in memory from then on.
    async fn read_page(
        &self,
        view: &View<'_>,
        thread: &ThreadId,
        query: &MessageQuery,
    ) -> Result<MessagePage<MessageJson>, Error> {
        // One more than wanted says whether there are older ones.
        let (limit, mut from) = (query.limit.unwrap_or(usize::MAX), query.cursor);
        let (mut found, mut wanted) = (Vec::new(), PAGE.min(limit.saturating_add(1)));
        let (head, mut is_all) = (view.state.head.seq, false);
        let mut newest = (query.cursor.is_none() && query.before.is_none()).then(|| NewestMessages::as_of(view.state));
        while found.len() <= limit && !is_all {
            let page = self.page_by_time(thread, query, from, Order::Backward, wanted).await?;
            for entry in &page {
                let message = Found::read(entry)?;
                from = Some(message.place());
                if let Some(newest) = newest.as_mut().filter(|_| message.seq <= head) {
                    message.keep_in(newest);
                }
                if message.is_wanted(view, thread, &query.roles) {
                    found.push(message);
                }
            }
            is_all = page.len() < wanted;
            // Where few are in the roles that are wanted, many are read at once.
            wanted = PAGE.min(wanted * 2);
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        let found = self.as_json(view, query, found).await?;
        self.live.confirm(view.state).await?;
        if let Some(mut newest) = newest {
            let behind = query.after.map(|time| (time, Seq(u64::MAX)));
            if let Some(place) = if is_all { behind } else { from } {
                newest.begin_at(place);
            }
            self.live.messages.keep(thread.clone(), Arc::new(newest));
        }
        Ok(page_of(found, has_more))
    }

    /// Messages as JSON, with the long texts that they speak of.
    async fn as_json(
        &self,
        view: &View<'_>,
        query: &MessageQuery,
        found: Vec<Found>,
    ) -> Result<Vec<(MessageCursor, MessageJson)>, Error> {
        let long = found.iter().filter_map(|message| stored(message.content.as_ref().err()?));
        let values = self.values(long.collect::<Vec<_>>()).await?;
        let as_json = |message: Found| {
            let (place, audience) = (message.place(), message.audience);
            let json = message.content.or_else(|long| MessageJson::of(given(message.seq, *long, &values)));
            Ok((place, shown(json?.seen_by(view), view, query, &audience)?))
        };
        found.into_iter().map(as_json).collect()
    }

    /// The next messages of a thread behind `from` that `viewer` may see, the oldest first, as far as the entry
    /// `through`; and where the next page begins, if there is one. What `query` says of limits and places is left aside.
    pub async fn messages_on(
        &self,
        viewer: &Viewer,
        thread: &ThreadId,
        query: &MessageQuery,
        from: Option<MessageCursor>,
        through: Seq,
    ) -> Result<(Vec<MessageJson>, Option<MessageCursor>), Error> {
        let page = self.page_by_time(thread, query, from, Order::Forward, PAGE).await?;
        let state = self.live.known()?;
        let view = View::new(&state, viewer, sizes())?;
        let read = page.iter().filter(|entry| entry.header.seq <= through).map(Found::read);
        let mut found = read.collect::<Result<Vec<_>, _>>()?;
        let next = found.last().map(Found::place).filter(|_| page.len() == PAGE);
        found.retain(|message| message.is_wanted(&view, thread, &query.roles));
        let messages = self.as_json(&view, query, found).await?;
        Ok((messages.into_iter().map(|(_, message)| message).collect(), next))
    }

    /// Whether a thread has so few messages that all of them can be given at once.
    pub fn is_short(&self, thread: &ThreadId) -> Result<bool, Error> {
        let state = self.known()?;
        let size = state.threads.get(thread).map(|thread| thread.size()).unwrap_or_default();
        Ok(size.messages <= SHORT_MESSAGES && size.tokens <= SHORT_TOKENS)
    }

    /// The messages of a thread, whoever may see them, between the times of `query`, behind `from` in `order`.
    pub(crate) async fn page_by_time(
        &self,
        thread: &ThreadId,
        query: &MessageQuery,
        from: Option<MessageCursor>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let query = TimeQuery {
            subject: thread_subject(thread).into(),
            kind: MessageAdded::TYPE.into(),
            after: query.after,
            before: query.before,
            from,
            order,
            limit,
        };
        Ok(self.live.store.read_by_time(self.id(), query).await?)
    }
}

/// A message as it is shown, with its audience where that is asked for and may be told.
fn shown(seen: MessageJson, view: &View<'_>, query: &MessageQuery, audience: &Audience) -> Result<MessageJson, Error> {
    if query.audience && view.is_in_charge() { seen.with_audience(audience) } else { Ok(seen) }
}

fn page_of(found: Vec<(MessageCursor, MessageJson)>, has_more: bool) -> MessagePage<MessageJson> {
    let next = found.last().filter(|_| has_more).map(|(place, _)| *place);
    MessagePage { messages: found.into_iter().rev().map(|(_, message)| message).collect(), next }
}
