//! The history cache: what was said that one reader may know, in groups that belong together, each written and counted
//! once.
//!
//! It is derived from the journal and can be thrown away. Kept from prompt to prompt it saves reading, writing and
//! counting again what was said before; what comes out is the same.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use callboard_core::{
    conversation::{Speaker, ToolCall},
    count::{TokenCounter, Tokens},
    error::Error,
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, Style},
    text::Values,
    view::View,
};

use crate::{
    Lacking, ResolvedSpec,
    fetch::READ_MESSAGES,
    history_key::HistoryKey,
    media,
    rendered::{RenderedPiece, Renderer},
    replaced,
    said::{Said, may_answer},
    shorten::shorten_evenly,
    tail::{Source, Tail, TailItem, is_covered},
    utterance::{From, Group, Kind, Reader, Utterance},
};

/// How many things may be said between a call and its result, at the most. What comes later stands alone, so that nobody
/// has to read on for a call that there never was.
const REACH: usize = 64;

/// What was said in one thread that one reader may know, as far back as it was read, and as far as it was written for a
/// prompt.
#[derive(Clone)]
pub struct HistoryCache {
    key: HistoryKey,
    pieces: Vec<Piece>,
    /// How many pieces, from the oldest on, are summaries and what is shown beside them. Every prompt has these.
    pub(super) kept: usize,
    /// How many tokens what is kept of old messages is shown with at the most, by the entry; pinned messages are shown
    /// word for word.
    limits: HashMap<Seq, Tokens>,
    /// How many things were said.
    said: usize,
    /// How many pieces, from the oldest on, may be others when older entries are read: those up to the last result
    /// whose call may be older than what was read.
    unsettled: usize,
    /// Whether there is nothing before it.
    pub(super) complete: bool,
    /// The most pieces that a prompt looked at since the oldest ones were last forgotten.
    wanted: usize,
    bytes: usize,
    /// The bytes of the longest thing that was said.
    longest_bytes: usize,
    /// Of results that replace each other the newest, by key: the entry of the call, and that of the result.
    newest: HashMap<String, (Seq, Seq)>,
    /// The entries with calls that update the plan, of which none that came later was done.
    plans: Vec<Seq>,
    /// The pictures that are shown, the oldest first.
    media: VecDeque<ShownMedium>,
    /// The bytes of these.
    media_bytes: usize,
}

/// A picture that is shown.
#[derive(Clone, Copy)]
struct ShownMedium {
    /// The entry that begins its piece.
    piece: Seq,
    /// The entry that has it.
    seq: Seq,
    /// Which one it is of that entry.
    at: usize,
    bytes: usize,
}

/// A group, with what was written of it once it was wanted.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) group: Arc<Group>,
    /// The whole group, where it was shortened to its limit.
    whole: Option<Arc<Group>>,
    /// How many things had been said before it.
    place: usize,
    /// What was written of it, and its size; nothing where no prompt wanted it yet.
    pub(super) written: Option<RenderedPiece>,
    /// What of it was shown in prompts that had no room for the whole, the newest last.
    shortened: VecDeque<Shortened>,
}

/// What is shown of a group that has more tokens than it may have.
#[derive(Clone)]
pub(super) struct Shortened {
    /// How many tokens it may have.
    allowed: Tokens,
    written: RenderedPiece,
    /// Whether nothing of it is shown, but that it is left out.
    pub(super) is_left_out: bool,
}

/// So many shortened forms of a group are kept: prompts of different budgets take turns.
const SHORTENED: usize = 4;

impl HistoryCache {
    /// An empty cache for the reader of a prompt. Refused where it does not see the thread.
    pub fn new(view: &View<'_>, spec: &ResolvedSpec, count: &dyn TokenCounter) -> Result<Self, Error> {
        HistoryKey::of(view, spec, count).map(Self::of)
    }

    fn of(key: HistoryKey) -> Self {
        Self {
            key,
            pieces: Vec::new(),
            kept: 0,
            limits: HashMap::new(),
            said: 0,
            unsettled: 0,
            complete: false,
            wanted: 0,
            bytes: 0,
            longest_bytes: 0,
            newest: HashMap::new(),
            plans: Vec::new(),
            media: VecDeque::new(),
            media_bytes: 0,
        }
    }

