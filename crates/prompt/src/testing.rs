//! Prompts and compressions of a [`Board`], for tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in tests a surprise is a failure")]

use callboard_core::{
    count::Tokens,
    entry::{Entry, Header},
    error::Error,
    id::{Seq, ThreadId},
    prompt::{
        Format,
        observed::{Observed, Passage},
    },
    testing::Board,
    text::Values,
};

use crate::{
    HistoryCache, Lacking, Prompt, ResolvedSpec,
    compression::{
        material::{CompressionScope, Material, Wanted},
        plan::{Aim, CompressionPlan, Outlook, Writing},
    },
    prompt, prompt_of,
    tail::{Source, Tail},
};

/// What a board shows its agents.
pub trait Shows {
    /// The board.
    fn board(&self) -> &Board;

    /// The same, to be changed.
    fn board_mut(&mut self) -> &mut Board;

    /// The prompt of `agent` in `thread`, as text, by the session's own profile.
    fn prompt(&self, agent: &str, thread: &str, budget: u64) -> Result<Prompt, Error> {
        self.prompt_as(agent, thread, budget, Format::Text)
    }

    /// The prompt of `agent` in `thread`, in some format.
    fn prompt_as(&self, agent: &str, thread: &str, budget: u64, format: Format) -> Result<Prompt, Error> {
        let board = self.board();
        let spec =
            ResolvedSpec { format, ..ResolvedSpec::new(agent.parse()?, thread.parse()?, Tokens(budget), board.count) };
        self.prompt_for(agent, &spec, 3)
    }

    /// The prompt of `agent` for `spec`, made of what was kept of an earlier one as far as that is of use.
    ///
    /// # Panics
    /// Where it asks for what there is not.
    fn prompt_from(
        &self,
        kept: &mut Option<(HistoryCache, Seq)>,
        agent: &str,
        spec: &ResolvedSpec,
    ) -> Result<Prompt, Error> {
        let board = self.board();
        let view = board.view(agent)?;
        let source = Source::of(&view, &spec.thread);
        let mut tail = Tail::default();
        let mut history = match kept.take().filter(|(history, _)| history.is_of(&view, spec, board.count)) {
            Some((mut history, through)) => {
                let is_newer = |entry: &&Entry| entry.header.seq > through && source.has(&entry.header);
                tail.extend(board.entries.iter().filter(is_newer))?;
                history.read_on(&view, &tail, &board.values).unwrap();
                history
            }
            None => HistoryCache::new(&view, spec, board.count)?,
        };
        let mut page = 1;
        let built = loop {
            match prompt_of(&view, spec, &mut history, &board.values, board.count) {
                Ok((prompt, _)) => break Ok(prompt),
                Err(Lacking::Refused(error)) => break Err(error),
                Err(lacking) => assert_eq!(lacking, Lacking::Older),
            }
            let all: Vec<_> = board.entries.iter().rev().filter(|entry| source.has(&entry.header)).cloned().collect();
            tail = Tail { complete: all.len() <= page, ..Tail::default() };
            tail.keep(&board.each(&source.kept(&view)))?;
            tail.extend_back(all.get(..page.min(all.len())).unwrap_or_default())?;
            history.read(&view, &tail, &board.values).unwrap();
            page *= 4;
        };
        history.forget_old();
        *kept = Some((history, board.state.head.seq));
        built
    }

    /// What would be compressed of a thread to reach `aim`.
    ///
    /// # Panics
    /// Where it asks for what there is not.
    fn plan(&self, thread: &ThreadId, scope: CompressionScope, aim: Aim) -> Result<Outlook, Error> {
        let board = self.board();
        let wanted = Wanted::of(&board.state, thread, scope)?;
        let newer = board.entries.iter().filter(|entry| entry.header.seq > wanted.after && wanted.has(entry)).cloned();
        let entries: Vec<_> = board.each(&wanted.each).into_iter().chain(newer).collect();
        let material = Material::read(&board.state, &wanted, &entries, &board.values).unwrap();
        CompressionPlan::of(material, aim)
    }

    /// Compresses a thread without a model, for all who see it; says which entry did last, if one had to.
    ///
    /// # Panics
    /// Where no good summary can be made.
    fn compress(&mut self, thread: &str, aim: Aim) -> Result<Option<Seq>, Error> {
        let board = self.board();
        let thread: ThreadId = thread.parse().unwrap();
        let held = board.state.threads.get(&thread).ok_or_else(|| Error::not_found("thread", &thread))?;
        let mut made = Vec::new();
        for readers in held.readers(&board.state.team) {
            let scope = CompressionScope { readers, ..CompressionScope::default() };
            let Outlook::Compress(plan) = self.plan(&thread, scope, aim)? else { continue };
            let summary = plan.extract(self.board().count).unwrap();
            let writing = Writing { with: made.clone(), ..Writing::default() };
            made.push(self.board_mut().system(plan.compress(&summary, writing))?);
        }
        Ok(made.pop())
    }

    /// The prompt of `agent` for `spec`, reading older entries `page` at a time and long texts only when asked for.
    ///
    /// # Panics
    /// Where it asks for what there is not, or for what it was given.
    fn prompt_for(&self, agent: &str, spec: &ResolvedSpec, page: usize) -> Result<Prompt, Error> {
        let board = self.board();
        let view = board.view(agent)?;
        let source = Source::of(&view, &spec.thread);
        let (subjects, types) = (source.subjects(), Source::types());
        let is_read = |header: &Header| subjects.contains(&header.subject) && types.contains(&header.kind);
        let mut older = board.entries.iter().rev().filter(|entry| is_read(&entry.header)).peekable();
        // The texts of what was found for it are at hand.
        let found = match &spec.observed.recall {
            Observed::Seen(passages) => passages.as_slice(),
            Observed::Absent | Observed::Failed(_) => &[],
        };
        let text = |passage: &Passage| Some((passage.sha256, board.values.get(&passage.sha256)?.clone()));
        let (mut tail, mut values) = (Tail::default(), found.iter().filter_map(text).collect::<Values>());
        tail.keep(&board.each(&source.kept(&view)))?;
        loop {
            match prompt(&view, spec, &tail, &values, board.count) {
                Ok(prompt) => return Ok(prompt),
                Err(Lacking::Refused(error)) => return Err(error),
                Err(Lacking::Older) => {
                    assert!(!tail.complete, "there is nothing older to be read");
                    let read: Vec<_> = older.by_ref().take(page).cloned().collect();
                    tail.extend_back(&read)?;
                    tail.complete = older.peek().is_none();
                }
                Err(Lacking::Values(lacking)) => {
                    for (hash, _) in lacking {
                        let text = board.values.get(&hash).unwrap().clone();
                        assert!(values.insert(hash, text).is_none(), "{hash} was given");
                    }
                }
            }
        }
    }
}

impl Shows for Board {
    fn board(&self) -> &Board {
        self
    }

    fn board_mut(&mut self) -> &mut Board {
        self
    }
}
