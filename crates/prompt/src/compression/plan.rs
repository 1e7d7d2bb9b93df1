//! Plans: what of a thread is compressed, what is kept beside the summary, and whether a summary is good.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use callboard_core::{
    compression::{Base, Compressed, LEAST_TARGET, Method, OpenCall, Spent, check_target, decide::Compress},
    conversation::{Role, thoughts::split_thoughts},
    count::{TokenCounter, Tokens},
    error::{ConflictKind, Error},
    id::{Seq, ThreadId},
    prompt::escape::escape,
    text::{Text, first_chars},
};

use crate::compression::{
    identifiers::{Finder, of_all},
    material::{CompressionScope, Earlier, Material},
    transcript::Spoken,
};

/// What stands around a summary in a prompt, at the most.
const SUMMARY_FRAME: Tokens = Tokens(80);

/// What stands around a list of open calls, at the most.
const OPEN_CALLS_FRAME: Tokens = Tokens(24);

/// What is kept is shown with at least so many tokens each, however many there are.
const LEAST_KEPT: Tokens = Tokens(64);

/// A call is seldom shown with fewer tokens: its name, its id and its arguments.
const LEAST_CALL: Tokens = Tokens(64);

/// In a small window the newest messages may have so many tokens, which is more than a quarter of the target.
const SMALL_RECENT: Tokens = Tokens(5000);

/// So many messages that asked for something are kept, at most.
const ASKS: usize = 8;

/// What is shorter says little more than yes.
const A_FEW_WORDS: Tokens = Tokens(6);

/// No more of the id and the name of an open call is listed.
const LISTED_CHARS: usize = 100;

/// A reply or a refusal is shorter than this, says in so many times fewer tokens what was said, and has fewer of its
/// longer words. What is longer holds something, however it begins.
const SHORT_REPLY: Tokens = Tokens(40);
const SHORTER_THAN_SAID: u64 = 20;
const TELLING_WORDS: usize = 3;

/// The script of a conversation is judged by so many of its newest old messages, and so many of their characters.
const JUDGED: usize = 64;
const JUDGED_CHARS: usize = 1 << 14;

/// The script of fewer letters is not judged.
const FEW_LETTERS: usize = 40;

/// A sentence has so many letters, at the least.
const SENTENCE_LETTERS: usize = 20;

/// The language is told by so many of the commonest words that have so many letters at the most. What is said is told
/// by the longer ones, and in scripts that do not part words by so many characters in a row.
const COMMON_WORDS: usize = 20;
const SHORT_WORD: usize = 4;
const UNPARTED_CHARS: usize = 3;

/// The language of a summary of fewer words is not judged, nor where fewer different ones were said.
const FEW_WORDS: usize = 30;
const FEW_DIFFERENT_WORDS: usize = 80;

/// How short a history is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Its size, at most.
    pub target: Tokens,
    /// How much of that the newest messages may have, word for word; where it is absent a quarter, and of a small target more.
    pub keep_recent: Option<Tokens>,
}

impl Aim {
    /// The same where what has `of` tokens here has `counted` for whom it is for.
    pub fn scaled(self, of: Tokens, counted: Tokens) -> Self {
        let scaled = |tokens: Tokens| tokens.part(of.0, counted.0);
        let target = scaled(self.target).max(LEAST_TARGET);
        Self { target, keep_recent: self.keep_recent.map(scaled).filter(|recent| *recent < target) }
    }
}

impl Outlook {
    /// The size of the history as it is.
    pub fn tokens_before(&self) -> Tokens {
        match self {
            Self::Compress(plan) => plan.tokens_before,
            Self::Enough(tokens) => *tokens,
        }
    }
}