    /// Whether it can be used for this prompt: the same reader, who sees what it saw then, and the same format.
    pub fn is_of(&self, view: &View<'_>, spec: &ResolvedSpec, count: &dyn TokenCounter) -> bool {
        HistoryKey::of(view, spec, count).is_ok_and(|key| key == self.key)
    }

    /// Reads a tail in the place of what was read before. What it says again is not written again.
    pub fn read(&mut self, view: &View<'_>, tail: &Tail, values: &Values) -> Result<(), Lacking> {
        let utterances = self.utterances(view, tail, values)?;
        let kept = self.read_items(view, tail.kept.iter().filter(|item| item.is_seen(view)), values)?;
        let (complete, limits, wanted) = (tail.complete, limits(view, tail), self.wanted);
        let before = std::mem::take(&mut self.pieces);
        *self = Self { complete, limits, wanted, ..Self::of(self.key.clone()) };
        kept.into_iter().for_each(|utterance| self.add(utterance));
        (self.kept, self.said, self.unsettled) = (self.pieces.len(), 0, 0);
        utterances.into_iter().for_each(|utterance| self.add(utterance));
        let mut before: HashMap<_, _> = before.into_iter().map(|piece| (piece.seq(), piece)).collect();
        for piece in &mut self.pieces {
            let same = before.remove(&piece.seq()).filter(|before| before.whole.is_none() && before.says_what(piece));
            if let Some(same) = same {
                (piece.written, piece.shortened) = (same.written, same.shortened);
            }
        }
        self.bytes = self.pieces.iter().map(Piece::bytes).sum();
        Ok(())
    }

    /// Reads on: `newer` holds the entries of the conversation that came after those that were read.
    pub fn read_on(&mut self, view: &View<'_>, newer: &Tail, values: &Values) -> Result<(), Lacking> {
        let utterances = self.utterances(view, newer, values)?;
        utterances.into_iter().for_each(|utterance| self.add(utterance));
        Ok(())
    }

    /// About how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of the longest thing that was said: to shorten it takes a while.
    pub fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    /// Forgets the oldest pieces where no prompt has looked at them for long, so that it does not grow for ever.
    pub fn forget_old(&mut self) {
        let kept = self.wanted + 4 * REACH;
        if self.pieces.len() < 2 * kept + self.kept {
            return;
        }
        let forgotten = self.pieces.len() - kept - self.kept;
        self.pieces.drain(self.kept..self.kept + forgotten);
        (self.complete, self.wanted) = (false, 0);
        self.unsettled = self.unsettled.saturating_sub(forgotten);
        self.bytes = self.pieces.iter().map(Piece::bytes).sum();
    }

    fn utterances(&self, view: &View<'_>, tail: &Tail, values: &Values) -> Result<Vec<Utterance>, Lacking> {
        let is_shown = |item: &&TailItem| item.is_seen(view) && !is_covered(view, item);
        let mut utterances = self.read_items(view, tail.items.iter().filter(is_shown), values)?;
        if self.key.style == Style::Labelled {
            number(&mut utterances, said_in_all(view, &self.key.thread));
        }
        Ok(utterances)
    }

