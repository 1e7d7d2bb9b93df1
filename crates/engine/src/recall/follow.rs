//! Following a journal: an index reads on from where it was.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use callboard_core::{
    conversation::Role as MessageRole,
    entry::{Entry, Head},
    event::{EventType, recallable},
    fact::Earlier,
    id::{AgentName, Seq, SessionId},
    recall::{Recallable, Source},
    rewriting::changed_by,
    text::Values,
};
use callboard_recall::{Class, Index, Item, Kind, Role, add_shared};
use tokio::sync::OwnedMutexGuard;

use super::indices::Indices;
use crate::{
    error::Error,
    journal::{PAGE, follows, read},
    lock::lock,
    texts,
};

/// A page of a journal, and what else must be read for it.
struct Page {
    entries: Vec<Entry>,
    /// The entries before it whose words it changes, as they are now.
    changed: Vec<Entry>,
    /// All entries whose words it changes.
    erasures: BTreeSet<Seq>,
    values: Values,
}

/// After how many pages of a journal what was read is saved.
const SAVED_PAGES: usize = 20;

/// How often an index is read anew that another process wrote, or that turns out to be of another journal.
const TRIES: usize = 3;

impl Indices {
    /// Reads the journal on up to `head`, at most so many pages. Says how far it was read.
    pub(crate) async fn follow(self: &Arc<Self>, id: &SessionId, head: Head, pages: usize) -> Result<Seq, Error> {
        let only_one = Arc::new(self.lock_of(id).lock_owned().await);
        let mut tries = 0;
        loop {
            match self.read_on(id, head, pages, &only_one).await? {
                Some(seq) => return Ok(seq),
                None if tries < TRIES => tries += 1,
                None => return Err(Error::Busy { session: id.clone() }),
            }
        }
    }

    /// The same once. `None` where the journal must be read from its beginning.
    async fn read_on(
        self: &Arc<Self>,
        id: &SessionId,
        head: Head,
        pages: usize,
        only_one: &Arc<OwnedMutexGuard<()>>,
    ) -> Result<Option<Seq>, Error> {
        let mut cursor = self.cursor(id).await?;
        if cursor.seq >= head.seq && !self.is_of(id, cursor, head).await? {
            return self.begin_anew(id).await;
        }
        let (mut read_pages, mut has_erased) = (0, false);
        while cursor.seq < head.seq && read_pages < pages {
            self.readings.note_behind(id, head.seq.0 - cursor.seq.0);
            let entries = read(&*self.store, id, cursor.seq, head.seq, PAGE).await?;
            match entries.first() {
                Some(first) if follows(cursor, first) => {}
                Some(_) if cursor != Head::default() => return self.begin_anew(id).await,
                _ => return Err(Error::NoSession { session: id.clone() }),
            }
            let page = self.page(id, entries).await?;
            if !page.erasures.is_empty() {
                has_erased = true;
                let (journal, erased) = (self.name(id), page.erasures.clone());
                self.vectors.with_file(move |file| file.erase(&journal, erased)).await?;
            }
            // What is added goes on to its end, also where nobody waits for it any more, and nobody else adds meanwhile.
            let only_one = only_one.clone();
            let add = move |index: &Mutex<Index>| {
                let added = page.add_to(index, cursor);
                drop(only_one);
                added
            };
            cursor = self.with_shared(id, add).await?;
            read_pages += 1;
            // So that a long journal is not read from its beginning again where it ends here.
            if read_pages % SAVED_PAGES == 0 {
                let (read, of) = (cursor.seq.0, head.seq.0);
                tracing::info!(session = %id, read, of, "a journal is read into its index of recall");
                self.save(id, has_erased).await?;
            }
        }
        if read_pages == 0 {
            return Ok(Some(cursor.seq));
        }
        self.save(id, has_erased).await?;
        self.vectors.want(id);
        // Where another process wrote the file meanwhile, that is what counts.
        let saved = self.cursor(id).await?;
        Ok((saved.seq >= cursor.seq).then_some(saved.seq))
    }

    /// How far the journal of a session was read.
    pub(crate) async fn cursor(self: &Arc<Self>, id: &SessionId) -> Result<Head, Error> {
        self.with(id, |index| Ok(index.cursor)).await
    }