/// What is compressed, and what is kept.
#[derive(Clone, Debug)]
pub struct CompressionPlan {
    pub(super) thread: ThreadId,
    pub(super) scope: CompressionScope,
    pub(super) base: Base,
    pub(super) from: Seq,
    /// The last entry that the summary covers.
    pub through: Seq,
    /// The earlier summary, whose place the new one takes.
    pub earlier: Option<Earlier>,
    /// What the summary covers, the oldest first.
    old: Vec<Spoken>,
    /// Whether the prompts that it is for show nothing that the system said.
    hides_system: bool,
    /// The most tokens of a summary.
    pub allowed: Tokens,
    /// The size of the history before.
    pub tokens_before: Tokens,
    /// What a summary should hold of what newer and pinned messages name, the newest first.
    pub needed: Vec<Arc<str>>,
    /// Calls that wait for results and for which there is no room, the newest first.
    pub(super) open_calls: Vec<OpenCall>,
    pub(super) target: Tokens,
    pub(super) kept: Vec<Seq>,
    pub(super) kept_tokens: Tokens,
    pub(super) pins: Vec<Seq>,
    /// What the history has besides the summary.
    rest: Tokens,
}

/// What there is to do to reach an aim.
#[derive(Clone, Debug)]
pub enum Outlook {
    /// To compress.
    Compress(Box<CompressionPlan>),
    /// Nothing: the history has so many tokens, or nothing in it is old.
    Enough(Tokens),
}

/// A summary that is good, with what is listed after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What it says.
    pub text: Arc<str>,
    pub(super) open_calls: Vec<OpenCall>,
    pub(super) more_open_calls: u64,
    pub(super) identifiers: Vec<Arc<str>>,
    pub(super) more_identifiers: u64,
    /// The size of the history that has it.
    pub tokens_after: Tokens,
}

/// How a summary was written.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// The model that wrote it.
    pub model: Option<Arc<str>>,
    /// Why no model did.
    pub reason: Option<Arc<str>>,
    /// What it cost.
    pub spent: Spent,
    /// The summaries of the same compression that were made before it, for others.
    pub with: Vec<Seq>,
}

/// What is wrong with a summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortcoming {
    /// It says nothing.
    #[error("it is empty")]
    Empty,
    /// It breaks off.
    #[error("it breaks off before its end, so it is too long")]
    CutOff,
    /// It is no text, or not alone.
    #[error("it calls tools")]
    CallsTools,
    /// It answers whoever asked, or refuses to.
    #[error("it is a reply, not a summary")]
    Reply,
    /// It is in another script or in other words than what it stands for.
    #[error("it is not in the language of the conversation")]
    OtherLanguage,
    /// It is too long.
    #[error("it has {tokens} tokens, and {allowed} is the most")]
    TooLong {
        /// Its size.
        tokens: Tokens,
        /// The largest size.
        allowed: Tokens,
    },
}