    fn read_items<'a>(
        &self,
        view: &View<'_>,
        items: impl Iterator<Item = &'a TailItem>,
        values: &Values,
    ) -> Result<Vec<Utterance>, Lacking> {
        let (mut utterances, mut lacking) = (Vec::new(), Vec::new());
        let reader = Reader { key: &self.key, runs: &view.state.runs };
        for item in items {
            match Utterance::of(item, &reader, values) {
                Ok(utterance) => utterances.extend(utterance.map(|utterance| cleared(view, item, utterance))),
                Err(hash) => lacking.push((hash, item.header.seq)),
            }
        }
        if lacking.is_empty() { Ok(utterances) } else { Err(Lacking::Values(lacking)) }
    }

    /// Adds what was said, and shows the newest pictures alone.
    fn add(&mut self, utterance: Utterance) {
        let seq = utterance.seq;
        let bytes: Vec<_> = utterance.media.iter().map(media::Medium::bytes).collect();
        let Some(piece) = self.join(utterance) else { return };
        for (at, bytes) in bytes.into_iter().enumerate() {
            self.media.push_back(ShownMedium { piece, seq, at, bytes });
            self.media_bytes += bytes;
            while self.media.len() > self.key.media || self.media_bytes > media::MOST_BYTES {
                let Some(oldest) = self.media.pop_front() else { break };
                self.media_bytes = self.media_bytes.saturating_sub(oldest.bytes);
                self.hide(oldest);
            }
        }
    }

    /// Names a picture instead of showing it.
    fn hide(&mut self, hidden: ShownMedium) {
        let Some(piece) = self.pieces.iter_mut().rev().find(|piece| piece.seq() == Some(hidden.piece)) else { return };
        piece.change(&mut self.bytes, |group| {
            let has_it = group.iter_mut().filter(|utterance| utterance.seq == hidden.seq);
            has_it.filter_map(|utterance| utterance.media.get_mut(hidden.at)).for_each(media::Medium::forget);
        });
    }

    /// A result joins its call, also where other things were said between them; what else is said stands alone. Returns the entry
    /// that begins its piece.
    fn join(&mut self, mut utterance: Utterance) -> Option<Seq> {
        let place = self.said;
        self.said += 1;
        self.longest_bytes = self.longest_bytes.max(utterance.bytes());
        let by = utterance.result_by().cloned();
        if let Some(id) = utterance.result_of().map(|id| self.call_of(place, id, by.as_ref())) {
            utterance.answer(&id);
            let id = id.as_str();
            let (kept, newer) = self.pieces.split_at_mut(self.kept);
            let near = newer.iter_mut().rev().take_while(|piece| place - piece.place <= REACH);
            let near = near.chain(kept.iter_mut().rev());
            let is_its =
                |piece: &&mut Piece| waits_for(&piece.group, id) && may_answer_in(&piece.group, by.as_ref(), &self.key);
            if let Some(calling) = near.into_iter().find(is_its) {
                let seq = calling.seq();
                let (call, style) = (calling.call(id), self.key.style);
                let updates = style == Style::Labelled
                    && call.is_some_and(|call| replaced::updates_plan(call) && utterance.is_plan_updated());
                let replaces = match call.map(|call| replaced::result_of(call, style)) {
                    None | Some(replaced::Result::Stays) => None,
                    Some(replaced::Result::Plan) => {
                        self.key.plan.iter().for_each(|plan| utterance.replace_with_note(&plan.note()));
                        None
                    }
                    Some(replaced::Result::UntilNext(key)) => utterance.is_done().then_some((key, utterance.seq)),
                };
                calling.change(&mut self.bytes, |group| group.push(utterance));
                if let (Some((key, result)), Some(calling)) = (replaces, seq) {
                    self.replace(key, (calling, result));
                }
                if let Some(calling) = seq.filter(|_| updates) {
                    self.leave_out_plans(calling, id);
                }
                return seq;
            }
            if place < REACH {
                self.unsettled = self.pieces.len() + 1;
            }
        }
        self.plans.extend(utterance.updates_plan().then_some(utterance.seq));
        let seq = utterance.seq;
        let group = Arc::new(vec![utterance]);
        let piece = Piece { group, whole: None, place, written: None, shortened: VecDeque::new() };
        self.bytes += piece.bytes();
        self.pieces.push(piece);
        Some(seq)
    }

    /// The id of the call that waits for a result of `id` that `by` says. Where an answer had it twice, its second call got another
    /// one.
    fn call_of(&self, place: usize, id: &str, by: Option<&AgentName>) -> String {
        let (kept, newer) = self.pieces.split_at(self.kept);
        let near = || {
            let newer = newer.iter().rev().take_while(|piece| place - piece.place <= REACH);
            let groups = newer.chain(kept.iter().rev()).map(|piece| &piece.group);
            groups.filter(|group| may_answer_in(group, by, &self.key))
        };
        if near().any(|group| waits_for(group, id)) {
            return id.to_owned();
        }
        let is_renamed = |call: &ToolCall| call.id.strip_prefix(id).is_some_and(|end| is_number(end.strip_prefix('-')));
        let renamed = |group: &Arc<Group>| {
            let calls = group.first().map(Utterance::calls).unwrap_or_default();
            let had_it = calls.iter().any(|call| call.id == id);
            let its = |call: &&ToolCall| had_it && is_renamed(call) && waits_for(group, &call.id);
            calls.iter().find(its).map(|call| call.id.clone())
        };
        near().find_map(renamed).unwrap_or_else(|| id.to_owned())
    }

    /// Leaves the plan out of the call `id` in the piece that the entry `newest` begins, which updated the plan, and out of
    /// the calls before it. The plan of a call that was refused stays until then.
    fn leave_out_plans(&mut self, newest: Seq, id: &str) {
        let Some(place) = self.key.plan else { return };
        let (before, after) = std::mem::take(&mut self.plans).into_iter().partition(|seq| *seq <= newest);
        self.plans = after;
        let before: Vec<_> = before;
        for piece in self.pieces.iter_mut().filter(|piece| piece.seq().is_some_and(|seq| before.contains(&seq))) {
            let is_newest = piece.seq() == Some(newest);
            piece.change(&mut self.bytes, |group| {
                let calling = group.iter_mut().take(1);
                calling.for_each(|calling| calling.leave_out_plan(place, |call| !is_newest || call.id == id));
            });
            // Another call of the same message may be refused.
            self.plans.extend(is_newest.then_some(newest));
        }
    }

    /// Notes the newest result of a key, the call that it belongs to and its own number, and puts a note in the place of
    /// the one before.
    fn replace(&mut self, key: String, newest: (Seq, Seq)) {
        let Some((calling, result)) = self.newest.insert(key, newest).filter(|before| *before != newest) else {
            return;
        };
        let Some(piece) = self.pieces.iter_mut().rev().find(|piece| piece.seq() == Some(calling)) else { return };
        piece.change(&mut self.bytes, |group| {
            let old = group.iter_mut().filter(|utterance| utterance.seq == result);
            old.for_each(|old| old.replace_with_note(&format!("left out: there is a newer one, entry {}", newest.1)));
        });
    }

    /// Where the task of a prompt begins: with what the reader has not answered, which is all from the last message
    /// that is somebody else's; or behind all that was said, where the task is given.
    pub(super) fn task(&self, spec: &ResolvedSpec) -> Result<usize, Lacking> {
        let settled = self.unsettled();
        match self.pieces.iter().rposition(Piece::is_foreign) {
            _ if spec.task.is_some() => Ok(self.pieces.len()),
            Some(at) if at >= settled && (at >= self.kept || self.complete) => Ok(at),
            None if self.complete => Ok(self.pieces.len()),
            _ => Err(Lacking::Older),
        }
    }

    /// Gives the reader back what it thought, as far as it is in the middle of a loop of tool calls, and nothing of what it
    /// thought before. A task that is given comes behind all that was said.
    pub(super) fn think(&mut self, spec: &ResolvedSpec) -> Result<(), Lacking> {
        let joins_results = spec.provider.joins_results(spec.format);
        let is_ended = spec.format == Format::Text || (spec.task.is_some() && !joins_results);
        let begin = if is_ended { self.pieces.len() } else { loop_begin(&self.pieces, joins_results) };
        if begin <= self.kept && self.kept > 0 && !self.complete {
            // Whether the loop began before the summary depends on what was said behind it.
            return Err(Lacking::Older);
        }
        if begin <= self.kept && self.kept > 0 {
            // The next prompt looks at all of it again.
            self.wanted = self.wanted.max(self.pieces.len());
        }
        let thinks = |first: &Utterance| first.mine && !first.reasoning.is_empty();
        let in_loop = sent(&self.pieces).take_while(|(at, ..)| *at >= begin).filter(|(_, first, _)| thinks(first));
        let in_loop: BTreeSet<_> = in_loop.map(|(at, ..)| at).collect();
        for (at, piece) in self.pieces.iter_mut().enumerate() {
            let is_in_loop = in_loop.contains(&at);
            if piece.is_in_loop() != is_in_loop {
                piece.change(&mut self.bytes, |group| {
                    group.iter_mut().take(1).for_each(|first| first.is_in_loop = is_in_loop);
                });
            }
        }
        Ok(())
    }

    /// Writes all from the piece `task` on, as far as that was not done before.
    pub(super) fn write_task(&mut self, renderer: &Renderer<'_>, task: usize) {
        for at in task..self.pieces.len() {
            self.size(renderer, at);
        }
    }

    /// The size of the piece `at`, which is written where that was not done before.
    pub(super) fn size(&mut self, renderer: &Renderer<'_>, at: usize) -> Tokens {
        self.wanted = self.wanted.max(self.pieces.len().saturating_sub(at));
        let Some(piece) = self.pieces.get_mut(at) else { return Tokens(0) };
        let Piece { written, group, whole, .. } = piece;
        let written = written.get_or_insert_with(|| {
            if let Some(short) = shortened_to_limit(group, &self.limits, renderer) {
                *whole = Some(std::mem::replace(group, Arc::new(short)));
            }
            let written = renderer.write(group);
            self.bytes += written.bytes();
            written
        });
        written.tokens
    }

    /// The size of what is shown of the piece `at` where it may have at most `allowed` tokens.
    pub(super) fn size_within(&mut self, renderer: &Renderer<'_>, at: usize, allowed: Tokens) -> Tokens {
        let whole = self.size(renderer, at);
        let Some(piece) = self.pieces.get_mut(at).filter(|_| whole > allowed) else { return whole };
        if piece.shortened_to(allowed).is_none() {
            let shortened = Shortened::of(&piece.group, whole, allowed, renderer);
            self.bytes += shortened.written.bytes();
            if piece.shortened.len() == SHORTENED {
                let forgotten = piece.shortened.pop_front();
                self.bytes = self.bytes.saturating_sub(forgotten.map_or(0, |forgotten| forgotten.written.bytes()));
            }
            piece.shortened.push_back(shortened);
        }
        piece.within(allowed).map_or(whole, |written| written.tokens)
    }

    /// All pieces, oldest first.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// How many pieces, from the oldest on, may be others when older entries are read.
    pub(super) fn unsettled(&self) -> usize {
        if self.complete { 0 } else { self.unsettled }
    }
}