    /// Whether what was read up to `cursor` is of the journal that has `head`, or had it a moment ago.
    async fn is_of(&self, id: &SessionId, cursor: Head, head: Head) -> Result<bool, Error> {
        if cursor == head {
            return Ok(true);
        }
        let there = self.store.read_each(id, &[cursor.seq]).await?;
        Ok(there.first().is_some_and(|entry| entry.tag == cursor.tag))
    }

    /// Drops what was read of another journal under this name.
    async fn begin_anew(self: &Arc<Self>, id: &SessionId) -> Result<Option<Seq>, Error> {
        tracing::info!(session = %id, "the index of a session is made anew: its journal was replaced");
        self.forget(id).await?;
        Ok(None)
    }

    async fn page(&self, id: &SessionId, mut entries: Vec<Entry>) -> Result<Page, Error> {
        let mut erasures = BTreeSet::new();
        for entry in &entries {
            erasures.extend(changed_by(entry)?.iter().map(|changed| changed.seq));
        }
        let seqs: Vec<Seq> = erasures.iter().copied().collect();
        let changed = if seqs.is_empty() { Vec::new() } else { self.store.read_each(id, &seqs).await? };
        let mut changed: BTreeMap<Seq, Entry> = changed.into_iter().map(|entry| (entry.header.seq, entry)).collect();
        for entry in &mut entries {
            if let Some(now) = changed.remove(&entry.header.seq) {
                *entry = now;
            }
        }
        let changed: Vec<Entry> = changed.into_values().collect();
        let hashes = entries.iter().chain(&changed).flat_map(texts::long_texts).collect();
        let values = texts::there(&*self.store, id, hashes).await?;
        Ok(Page { entries, changed, erasures, values })
    }
}

impl Page {
    /// Adds what it says to an index that has read the journal up to `before`, and says how far it has now. Others use the
    /// index meanwhile: they find what was added so far, and that it is behind until all is.
    fn add_to(&self, index: &Mutex<Index>, before: Head) -> Result<Head, Error> {
        let cursor = lock(index).cursor;
        if cursor != before {
            // Another process was faster.
            return Ok(cursor);
        }
        let said = |entries: &[Entry]| entries.iter().map(recallable).collect::<Result<Vec<_>, _>>();
        let (of_entries, of_changed) = (said(&self.entries)?, said(&self.changed)?);
        self.erasures.iter().for_each(|seq| lock(index).erase(*seq));
        for (entry, said) in self.entries.iter().zip(&of_entries) {
            end_earlier(&mut lock(index), entry);
            self.add(index, entry, said.as_ref());
        }
        for (entry, said) in self.changed.iter().zip(&of_changed) {
            self.add(index, entry, said.as_ref());
        }
        let through = self.entries.last().map_or(before, Entry::head);
        lock(index).cursor = through;
        Ok(through)
    }

    fn add(&self, index: &Mutex<Index>, entry: &Entry, said: Option<&Recallable>) {
        let Some((said, text)) = said.and_then(|said| Some((said, said.text(&self.values).ok()?))) else { return };
        let header = &entry.header;
        let item = Item {
            seq: header.seq,
            kind: if said.source == Source::Message { Kind::Message } else { Kind::Text },
            class: Class {
                source: said.source.as_str().into(),
                subject: header.subject.clone(),
                audience: header.audience.clone(),
            },
            speaker: said.said_by(&header.subject, None).map(AgentName::as_str),
            role: role(said),
            time: header.time.unwrap_or(header.at),
            text: &text,
            has_headings: said.has_headings,
        };
        add_shared(index, &item);
    }
}

/// Ends what earlier entries say about the same thing, where that no longer holds.
fn end_earlier(index: &mut Index, entry: &Entry) {
    let (kind, subject, seq) = (&*entry.header.kind, &*entry.header.subject, entry.header.seq);
    let ends = EventType::named(kind).is_some_and(|kind| kind.description.earlier != Earlier::Stands);
    if !ends && !kind.starts_with("file.") {
        return;
    }
    index.end(subject, seq);
    if subject == ALL_VARIABLES {
        let all: Vec<_> = index.standing().filter(|name| name.starts_with("variable:")).map(str::to_owned).collect();
        all.iter().for_each(|name| index.end(name, seq));
    }
}

/// What an entry about all variables is about.
const ALL_VARIABLES: &str = "variables";

fn role(said: &Recallable) -> Role {
    match said.role {
        Some(MessageRole::User) => Role::User,
        Some(MessageRole::Ai) => Role::Assistant,
        Some(MessageRole::System | MessageRole::Tool) | None => Role::Other,
    }
}