impl CompressionPlan {
    /// Says what of a thread is to be compressed.
    pub fn of(material: Material, aim: Aim) -> Result<Outlook, Error> {
        check_target(aim.target)?;
        if aim.keep_recent.is_some_and(|recent| recent >= aim.target) {
            let problem = format!("keep less than the {} tokens that are aimed at", aim.target);
            return Err(Error::contradiction("/keep_recent_tokens", problem));
        }
        let Material { thread, scope, base, from, earlier, mut messages, pinned, pins, plan, hides_system, .. } =
            material;
        let (task, answered) = task(&messages, &scope, aim.target);
        let pins: BTreeMap<Seq, Tokens> = messages
            .iter()
            .chain(&pinned)
            .filter(|spoken| pins.contains_key(&spoken.seq))
            .map(|spoken| (spoken.seq, spoken.size))
            .collect();
        let pinned_tokens =
            |from: Seq, through: Seq| pins.range(from..=through).map(|(_, tokens)| *tokens).sum::<Tokens>();
        let of_earlier = earlier.as_ref().map_or(Tokens(0), |earlier| {
            earlier.compressed.summary_tokens + pinned_tokens(earlier.head.from, earlier.head.through)
        });
        let said: Tokens = messages.iter().take(task).map(|spoken| shown_size(spoken, earlier.as_ref())).sum();
        let tokens_before = said + of_earlier + answered;
        if tokens_before <= aim.target {
            return Ok(Outlook::Enough(tokens_before));
        }
        let target = aim.target.minus(answered);
        let all_pins = pinned_tokens(from, Seq(u64::MAX));
        if all_pins.0 > target.0 / 2 {
            let problem = format!("{all_pins} tokens are pinned, and the target is to be twice as much at the least");
            return Err(Error::contradicting(ConflictKind::PinsTooLarge, "/target_tokens", problem));
        }
        let groups = Groups::of(&messages);
        // The calls and the question that are kept have at most half, together with the pins. The rest is for what is
        // newest.
        let of_kept = Tokens(target.0 / 2).minus(all_pins).max(LEAST_KEPT + LEAST_KEPT);
        let wanted = aim.keep_recent.unwrap_or_else(|| recent_part(target));
        // What the earlier summary covers stays covered, also what it kept.
        let covered = earlier.as_ref().map_or(Seq::ZERO, |earlier| earlier.head.through);
        let again = messages.partition_point(|spoken| spoken.seq <= covered);
        let besides = all_pins + SUMMARY_FRAME + Tokens(target.0 / 8);
        let divide = |room_of_kept: Tokens| {
            let recent = wanted.min(target.minus(besides).minus(room_of_kept));
            let cut = groups.cut(&messages, task, recent).max(again);
            (cut, groups.kept(&messages, cut, of_kept, &pins))
        };
        // Where less is kept, the newest have more room.
        let (cut, kept) = divide(LEAST_KEPT + LEAST_KEPT);
        let newest: Tokens = messages.iter().take(task).skip(cut).map(|spoken| spoken.size).sum();
        let has_room = besides + kept.size(of_kept) + newest <= target;
        let (cut, kept) = if has_room { (cut, kept) } else { divide(of_kept) };
        let Kept { seqs: kept, sizes, asks, mut open_calls } = kept;
        // What was listed before waits still, if no result has come since.
        let has_result = |id: &str| messages.iter().any(|spoken| spoken.message.tool_call_id.as_deref() == Some(id));
        let listed = earlier.iter().flat_map(|earlier| &earlier.compressed.open_calls);
        open_calls.extend(listed.filter(|call| !has_result(&call.id)).cloned());
        let old = messages.drain(..cut).collect::<Vec<_>>();
        let Some(last) = old.last() else { return Ok(Outlook::Enough(tokens_before)) };
        let through = last.seq.max(covered);
        // What was asked has a third of the target, so that it does not crowd out what was done.
        let of_asks = cap(sizes.iter().skip(sizes.len() - asks).copied(), Tokens(target.0 / 3)).unwrap_or(of_kept);
        let kept_tokens = cap(sizes.iter().copied(), of_kept).unwrap_or(of_kept).min(of_asks).max(LEAST_KEPT);
        let size_of_kept: Tokens = sizes.into_iter().map(|size| size.min(kept_tokens)).sum();
        let newest: Tokens = messages.iter().take(task.saturating_sub(cut)).map(|spoken| spoken.size).sum();
        let rest = pinned_tokens(from, through) + size_of_kept + newest + frame(&open_calls) + answered;
        let allowed = aim.target.minus(rest);
        let shown: Vec<Seq> = pins.range(from..=through).map(|(seq, _)| *seq).collect();
        let naming = messages.iter().rev().chain(old.iter().rev().filter(|spoken| shown.contains(&spoken.seq)));
        let is_whole = |spoken: &&Spoken| kept.contains(&spoken.seq) && spoken.size <= kept_tokens;
        let beside: Vec<Seq> = shown.iter().copied().chain(old.iter().filter(is_whole).map(|it| it.seq)).collect();
        let held = old.iter().filter(|spoken| !(beside.contains(&spoken.seq) || hides_system && spoken.is_of_system()));
        let needed = needed(naming.chain(pinned.iter().rev()), plan, held, earlier.as_ref());
        Ok(Outlook::Compress(Box::new(Self {
            thread,
            scope,
            base,
            from,
            through,
            earlier,
            old,
            hides_system,
            allowed,
            tokens_before,
            needed,
            open_calls,
            target: aim.target,
            kept,
            kept_tokens,
            pins: shown,
            rest,
        })))
    }