impl Piece {
    /// A group that no entry says.
    pub(super) fn of(group: Group, renderer: &Renderer<'_>) -> Self {
        let written = Some(renderer.write(&group));
        let group = Arc::new(group);
        Self { group, whole: None, place: 0, written, shortened: VecDeque::new() }
    }

    /// What is shown of it where it may have at most `allowed` tokens, as far as that was written.
    pub(super) fn within(&self, allowed: Tokens) -> Option<&RenderedPiece> {
        let whole = self.written.as_ref().filter(|written| written.tokens <= allowed);
        whole.or_else(|| self.shortened_to(allowed).map(|shortened| &shortened.written))
    }

    /// Its form of at most `allowed` tokens.
    pub(super) fn shortened_to(&self, allowed: Tokens) -> Option<&Shortened> {
        self.shortened.iter().find(|shortened| shortened.allowed == allowed)
    }

    /// Its size, where it was written.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        self.written.as_ref().map(|written| written.tokens)
    }

    /// The entry that begins it.
    pub(super) fn seq(&self) -> Option<Seq> {
        self.group.first().map(|utterance| utterance.seq)
    }

    /// Changes what it says, and with that how many `bytes` there are: what was written of it is of no use any more.
    fn change(&mut self, bytes: &mut usize, change: impl FnOnce(&mut Group)) {
        *bytes = bytes.saturating_sub(self.bytes());
        if let Some(whole) = self.whole.take() {
            self.group = whole;
        }
        change(Arc::make_mut(&mut self.group));
        self.written = None;
        self.shortened.clear();
        *bytes += self.bytes();
    }

    /// What begins it, also where that is left out to keep to its limit.
    fn first(&self) -> Option<&Utterance> {
        self.whole.as_ref().unwrap_or(&self.group).first()
    }

    /// Whether it shows what the reader thought.
    fn is_in_loop(&self) -> bool {
        self.first().is_some_and(|first| first.is_in_loop)
    }

    /// The names of those of its entries whose texts the store has lost.
    pub(super) fn damaged(&self) -> impl Iterator<Item = String> {
        let damaged = self.group.iter().filter(|utterance| utterance.is_damaged);
        damaged.map(|utterance| format!("the text of entry {}, which is damaged", utterance.seq))
    }

    /// The call of this id that it makes.
    fn call(&self, id: &str) -> Option<&ToolCall> {
        self.group.first()?.calls().iter().find(|call| call.id == id)
    }

    /// Whether it is what somebody else said to the reader, and does not belong to the result before it.
    fn is_foreign(&self) -> bool {
        self.group.first().is_some_and(Utterance::is_asked)
    }

    /// Whether it says what another one does that begins with the same entry.
    fn says_what(&self, other: &Self) -> bool {
        let one =
            |utterance: &Utterance| (utterance.seq, utterance.replaced, utterance.shown_media(), utterance.is_in_loop);
        self.group.iter().map(one).eq(other.group.iter().map(one))
    }

    fn bytes(&self) -> usize {
        let of_group: usize = self.group.iter().map(Utterance::bytes).sum();
        let shortened = self.shortened.iter().map(|shortened| &shortened.written);
        size_of::<Self>() + of_group + self.written.iter().chain(shortened).map(RenderedPiece::bytes).sum::<usize>()
    }
}

