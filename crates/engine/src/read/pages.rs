//! Long histories, page by page and the oldest first, for those who pass them on as they read.

use callboard_core::{
    id::{Seq, ThreadId},
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use callboard_store::Order;

use crate::{
    error::Error,
    journal::PAGE,
    read::history::{MessageQuery, MessageView, given, seen, stored},
    session::Session,
    sizes::sizes,
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
        let page = self.page_by_time(thread, query, from, Order::Forward, PAGE).await?;
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
