//! Long histories, page by page and the oldest first, for those who pass them on as they read.

use callboard_core::{
    conversation::{MessageAdded, thread_subject},
    count::Tokens,
    fact::Fact,
    id::{Seq, ThreadId},
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, Query, TimeQuery};

use crate::{
    Error, MessageQuery, MessageView, Session,
    history::{given, seen, stored},
    live::PAGE,
    session::sizes,
};

/// Where a page of messages ends.
pub type Place = (Timestamp, Seq);

impl Session {
    /// The next messages of a thread behind `from` that `viewer` may see, the oldest first, as far as the entry
    /// `through`; and where the next page begins, if there is one. What `query` says of limits and places is left aside.
    pub async fn messages_on(
        &self,
        viewer: &Viewer,
        thread: &ThreadId,
        query: &MessageQuery,
        from: Option<Place>,
        through: Seq,
    ) -> Result<(Vec<MessageView>, Option<Place>), Error> {
        let wanted = TimeQuery {
            subject: thread_subject(thread).into(),
            kind: MessageAdded::TYPE.into(),
            after: query.after,
            before: query.before,
            from,
            order: Order::Forward,
            limit: PAGE,
        };
        let page = self.live.store.read_by_time(self.id(), wanted).await?;
        let state = self.live.known()?;
        let view = View::new(&state, viewer, sizes())?;
        let mut found = Vec::new();
        for entry in page.iter().filter(|entry| entry.header.seq <= through) {
            found.extend(seen(&view, entry, &query.roles)?.map(|message| (entry.header.seq, message)));
        }
        let values = self.values(found.iter().filter_map(|(_, message)| stored(message)).collect::<Vec<_>>()).await?;
        let last = page.last().filter(|_| page.len() == PAGE);
        let next = last.and_then(|entry| entry.header.time.map(|time| (time, entry.header.seq)));
        Ok((found.into_iter().map(|(seq, message)| given(seq, message, &values)).collect(), next))
    }
}

/// What a viewer sees of the size of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSize {
    /// How many messages there are.
    pub messages: u64,
    /// The size of the messages.
    pub tokens: Tokens,
    /// When the last one was added.
    pub last_at: Option<Timestamp>,
}

impl Session {
    /// The size of a thread as far as `viewer` sees it. Where the thread was not for the same agents all the time, its
    /// messages are read for that.
    pub async fn thread_size(&self, viewer: &Viewer, thread: &ThreadId) -> Result<ThreadSize, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let known = view.thread(thread)?;
        if view.agent().is_none() || known.is_of_one_audience() {
            return Ok(ThreadSize { messages: known.messages, tokens: known.tokens, last_at: known.last_at });
        }
        let (mut size, mut after) = (ThreadSize::default(), Seq::ZERO);
        loop {
            let query = Query {
                seqs: after.next()..state.head.seq.next(),
                types: vec![MessageAdded::TYPE.into()],
                subjects: vec![thread_subject(thread).into()],
                order: Order::Forward,
                limit: PAGE,
            };
            let page = self.live.store.read(self.id(), query).await?;
            for entry in &page {
                if let Some(message) = seen(&view, entry, &[])? {
                    size.messages += 1;
                    size.tokens += message.tokens;
                    size.last_at = Some(entry.header.at);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = last.header.seq,
                _ => return Ok(size),
            }
        }
    }
}