    /// The command that puts `summary` in the place of what it covers. The sizes in it are those that were planned with, which
    /// are at least those that readers are shown.
    pub fn compress(&self, summary: &Summary, writing: Writing) -> Compress {
        let Writing { model, reason, spent, with } = writing;
        let compressed = Compressed {
            thread: self.thread.clone(),
            from: self.from,
            through: self.through,
            messages: self.messages(),
            readers: self.scope.readers.clone(),
            with,
            summary: Text::from(""),
            open_calls: summary.open_calls.clone(),
            more_open_calls: summary.more_open_calls,
            identifiers: summary.identifiers.clone(),
            more_identifiers: summary.more_identifiers,
            kept: self.kept.clone(),
            kept_tokens: self.kept_tokens,
            pins: self.pins.clone(),
            replaced: self.earlier.as_ref().map(|earlier| earlier.head.clone()),
            method: if model.is_some() { Method::Model } else { Method::Extractive },
            model,
            reason,
            target_tokens: self.target,
            tokens_before: self.tokens_before,
            tokens_after: summary.tokens_after,
            summary_tokens: self.summary_tokens(summary),
            spent,
            withdrawn: false,
        };
        Compress { base: self.base.clone(), text: summary.text.clone(), compressed }
    }

    /// What a summary takes in a prompt, with all that stands around it.
    pub(super) fn summary_tokens(&self, summary: &Summary) -> Tokens {
        summary.tokens_after.minus(self.rest) + frame(&self.open_calls)
    }

    /// What is summarised, the oldest first. Where prompts show nothing that the system said, their summaries do not either.
    pub fn said(&self) -> impl DoubleEndedIterator<Item = &Spoken> {
        self.old.iter().filter(|spoken| !(self.hides_system && spoken.is_of_system()))
    }

    /// How many messages the summary covers, those of the earlier summary among them.
    pub fn messages(&self) -> u64 {
        let again = self.earlier.as_ref().map_or(0, |earlier| earlier.head.kept.len() as u64);
        let before = self.earlier.as_ref().map_or(0, |earlier| earlier.compressed.messages);
        (before + self.old.len() as u64).saturating_sub(again)
    }

    /// The most tokens of a summary, so that there is room for what is listed after it.
    pub fn allowed_text(&self) -> Tokens {
        self.allowed.minus(self.allowed_list())
    }

    /// What of the needed identifiers `text` does not hold.
    pub fn missing(&self, text: &str) -> Vec<Arc<str>> {
        let needed: Vec<&str> = self.needed.iter().map(|one| &**one).collect();
        let held = Finder::new(&needed).held_in(text);
        let missing = self.needed.iter().enumerate().filter(|(which, _)| !held.contains(which));
        missing.map(|(_, one)| one.clone()).collect()
    }

    /// Says whether what a model wrote is a good summary, and lists after it what it does not hold.
    pub fn check_written(&self, text: &str, count: &dyn TokenCounter) -> Result<Summary, Shortcoming> {
        let text = split_thoughts(text).1.trim();
        if self.is_in_other_script(text) || self.is_in_other_words(text) {
            return Err(Shortcoming::OtherLanguage);
        }
        if self.is_reply(text, count) {
            return Err(Shortcoming::Reply);
        }
        self.check(text, count)
    }