impl Shortened {
    fn of(group: &Group, whole: Tokens, allowed: Tokens, renderer: &Renderer<'_>) -> Self {
        let short = shorten_evenly(renderer, group, whole, allowed);
        let is_left_out = short.is_none();
        let group = short.unwrap_or_else(|| vec![left_out_between(group, renderer)]);
        Self { allowed, written: renderer.write(&group), is_left_out }
    }
}

/// How many tokens what is kept of old messages is shown with at the most.
fn limits(view: &View<'_>, tail: &Tail) -> HashMap<Seq, Tokens> {
    let limit = |item: &TailItem| match &item.said {
        Said::Message(message) => view.kept_tokens(&message.thread_id, item.header.seq),
        _ => None,
    };
    tail.kept.iter().filter_map(|item| Some((item.header.seq, limit(item)?))).collect()
}

/// From the newest piece on, where a piece stands, what begins it, and whether what stands behind it was said in one answer with it.
/// Empty answers of the reader's own, which no provider is sent, are not among them, unless its provider ran tools for them.
fn sent(pieces: &[Piece]) -> impl Iterator<Item = (usize, &Utterance, bool)> {
    let mut is_next_joined = false;
    pieces.iter().enumerate().rev().filter_map(move |(at, piece)| {
        let is_sent = |first: &&Utterance| is_next_joined || !first.is_silent() || first.has_server_use();
        let first = piece.first().filter(is_sent)?;
        let is_joined = std::mem::replace(&mut is_next_joined, first.mine && first.is_joined);
        Some((at, first, is_joined))
    })
}

