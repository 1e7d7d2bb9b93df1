//! Exports: a whole session as lines of JSON.
//!
//! The first line identifies the export. Then come the entries, each after its long texts. The last line has the head of the
//! journal. The tags of the entries form a chain, so an [`import`](crate::Board::import) notices a line that was cut, edited,
//! removed or moved.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    entry::{Entry, Hash, Head, Tag, line},
    id::{Seq, SessionId},
    state::State,
};
use callboard_store::Store;
use serde::{Deserialize, Serialize};

use crate::{error::Error, journal::read, texts::long_texts};

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// How many entries are read, and appended, at once.
pub(crate) const AT_ONCE: usize = 512;

/// A line of an export that is not an entry.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first one.
    Callboard {
        export: u32,
        session: SessionId,
        /// How many secrets the session has. Their sealed values and their key are not exported.
        #[serde(default, skip_serializing_if = "is_none")]
        secrets_left_out: usize,
    },
    /// A long text; `null` if an entry only seems to refer to one.
    Text { sha256: Hash, text: Option<Arc<str>> },
    /// The last one.
    End { seq: Seq, tag: Tag },
}

/// An export that is being read.
pub struct Export {
    store: Arc<dyn Store>,
    session: SessionId,
    head: Head,
    at: Option<Seq>,
    given: BTreeSet<Hash>,
    secrets: usize,
}

impl Export {
    /// The session with this state.
    pub(crate) fn of(store: Arc<dyn Store>, session: SessionId, state: &State) -> Self {
        Self {
            store,
            session,
            head: state.head,
            at: None,
            given: BTreeSet::new(),
            secrets: state.secrets.iter().count(),
        }
    }

    /// The next lines, each with a line end; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        let mut lines = String::new();
        let after = match self.at {
            None => {
                let (session, secrets_left_out) = (self.session.clone(), self.secrets);
                push(&mut lines, &Line::Callboard { export: VERSION, session, secrets_left_out })?;
                Seq::ZERO
            }
            Some(at) if at > self.head.seq => return Ok(None),
            Some(at) => at,
        };
        let entries = read(&*self.store, &self.session, after, self.head.seq, AT_ONCE).await?;
        for entry in &entries {
            let hashes: Vec<_> = long_texts(entry).into_iter().filter(|hash| self.given.insert(*hash)).collect();
            for sha256 in hashes {
                let text = self.store.value(&self.session, sha256).await?;
                push(&mut lines, &Line::Text { sha256, text })?;
            }
            lines.push_str(&line::write(entry).map_err(|error| Error::damaged("the data of an entry", error))?);
            lines.push('\n');
        }
        self.at = match entries.last().map(Entry::head) {
            Some(head) if head.seq < self.head.seq => Some(head.seq),
            Some(head) if head == self.head => {
                push(&mut lines, &Line::End { seq: head.seq, tag: head.tag })?;
                Some(head.seq.next())
            }
            // The journal was replaced by another one.
            _ => return Err(Error::NoSession { session: self.session.clone() }),
        };
        Ok(Some(lines))
    }
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

fn push(lines: &mut String, line: &Line) -> Result<(), Error> {
    let json = serde_json::to_string(line).map_err(|error| Error::damaged("a line of an export", error))?;
    lines.push_str(&json);
    lines.push('\n');
    Ok(())
}