    /// Says whether a summary is good, and lists after it what it does not hold.
    pub fn check(&self, text: &str, count: &dyn TokenCounter) -> Result<Summary, Shortcoming> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Shortcoming::Empty);
        }
        let (tokens, allowed) = (count.count(&escape(text)), self.allowed_text());
        if tokens > allowed {
            return Err(Shortcoming::TooLong { tokens, allowed });
        }
        let (missing, allowed) = (self.missing(text), self.allowed_list());
        let mut room = allowed;
        // Whoever goes on has to know first what it waits for.
        let calls = self.open_calls.iter().map(|call| format!("- {} ({})\n", call.name, call.id));
        let calls = fitting(calls, &mut room, count);
        let identifiers = fitting(missing.iter().map(|one| format!("- {one}\n")), &mut room, count);
        Ok(Summary {
            text: text.into(),
            open_calls: self.open_calls.iter().take(calls).cloned().collect(),
            more_open_calls: (self.open_calls.len() - calls) as u64,
            more_identifiers: (missing.len() - identifiers) as u64,
            identifiers: missing.into_iter().take(identifiers).collect(),
            tokens_after: self.rest + tokens + allowed.minus(room),
        })
    }

    /// Whether a text is so short for all that was said, and has so little of it, that it can only be a reply or a
    /// refusal: no identifier, and hardly a word.
    fn is_reply(&self, text: &str, count: &dyn TokenCounter) -> bool {
        let (tokens, said) = (count.count(text), self.said().map(|spoken| spoken.message.tokens).sum::<Tokens>());
        if text.is_empty() || tokens >= SHORT_REPLY || tokens.0 * SHORTER_THAN_SAID > said.0 {
            return false;
        }
        let finder = Finder::new(&of_all([text]));
        let is_named = |said: &str| !finder.find(said).is_empty();
        let in_earlier = self
            .earlier
            .iter()
            .any(|earlier| is_named(&earlier.text) || earlier.compressed.identifiers.iter().any(|one| is_named(one)));
        let mut said = self.said();
        !in_earlier
            && self.telling_words(text).0 < TELLING_WORDS
            && !said.any(|spoken| is_named(&spoken.text) || spoken.texts().any(|text| is_named(&text)))
    }

    /// How many of the longer words of a text were said, and how many it has.
    fn telling_words(&self, text: &str) -> (usize, usize) {
        let own: HashSet<String> = telling(text).collect();
        let mut unsaid = own.clone();
        let earlier = self.earlier.iter().map(|earlier| &*earlier.text);
        for word in self.said().map(|spoken| &*spoken.text).chain(earlier).flat_map(telling) {
            unsaid.remove(&word);
        }
        (own.len() - unsaid.len(), own.len())
    }

    /// The newest of what people and models said, by which language and script are judged: results of tools may be in
    /// any.
    fn spoken(&self) -> impl Iterator<Item = &Spoken> {
        let is_spoken = |spoken: &&Spoken| matches!(spoken.message.role, Role::User | Role::Ai);
        self.said().rev().filter(is_spoken).take(JUDGED)
    }

    /// Whether what was said is in Latin letters without accents and the summary is mostly not, or the other way round.
    /// Where either has a sentence in the script of the other, nothing is wrong.
    fn is_in_other_script(&self, text: &str) -> bool {
        let said = Letters::of(self.spoken().flat_map(|spoken| spoken.text.chars()).take(JUDGED_CHARS));
        let own = Letters::of(text.chars());
        let (Some(of_said), Some(of_own)) = (said.share_of_ascii(), own.share_of_ascii()) else { return false };
        (of_said > 90 && of_own < 30 && said.others < SENTENCE_LETTERS)
            || (of_said < 30 && of_own > 90 && own.others < SENTENCE_LETTERS)
    }

    /// Whether a summary lacks the commonest short words of what was said, such as `the` and `of`: these are the same
    /// in whatever is said in a language. One in few words may do without them: its longer ones were said. Nothing is
    /// judged by few words, nor where they are mostly the same ones.
    fn is_in_other_words(&self, text: &str) -> bool {
        let (mut counts, mut chars): (HashMap<String, usize>, usize) = (HashMap::new(), 0);
        for spoken in self.spoken() {
            words(&spoken.text).for_each(|word| *counts.entry(word).or_default() += 1);
            chars += spoken.text.len();
            if chars > JUDGED_CHARS {
                break;
            }
        }
        let (said, own): (usize, Vec<String>) = (counts.values().sum(), words(text).collect());
        if counts.len() < FEW_DIFFERENT_WORDS || own.len() < FEW_WORDS {
            return false;
        }
        let is_short = |word: &str| word.chars().count() <= SHORT_WORD;
        let mut common: Vec<(&str, usize)> =
            counts.iter().map(|(word, count)| (word.as_str(), *count)).filter(|(word, _)| is_short(word)).collect();
        common.sort_unstable_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
        common.truncate(COMMON_WORDS);
        let of_said: usize = common.iter().map(|(_, count)| count).sum();
        let of_own = own.iter().filter(|word| common.iter().any(|(common, _)| common == word)).count();
        // A seventh of all words at the least, and in the summary a fifth of their share.
        let lacks_them = of_said * 7 >= said && of_own * 5 * said < of_said * own.len();
        let has_others = || {
            let (told, all) = self.telling_words(text);
            told * 2 >= all
        };
        lacks_them && !has_others()
    }

    /// What the list of identifiers may take: a tenth of the target, and no more than half of what there is.
    fn allowed_list(&self) -> Tokens {
        Tokens((self.target.0 / 10).min(self.allowed.0 / 2))
    }
}

