//! Building a prompt: from what is remembered of the last one and what was said since, or else from the journal.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use callboard_core::{count::Tokens, entry::Entry, error::Error as Refusal, id::Seq, text::Values};
use callboard_prompt::{
    HistoryCache, Lacking, Prompt, PromptPieces, prompt_of,
    tail::{Source, Tail},
};
use callboard_store::{Order, Query};

use super::{Made, Wanted};
use crate::{
    blocking::off_runtime,
    error::Error,
    prompt_memory::{MadePrompts, Remembered},
    session::Session,
    texts::damaged,
};

/// How many entries are read at once at the most.
const LARGEST_PAGE: usize = 4096;

/// How many entries are read at once at the least.
const SMALLEST_PAGE: usize = 64;

/// With so many bytes to be written and counted, a prompt is made off the runtime: that takes about a millisecond.
const LONG_BYTES: usize = 64 << 10;

/// A prompt of so many tokens, or with context sets of so many, is made off the runtime: it takes as long to copy.
const LONG_TOKENS: Tokens = Tokens(1 << 18);

/// What a prompt is made from, as far as it is at hand.
#[derive(Default)]
struct Ingredients {
    /// What was said that the reader may know.
    history: Option<HistoryCache>,
    /// What was said since then, and how long it is.
    newer: Option<Tail>,
    newer_bytes: usize,
    /// The newest entries of the conversation, as far back as they had to be read now.
    tail: Tail,
    /// Whether the tail has the summaries that stand, and what is shown beside them.
    has_kept: bool,
    /// Whether the history cache has still to read the tail.
    has_older: bool,
    /// How many entries are read next.
    page: usize,
    values: Values,
    /// Whether one of them is a note that the text is damaged.
    has_damage: bool,
    made: MadePrompts,
    /// Whether something was read from the store since the state was taken.
    was_read: bool,
}

impl Session {
    /// Makes a prompt, and says what is to be remembered of it.
    pub(super) async fn make(&self, wanted: &Arc<Wanted>) -> Result<Made, Error> {
        let mut ingredients = self.begin(wanted).await?;
        loop {
            let built;
            (built, ingredients) = ingredients.go_on(wanted).await?;
            match built {
                Ok((prompt, pieces)) => {
                    if ingredients.was_read && wanted.drafts.is_empty() {
                        self.live.confirm(&wanted.state).await?;
                    }
                    let pieces = Arc::new(pieces);
                    let remembered = ingredients.finish(wanted, &pieces)?;
                    return Ok((prompt, pieces, remembered));
                }
                Err(Lacking::Refused(error)) => return Err(error.into()),
                Err(Lacking::Values(lacking)) => {
                    for (hash, seq) in lacking {
                        let text = self.long_text(hash, wanted.erased).await?;
                        ingredients.has_damage |= text.is_none();
                        ingredients.values.insert(hash, text.unwrap_or_else(|| damaged(seq)));
                    }
                    ingredients.was_read = true;
                }
                Err(Lacking::Older) => self.read_older(wanted, &mut ingredients).await?,
            }
        }
    }

    /// Begins with what is remembered and what was said since, or with the newest page.
    async fn begin(&self, wanted: &Wanted) -> Result<Ingredients, Error> {
        let (page, values) = (wanted.page()?, wanted.recalled.clone());
        let mut ingredients = Ingredients { page, values, ..Ingredients::default() };
        // What is remembered is of the journal as it is.
        let remembered = self.live.prompts.get(&wanted.memory_key()).filter(|_| wanted.drafts.is_empty());
        if let Some(remembered) = remembered {
            (ingredients.values, ingredients.made) = (remembered.values.clone(), remembered.made.clone());
            ingredients.values.extend(wanted.recalled.clone());
            if self.read_newer(wanted, &remembered, &mut ingredients).await? {
                ingredients.history = Some(remembered.history.clone());
                return Ok(ingredients);
            }
        }
        self.read_older(wanted, &mut ingredients).await?;
        Ok(ingredients)
    }

    /// Reads what was said since something was remembered, and says whether that is of use.
    async fn read_newer(
        &self,
        wanted: &Wanted,
        known: &Remembered,
        ingredients: &mut Ingredients,
    ) -> Result<bool, Error> {
        let head = wanted.state.head.seq;
        if known.through > head || !known.history.is_of(&wanted.view()?, &wanted.spec, wanted.count) {
            return Ok(false);
        }
        let (mut newer, source) = (Tail::default(), wanted.source()?);
        if let Some(entries) = self.live.newer(known.through, head) {
            for entry in entries.iter().filter(|entry| source.has(&entry.header)) {
                newer.extend([&**entry])?;
                ingredients.newer_bytes += entry.data.len();
            }
        } else {
            let entries = self.read(&source, known.through.next()..head.next(), Order::Forward, LARGEST_PAGE).await?;
            ingredients.was_read = true;
            if entries.len() == LARGEST_PAGE {
                // So much is new that little of what is remembered would be shown.
                return Ok(false);
            }
            ingredients.newer_bytes = entries.iter().map(|entry| entry.data.len()).sum();
            newer.extend(&entries)?;
        }
        ingredients.newer = Some(newer);
        Ok(true)
    }

