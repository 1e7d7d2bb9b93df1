//! Tails: the newest entries of a conversation, as far back as somebody has read them. They are derived from the
//! journal and can be thrown away.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use callboard_core::{
    context_set::facts::FORMS,
    conversation::{StandingSummary, facts::thread_subject},
    directive,
    entry::{Entry, Header},
    error::Error,
    id::{Seq, ThreadId},
    view::View,
};

use crate::said::{self, Said};

/// Which entries a conversation is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The threads that are read together.
    pub threads: Vec<ThreadId>,
    /// Whether the outcomes of directives and answers to forms are read with them.
    pub directives: bool,
}

impl Source {
    /// What the viewer reads when it reads `thread`. The manager reads in `main` what passes between it and the workers
    /// too, what came of its directives, and which forms were answered.
    pub fn of(view: &View<'_>, thread: &ThreadId) -> Self {
        let mut threads = vec![thread.clone()];
        let directives = view.agent().is_some() && view.is_in_charge() && *thread == ThreadId::main();
        if directives {
            // Also those of workers that have left: what they said was said.
            let of_workers = |name: &&ThreadId| name.as_str().starts_with("agent:");
            threads.extend(view.threads().map(|(name, _)| name).filter(of_workers).cloned());
        }
        Self { threads, directives }
    }

    /// The subjects of its entries.
    pub fn subjects(&self) -> Vec<Arc<str>> {
        let threads = self.threads.iter().map(|thread| thread_subject(thread).into());
        let others = [directive::SUBJECT, FORMS].into_iter().filter(|_| self.directives);
        threads.chain(others.map(Arc::<str>::from)).collect()
    }

    /// The types of its entries.
    pub fn types() -> Vec<Arc<str>> {
        said::TYPES.map(Arc::from).to_vec()
    }

    /// Whether an entry is one of its.
    pub fn has(&self, header: &Header) -> bool {
        let of_thread = || header.subject.strip_prefix("thread:").is_some_and(|name| self.names(name));
        let is_other = || self.directives && [directive::SUBJECT, FORMS].contains(&&*header.subject);
        said::TYPES.contains(&&*header.kind) && (of_thread() || is_other())
    }

    fn names(&self, thread: &str) -> bool {
        self.threads.iter().any(|name| name.as_str() == thread)
    }

    /// The entries that are shown although they are older than where the conversation [begins](Self::begins), or stand
    /// among what a summary covers: first the summaries, then what is kept and pinned.
    pub fn kept(&self, view: &View<'_>) -> Vec<Seq> {
        let (mut summaries, mut kept) = (Vec::new(), BTreeSet::new());
        for thread in &self.threads {
            let pins = view.state.threads.get(thread).map(|held| &held.compression.pins);
            for head in view.summaries(thread) {
                summaries.push(head.seq);
                kept.extend(&head.kept);
                kept.extend(
                    pins.into_iter().flat_map(|pins| pins.range(head.from..=head.through)).map(|(seq, _)| *seq),
                );
            }
        }
        summaries.extend(kept);
        summaries
    }

    /// The first entry that has to be read: a summary stands for all before it.
    pub fn begins(&self, view: &View<'_>) -> Seq {
        let begins = |thread: &ThreadId| {
            let held = view.state.threads.get(thread)?;
            let behind = |begins: Seq, head: &StandingSummary| {
                if head.from <= begins { begins.max(head.through.next()) } else { begins }
            };
            Some(view.summaries(thread).into_iter().fold(held.sight.since, behind))
        };
        let first = self.threads.iter().filter_map(begins).min();
        // What came of directives may be older than any thread.
        let directives = self.directives && view.state.threads.get(&ThreadId::main()).is_none();
        first.filter(|_| !directives).unwrap_or(Seq(1)).max(Seq(1))
    }
}

/// The newest entries of a conversation, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    /// The entries.
    pub items: VecDeque<TailItem>,
    /// Whether there are none before them.
    pub complete: bool,
    /// The summaries that stand for older entries, and the older messages that are shown beside them.
    pub kept: Vec<TailItem>,
}

/// One entry of a conversation.
#[derive(Clone, Debug)]
pub struct TailItem {
    /// Its header.
    pub header: Arc<Header>,
    /// What it says.
    pub said: Said,
}

impl Tail {
    /// Puts older entries before those that are here; `page` is given newest first, as stores read backward.
    pub fn extend_back(&mut self, page: &[Entry]) -> Result<(), Error> {
        for entry in page {
            self.items.push_front(TailItem::read(entry)?);
        }
        Ok(())
    }

    /// Puts newer entries behind those that are here, the oldest first.
    pub fn extend<'a>(&mut self, newer: impl IntoIterator<Item = &'a Entry>) -> Result<(), Error> {
        for entry in newer {
            self.items.push_back(TailItem::read(entry)?);
        }
        Ok(())
    }

    /// Takes the entries of [`Source::kept`], in their order.
    pub fn keep(&mut self, kept: &[Entry]) -> Result<(), Error> {
        self.kept = kept.iter().map(TailItem::read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The entry before which older ones are to be read.
    pub fn before(&self, head: Seq) -> Seq {
        self.items.front().map_or(head.next(), |item| item.header.seq)
    }
}

impl TailItem {
    fn read(entry: &Entry) -> Result<Self, Error> {
        Ok(Self { header: Arc::new(entry.header.clone()), said: Said::by(entry)? })
    }

    /// Whether the viewer may see it.
    pub(crate) fn is_seen(&self, view: &View<'_>) -> bool {
        match &self.said {
            Said::Message(message) => view.sees_in(&message.thread_id, &self.header),
            Said::Checked(checked) => view.sees_in(&checked.thread_id, &self.header),
            Said::Summary(summary) => view.sees_in(&summary.thread, &self.header),
            Said::Directive(_) | Said::Form(_) => view.is_in_charge() && view.was_meant(&self.header),
        }
    }
}

/// Whether a summary stands for an entry of a conversation. What came of directives is left out with what was said in
/// `main` before it.
pub(crate) fn is_covered(view: &View<'_>, item: &TailItem) -> bool {
    let seq = item.header.seq;
    let covers = |thread: &ThreadId| view.summaries(thread).iter().any(|head| head.covers(seq));
    match &item.said {
        Said::Message(message) => covers(&message.thread_id),
        Said::Checked(checked) => covers(&checked.thread_id),
        Said::Directive(_) | Said::Form(_) => covers(&ThreadId::main()),
        Said::Summary(_) => true,
    }
}