/// How many letters a text has.
struct Letters {
    ascii: usize,
    others: usize,
}

impl Letters {
    fn of(chars: impl Iterator<Item = char>) -> Self {
        let (mut ascii, mut others) = (0, 0);
        for c in chars.filter(|c| c.is_alphabetic()) {
            *(if c.is_ascii() { &mut ascii } else { &mut others }) += 1;
        }
        Self { ascii, others }
    }

    /// How many of a hundred are ASCII; `None` where there are few.
    fn share_of_ascii(&self) -> Option<usize> {
        let letters = self.ascii + self.others;
        (letters >= FEW_LETTERS).then(|| self.ascii * 100 / letters)
    }
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// What of a text tells what it is about: the beginnings of its longer words. Chinese and Japanese do not part words:
/// there, it is each few characters.
fn telling(text: &str) -> impl Iterator<Item = String> {
    words(text).flat_map(|word| {
        let chars: Vec<char> = word.chars().collect();
        let is_unparted = chars.iter().any(|c| ('\u{2e80}'..='\u{9fff}').contains(c));
        let pieces: Vec<String> = match is_unparted {
            true => chars.windows(UNPARTED_CHARS).map(|piece| piece.iter().collect()).collect(),
            false => chars.get(..=SHORT_WORD).map(|begin| begin.iter().collect()).into_iter().collect(),
        };
        pieces
    })
}

/// What stands around a summary and what is listed after it.
fn frame(open_calls: &[OpenCall]) -> Tokens {
    if open_calls.is_empty() { SUMMARY_FRAME } else { SUMMARY_FRAME + OPEN_CALLS_FRAME }
}

/// How many of the lines fit in `room`, which they take.
fn fitting(lines: impl Iterator<Item = String>, room: &mut Tokens, count: &dyn TokenCounter) -> usize {
    let mut fits = |line: &String| {
        // A line each is the most that they take.
        let tokens = count.count(&escape(line));
        let fits = tokens <= *room;
        *room = if fits { room.minus(tokens) } else { *room };
        fits
    };
    lines.take_while(|line| fits(line)).count()
}

/// Where the task begins: the last message, which is to be answered, unless it calls tools or is a result. What the reader said
/// itself is history for it, but may be the task of others: then it stays, and its size counts, unless it is too large for that.
fn task(messages: &[Spoken], scope: &CompressionScope, target: Tokens) -> (usize, Tokens) {
    let is_task = |last: &&Spoken| last.message.role != Role::Tool && last.message.tool_calls.is_empty();
    let Some(last) = messages.last().filter(is_task) else { return (messages.len(), Tokens(0)) };
    let reader = scope.reader.as_ref();
    let is_own = last.message.said_by(reader).is_some_and(|agent| Some(agent) == reader);
    match is_own {
        false => (messages.len() - 1, Tokens(0)),
        true if scope.is_alone || last.size.0 > target.0 / 2 => (messages.len(), Tokens(0)),
        true => (messages.len() - 1, last.size),
    }
}

/// How much of a target the newest messages have: a quarter, and where that is little, up to three quarters.
fn recent_part(target: Tokens) -> Tokens {
    Tokens(target.0 / 4).max(Tokens(target.0 / 4 * 3).min(SMALL_RECENT))
}

/// What a message takes now: what an earlier summary covers and keeps is shortened.
fn shown_size(spoken: &Spoken, earlier: Option<&Earlier>) -> Tokens {
    let is_kept = |earlier: &&Earlier| earlier.head.kept.contains(&spoken.seq);
    let most = earlier.filter(is_kept).map_or(Tokens(u64::MAX), |earlier| earlier.head.kept_tokens);
    spoken.size.min(most)
}

/// What is kept of old messages.
struct Kept {
    /// Their entries.
    seqs: Vec<Seq>,
    /// The size of each group of them.
    sizes: Vec<Tokens>,
    /// How many of the groups, at the end of the list, are what was asked.
    asks: usize,
    /// The open calls for which there is no room.
    open_calls: Vec<OpenCall>,
}

impl Kept {
    /// What it takes in at most `room`.
    fn size(&self, room: Tokens) -> Tokens {
        self.sizes.iter().copied().sum::<Tokens>().min(room)
    }
}

/// Which call each result belongs to.
struct Groups {
    /// For each message, the message that calls what it is the result of.
    call_of: Vec<Option<usize>>,
    /// For each message that calls: its last result, where all calls have one.
    last_result: HashMap<usize, Option<usize>>,
}

impl Groups {
    fn of(messages: &[Spoken]) -> Self {
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut waiting: HashMap<usize, usize> = HashMap::new();
        let (mut call_of, mut last_result) = (vec![None; messages.len()], HashMap::new());
        for (at, spoken) in messages.iter().enumerate() {
            for call in &spoken.message.tool_calls {
                open.entry(call.id.as_str()).or_default().push(at);
                *waiting.entry(at).or_default() += 1;
                last_result.insert(at, None);
            }
            let id = spoken.message.tool_call_id.as_deref().unwrap_or_default();
            let Some(call) = open.get_mut(id).and_then(Vec::pop) else { continue };
            if let Some(place) = call_of.get_mut(at) {
                *place = Some(call);
            }
            let left = waiting.entry(call).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                last_result.insert(call, Some(at));
            }
        }
        Self { call_of, last_result }
    }