    /// Reads an older page, or the newest one where none was read yet.
    async fn read_older(&self, wanted: &Wanted, ingredients: &mut Ingredients) -> Result<(), Error> {
        let before = ingredients.tail.before(wanted.state.head.seq);
        let (source, view) = (wanted.source()?, wanted.view()?);
        if !ingredients.has_kept {
            let kept = source.kept(&view);
            ingredients.tail.keep(&self.entries_with(&kept, &wanted.drafts).await?)?;
            ingredients.has_kept = true;
        }
        let begins = source.begins(&view).min(before);
        let older = self.read(&source, begins..before, Order::Backward, ingredients.page).await?;
        ingredients.tail.complete = older.len() < ingredients.page;
        ingredients.tail.extend_back(&older)?;
        ingredients.page = LARGEST_PAGE.min(ingredients.page * 4);
        (ingredients.has_older, ingredients.was_read) = (true, true);
        Ok(())
    }

    /// The entries with these numbers, of the journal or of `drafts`, in their order.
    pub(super) async fn entries_with(&self, seqs: &[Seq], drafts: &[Entry]) -> Result<Vec<Entry>, Error> {
        let is_draft = |seq: &Seq| drafts.iter().any(|draft| draft.header.seq == *seq);
        let stored: Vec<_> = seqs.iter().copied().filter(|seq| !is_draft(seq)).collect();
        let mut entries = match stored.is_empty() {
            true => Vec::new(),
            false => self.live.store.read_each(self.id(), &stored).await?,
        };
        entries.extend(drafts.iter().filter(|draft| seqs.contains(&draft.header.seq)).cloned());
        entries.sort_by_key(|entry| seqs.iter().position(|seq| *seq == entry.header.seq));
        Ok(entries)
    }

    async fn read(&self, source: &Source, seqs: Range<Seq>, order: Order, limit: usize) -> Result<Vec<Entry>, Error> {
        let query = Query { seqs, types: Source::types(), subjects: source.subjects(), order, limit };
        Ok(self.live.store.read(self.id(), query).await?)
    }
}

impl Wanted {
    pub(super) fn source(&self) -> Result<Source, Refusal> {
        Ok(Source::of(&self.view()?, &self.spec.thread))
    }

    /// How many entries will do for the budget, going by what messages have on average, and a quarter more.
    fn page(&self) -> Result<usize, Refusal> {
        let view = self.view()?;
        let threads = self.source()?.threads;
        let sizes = threads.iter().filter_map(|name| view.thread(name).ok()).map(|thread| view.size(thread));
        let (messages, tokens) =
            sizes.fold((0, 0), |(messages, tokens), size| (messages + size.messages, tokens + size.tokens.0));
        let average = (tokens / messages.max(1)).max(1);
        let page = usize::try_from(self.spec.budget.0 / average / 4 * 5).unwrap_or(LARGEST_PAGE);
        Ok(page.clamp(SMALLEST_PAGE, LARGEST_PAGE))
    }
}

impl Ingredients {
    /// Tries to build it: off the runtime where that takes its time.
    async fn go_on(mut self, wanted: &Arc<Wanted>) -> Result<(Result<(Prompt, PromptPieces), Lacking>, Self), Error> {
        if !self.takes_long(wanted) {
            return Ok((self.build(wanted), self));
        }
        let wanted = wanted.clone();
        off_runtime(move || (self.build(&wanted), self)).await
    }

    fn takes_long(&self, wanted: &Wanted) -> bool {
        let of_sets = wanted.state.sets.iter().map(|held| held.set.tokens).sum::<Tokens>();
        let is_long = wanted.spec.budget > LONG_TOKENS || of_sets > LONG_TOKENS;
        let is_shortened = self.history.as_ref().is_some_and(|history| history.longest_bytes() > LONG_BYTES);
        self.has_older || self.newer_bytes > LONG_BYTES || is_long || is_shortened
    }

    fn build(&mut self, wanted: &Wanted) -> Result<(Prompt, PromptPieces), Lacking> {
        let view = wanted.view()?;
        let history = match &mut self.history {
            Some(history) => history,
            none => none.insert(HistoryCache::new(&view, &wanted.spec, wanted.count)?),
        };
        if let Some(newer) = &self.newer {
            history.read_on(&view, newer, &self.values)?;
            self.newer = None;
        }
        if self.has_older {
            history.read(&view, &self.tail, &self.values)?;
            self.has_older = false;
        }
        prompt_of(&view, &wanted.spec, history, &self.values, wanted.count)
    }

    fn finish(mut self, wanted: &Wanted, pieces: &Arc<PromptPieces>) -> Result<Remembered, Error> {
        let mut history = self.history.take().ok_or(Error::Closed)?;
        history.forget_old();
        let through = wanted.state.head.seq;
        let sets: BTreeSet<_> = wanted.state.sets.iter().filter_map(|held| held.set.content.stored()).collect();
        self.values.retain(|hash, _| sets.contains(hash));
        if wanted.spec.profile.is_none() {
            self.made.note(through, wanted.spec.clone(), pieces.clone());
        }
        Ok(Remembered { history, through, values: self.values, made: self.made, has_damage: self.has_damage })
    }
}
