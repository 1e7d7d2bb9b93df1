//! Entries, page by page, as one viewer sees them.

use callboard_core::{
    id::{AgentName, Seq},
    view::{JournalPage, View},
    viewer::Viewer,
};
use callboard_store::{Order, Query};

use crate::{error::Error, journal::PAGE, last, read::filter::Filter, session::Session, sizes::sizes};

/// Which entries of a journal are wanted.
#[derive(Clone, Debug)]
pub struct JournalQuery {
    /// Only entries with a greater number than this.
    pub after: Seq,
    /// Only entries with a smaller number than this.
    pub before: Option<Seq>,
    /// Which of them come first.
    pub order: Order,
    /// The most entries to return.
    pub limit: usize,
    /// Which of them.
    pub filter: Filter,
    /// Only entries that this agent may see too.
    pub seen_by: Option<AgentName>,
    /// Only entries that say this, in upper or lower case.
    pub saying: Option<String>,
    /// Whether each comes with a sentence that says what it says.
    pub sentences: bool,
}

/// So many entries are looked at for a page at the most: where few of them are wanted, the page is short.
const LOOKED_AT: usize = 8 * PAGE;

impl Session {
    /// A page of the entries that `viewer` may see. What it costs does not grow with the journal: a page may have fewer entries
    /// than wanted, or none, and say where to go on.
    pub async fn journal_page(&self, viewer: &Viewer, query: &JournalQuery) -> Result<JournalPage, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let other = query.seen_by.clone().map(Viewer::Agent);
        let other = other.as_ref().map(|other| View::new(&state, other, sizes())).transpose()?;
        let words = query.saying.as_deref().map(str::to_lowercase);
        let head = state.head.seq;
        let (mut start, mut end) = (query.after.next(), query.before.unwrap_or(head.next()).min(head.next()));
        let chooses = other.is_some() || words.is_some() || query.filter.chooses();
        let at_once = if chooses { PAGE } else { PAGE.min(query.limit) };
        let (mut entries, mut looked_at, mut is_more) = (Vec::new(), 0, start < end);
        while is_more && entries.len() < query.limit && looked_at < LOOKED_AT {
            let wanted = Query {
                seqs: start..end,
                types: query.filter.stored_types(),
                subjects: query.filter.subjects(),
                order: query.order,
                limit: at_once,
            };
            let page = self.live.store.read(self.id(), wanted).await?;
            is_more = page.len() == at_once;
            for entry in &page {
                if entries.len() == query.limit {
                    is_more = true;
                    break;
                }
                match query.order {
                    Order::Forward => start = entry.header.seq.next(),
                    Order::Backward => end = entry.header.seq,
                }
                looked_at += 1;
                let is_seen = match &other {
                    // What an agent only loses sight of with an entry, it does not see.
                    Some(other) => other.project(entry)?.is_some_and(|seen| seen.kind == entry.header.kind),
                    None => true,
                };
                let Some(mut seen) = query.filter.project(&view, entry)?.filter(|_| is_seen) else { continue };
                if words.as_ref().is_none_or(|words| last::says(&seen, words)) {
                    seen.sentence = query.sentences.then(|| last::sentence_of(&view, &seen));
                    entries.push(seen);
                }
            }
        }
        self.live.confirm(&state).await?;
        let next = match query.order {
            Order::Forward => start.previous(),
            Order::Backward => end,
        };
        Ok(JournalPage { entries, next: (is_more && start < end).then_some(next), head })
    }
}