    /// How many of the messages are old: the others, up to the task, fit in `recent` tokens. A call that is complete is
    /// never parted from results that come right after it.
    fn cut(&self, messages: &[Spoken], task: usize, recent: Tokens) -> usize {
        let (mut cut, mut used) = (task, Tokens(0));
        for (at, spoken) in messages.iter().enumerate().take(task).rev() {
            used += spoken.size;
            if used > recent {
                break;
            }
            cut = at;
        }
        let is_parted = |cut: usize| self.call_of.get(cut).copied().flatten().is_some_and(|call| call < cut);
        while cut < task && is_parted(cut) {
            cut += 1;
        }
        cut
    }

    /// What is kept of the `cut` messages that are old: calls that still wait for results, or whose results are the last
    /// thing that was said or newer than the cut, with the results that they have; the newest question; and what was
    /// asked. What is pinned is kept anyway. Where there are more open calls than fit in `room`, the newest are kept.
    fn kept(&self, messages: &[Spoken], cut: usize, room: Tokens, pins: &BTreeMap<Seq, Tokens>) -> Kept {
        let is_open = |call: usize| match self.last_result.get(&call) {
            Some(Some(last)) => *last >= cut || last + 1 == messages.len(),
            Some(None) => true,
            None => false,
        };
        let calls_of = |at: &usize| messages.get(*at).map_or(0, |spoken| spoken.message.tool_calls.len() as u64);
        let size_of = |at: &usize| messages.get(*at).map_or(0, |spoken| spoken.size.0);
        let is_long = |at: &usize| size_of(at).min(calls_of(at) * LEAST_CALL.0) > room.0 / 2;
        let (long, mut groups): (Vec<usize>, Vec<usize>) = (0..cut).filter(|at| is_open(*at)).partition(is_long);
        let slots = usize::try_from(room.0 / LEAST_KEPT.0).unwrap_or(usize::MAX);
        // The question and what was asked first have a place, however many calls are open.
        let surplus = groups.len().saturating_sub(slots.saturating_sub(2).max(1));
        let mut others: Vec<usize> = groups.drain(..surplus).chain(long).collect();
        others.sort_unstable();
        let others = others.iter().rev().filter_map(|at| messages.get(*at));
        let others = others.filter(|spoken| !pins.contains_key(&spoken.seq));
        let short = |text: &str| -> Arc<str> { first_chars(text, LISTED_CHARS).into() };
        let open_calls = others.flat_map(|spoken| &spoken.message.tool_calls);
        let open_calls = open_calls.map(|call| OpenCall { id: short(&call.id), name: short(&call.name) }).collect();
        let before = groups.len();
        groups.extend(question(messages).filter(|at| *at < cut && !groups.contains(at)));
        let is_pinned = |at: usize| messages.get(at).is_some_and(|spoken| pins.contains_key(&spoken.seq));
        for at in asks(messages).filter(|at| *at < cut && !is_pinned(*at)).take(ASKS) {
            if groups.len() < slots && !groups.contains(&at) {
                groups.push(at);
            }
        }
        let group_of = |at: usize| {
            let first = self.call_of.get(at).copied().flatten().unwrap_or(at);
            groups.iter().position(|group| *group == first)
        };
        let sizes = vec![Tokens(0); groups.len()];
        let mut kept = Kept { seqs: Vec::new(), sizes, asks: groups.len() - before, open_calls };
        for (at, spoken) in messages.iter().enumerate().take(cut) {
            let Some(group) = group_of(at).filter(|_| !is_pinned(at)) else { continue };
            kept.seqs.push(spoken.seq);
            kept.sizes.get_mut(group).into_iter().for_each(|size| *size += spoken.size);
        }
        kept
    }
}