/// Where the loop of tool calls begins that goes on: behind the last thing in `pieces` that is neither a call of the reader's own,
/// nor what it said in one answer with a call, nor what the user said in one message with a result; where `joins_results`, nor what
/// anybody else said. An empty answer of its own ends no loop, nor does one that Anthropic paused amid tools of its own: nobody else
/// spoke behind it.
fn loop_begin(pieces: &[Piece], joins_results: bool) -> usize {
    let mut is_next_own = true;
    let end = sent(pieces).find(|(_, first, is_next_joined)| {
        let is_own = first.is_own_words();
        let is_next_own = std::mem::replace(&mut is_next_own, is_own);
        match is_own {
            true => first.calls().is_empty() && !is_next_joined && !(is_next_own && first.has_server_use()),
            false => !joins_results && !first.is_beside_result(),
        }
    });
    end.map_or(0, |(at, ..)| at + 1)
}

/// A group of which what has a limit has more tokens, shortened; none where it has no more. What joined it later is whole, and so
/// is what the reader thought.
fn shortened_to_limit(group: &Arc<Group>, limits: &HashMap<Seq, Tokens>, renderer: &Renderer<'_>) -> Option<Group> {
    let limit = *group.iter().find_map(|utterance| limits.get(&utterance.seq))?;
    let (mut old, others): (Group, Group) = group.iter().cloned().partition(|one| limits.contains_key(&one.seq));
    let is_in_loop = group.first().is_some_and(|first| first.is_in_loop);
    old.iter_mut().for_each(|one| one.is_in_loop = false);
    let whole = renderer.size(&old);
    if whole <= limit {
        return None;
    }
    let mut short =
        shorten_evenly(renderer, &old, whole, limit).unwrap_or_else(|| vec![left_out_between(&old, renderer)]);
    short.extend(others);
    short.sort_by_key(|utterance| utterance.seq);
    short.iter_mut().take(1).for_each(|first| first.is_in_loop = is_in_loop);
    Some(short)
}

