//! Entries, page by page, as one viewer sees them.

use std::sync::Arc;

use callboard_core::{
    id::Seq,
    view::{Projected, View},
    viewer::Viewer,
};
use callboard_store::{Order, Query};

use crate::{error::Error, journal::PAGE, read::filter::Filter, session::Session, sizes::sizes};

impl Session {
    /// The entries after `after` that `viewer` may see, at most `limit`, and the head. `types` picks types, as the viewer
    /// sees them; without any, all.
    pub async fn journal(
        &self,
        viewer: &Viewer,
        after: Seq,
        limit: usize,
        types: &[Arc<str>],
    ) -> Result<(Vec<Projected>, Seq), Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let filter = Filter { types: types.to_vec(), ..Filter::default() };
        let (mut seen, mut after, head) = (Vec::new(), after, state.head.seq);
        while seen.len() < limit && after < head {
            let query = Query {
                seqs: after.next()..head.next(),
                types: filter.stored_types(),
                subjects: Vec::new(),
                order: Order::Forward,
                limit: PAGE.min(limit),
            };
            let page = self.live.store.read(self.id(), query).await?;
            let Some(last) = page.last() else { break };
            after = last.header.seq;
            for entry in &page {
                seen.extend(filter.project(&view, entry)?);
            }
        }
        self.live.confirm(&state).await?;
        seen.truncate(limit);
        Ok((seen, head))
    }
}