/// The most tokens that each may have, so that all together fit in `room`: what is small leaves its room to the others. `None`
/// where all fit as they are.
fn cap(sizes: impl Iterator<Item = Tokens>, room: Tokens) -> Option<Tokens> {
    let mut sizes: Vec<Tokens> = sizes.collect();
    sizes.sort_unstable();
    let mut left = room;
    for (at, size) in sizes.iter().enumerate() {
        let share = Tokens(left.0 / (sizes.len() - at) as u64);
        if *size > share {
            return Some(share);
        }
        left = left.minus(*size);
    }
    None
}

/// What the thread was told to do, most important first: the first thing, then the newest ones, those of a few words last,
/// since most of these only assent. It is what the user says; where the user says nothing, what the first speaker does.
fn asks(messages: &[Spoken]) -> impl Iterator<Item = usize> {
    let author = |spoken: &Spoken| (spoken.message.role, spoken.message.agent.clone());
    let first = messages.iter().find(|spoken| !matches!(spoken.message.role, Role::System | Role::Tool)).map(author);
    let is_user = |spoken: &Spoken| spoken.message.role == Role::User;
    let of_user = messages.iter().any(is_user);
    let is_ask = |spoken: &Spoken| if of_user { is_user(spoken) } else { Some(author(spoken)) == first };
    let mut asks: Vec<(usize, bool)> = messages
        .iter()
        .enumerate()
        .filter(|(_, spoken)| is_ask(spoken))
        .map(|(at, spoken)| (at, spoken.message.tokens < A_FEW_WORDS))
        .collect();
    let first = (!asks.is_empty()).then(|| asks.remove(0));
    asks.sort_by_key(|(at, is_short)| (*is_short, std::cmp::Reverse(*at)));
    first.into_iter().chain(asks).map(|(at, _)| at)
}

/// What an agent that spoke last is to answer: the newest message that is not its own, nor a result.
fn question(messages: &[Spoken]) -> Option<usize> {
    let author = |spoken: &Spoken| (spoken.message.said_by(None).cloned(), spoken.message.role == Role::Ai);
    let is_said = |spoken: &&Spoken| spoken.message.role != Role::Tool;
    let last = messages.iter().rev().find(is_said).map(author).filter(|(agent, is_ai)| agent.is_some() || *is_ai)?;
    messages.iter().rposition(|spoken| is_said(&spoken) && author(spoken) != last)
}

/// The identifiers that the messages in `naming` or the plan name and those in `old` hold, in the order of the former.
fn needed<'a>(
    naming: impl Iterator<Item = &'a Spoken>,
    plan: Option<String>,
    old: impl Iterator<Item = &'a Spoken>,
    earlier: Option<&Earlier>,
) -> Vec<Arc<str>> {
    let texts: Vec<String> =
        naming.flat_map(|spoken| std::iter::once(spoken.text.to_string()).chain(spoken.texts())).chain(plan).collect();
    let named = of_all(texts.iter().map(String::as_str));
    let finder = Finder::new(&named);
    let mut held = BTreeSet::new();
    let mut look = |text: &str| held.extend(finder.held_in(text));
    for spoken in old {
        look(&spoken.text);
        spoken.texts().for_each(|text| look(&text));
    }
    if let Some(earlier) = earlier {
        look(&earlier.text);
        earlier.compressed.identifiers.iter().for_each(|one| look(one));
    }
    let named = named.into_iter().enumerate().filter(|(which, _)| held.contains(which));
    named.map(|(_, one)| one.into()).collect()
}

#[cfg(test)]
mod tests;