/// What an item says, where results of tools are named that are no longer shown.
fn cleared(view: &View<'_>, item: &TailItem, mut utterance: Utterance) -> Utterance {
    if let Said::Message(message) = &item.said
        && view.is_cleared(&message.thread_id, utterance.seq, utterance.size)
    {
        utterance.replace_with_note(&format!("a result of {} tokens is not shown any more", utterance.size));
    }
    utterance
}

/// Says that what these groups say is left out.
pub(super) fn left_out_between<'a>(
    group: impl IntoIterator<Item = &'a Utterance>,
    renderer: &Renderer<'_>,
) -> Utterance {
    let (first, last) = group.into_iter().fold((Seq(u64::MAX), Seq::ZERO), |(first, last), utterance| {
        (first.min(utterance.seq), last.max(utterance.seq))
    });
    Utterance::note(Kind::LeftOut(format!(
        "[what was said in the entries {first} to {last} is left out here{}]",
        renderer.by("fetch it as messages of the thread", READ_MESSAGES)
    )))
}

/// How often the user and the manager have spoken in all that is read in `thread`, as far as the viewer sees it.
fn said_in_all(view: &View<'_>, thread: &ThreadId) -> (u64, u64) {
    let threads = Source::of(view, thread).threads;
    let sizes = threads.iter().filter_map(|name| view.thread(name).ok()).map(|thread| view.size(thread));
    sizes.fold((0, 0), |(user, manager), size| (user + size.of_user, manager + size.of_manager))
}

/// Numbers the newest utterances, where the user and the manager have spoken so often in all.
fn number(utterances: &mut [Utterance], (mut of_user, mut of_manager): (u64, u64)) {
    for utterance in utterances.iter_mut().rev() {
        let left = match utterance.speaker {
            Speaker::User => &mut of_user,
            Speaker::Manager => &mut of_manager,
            Speaker::Other => continue,
        };
        utterance.number = Some(*left);
        *left = left.saturating_sub(1);
    }
}

fn is_number(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit()))
}

/// Whether a group makes a call of this id that has no result yet.
fn waits_for(group: &Group, id: &str) -> bool {
    let calls = group.first().map(Utterance::calls).unwrap_or_default().iter().filter(|call| call.id == id);
    calls.count() > group.iter().filter(|utterance| utterance.result_of() == Some(id)).count()
}

/// Whether a result that `by` says may be that of a call of a group.
fn may_answer_in(group: &Group, by: Option<&AgentName>, key: &HistoryKey) -> bool {
    let caller = match group.first().map(|calling| &calling.kind) {
        Some(Kind::Said { from: From::Agent(caller), .. }) => caller.as_ref(),
        _ => None,
    };
    may_answer(by, caller, key.manager.as_ref(), key.is_alone())
}
