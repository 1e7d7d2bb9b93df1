//! Filling a budget: who gets how much, what of the history there is room for, and what is shortened.

use std::sync::Arc;

use super::{
    Body, Format, Lacking, PartReport, Request, openai,
    profile::Elastic,
    sets::Sets,
    speech::{Kind, Speech},
    team::Fixed,
    text,
};
use crate::{
    agent::Agent,
    count::{TokenCounter, Tokens},
    error::Error,
    id::{Seq, ThreadId},
    tail::{Source, Tail},
    text::Values,
    view::View,
};

/// A prompt that fits.
pub(super) struct Filled {
    pub(super) parts: Vec<PartReport>,
    pub(super) body: Body,
    pub(super) tokens: Tokens,
    pub(super) shows: Vec<(Seq, Seq)>,
}

const HISTORY: (&str, &str) = ("<CONVERSATION_HISTORY>\n", "</CONVERSATION_HISTORY>\n");
const TASK: (&str, &str) = ("<CURRENT_TASK>\n", "</CURRENT_TASK>\n");

/// Fills the budget of `request`. What must be in the prompt comes first; what is left is shared by priority.
pub(super) fn fill(
    view: &View<'_>,
    agent: &Agent,
    request: &Request<'_>,
    fixed: Vec<Fixed>,
    tail: &Tail,
    values: &Values,
    count: &dyn TokenCounter,
) -> Result<Filled, Lacking> {
    let writer = Writer { agent, format: request.format, count };
    let sets = Sets::gather(view, values, count).map_err(Lacking::Values)?;
    let told = Told::read(view, agent, request, tail, values)?;
    let mut task = writer.task(&told, request);
    let (history_open, task_open) = (writer.frame(HISTORY), writer.frame(TASK));
    let whole_task = task.as_ref().map_or(Tokens(0), |task| task_open + writer.groups(task).1);

    let mut parts: Vec<_> = fixed.iter().map(|part| report(part.name, count.count(&part.text))).collect();
    if request.format == Format::OpenAi {
        parts.push(report("format", writer.envelope()));
        parts.extend(
            Some(openai::tools(&agent.tools, count)).filter(|size| size.0 > 0).map(|size| report("tools", size)),
        );
    }
    let always: Tokens = parts.iter().map(|part| part.tokens).sum();
    let allowed = |part| request.profile.allowed(part, request.budget);
    let least_task = whole_task.min(allowed(Elastic::Task).min);
    let least_sets = sets.least().max(sets.whole().min(allowed(Elastic::ContextSets).min)).min(sets.whole());
    let least_history = allowed(Elastic::History).min;
    let sizes = parts.clone();
    let exceeded = |task: Tokens, history: Tokens| {
        let mut parts: Vec<_> = sizes.iter().map(|part| (part.name.clone(), part.tokens)).collect();
        parts.extend([
            ("context_sets".to_owned(), least_sets),
            ("history".to_owned(), history),
            ("task".to_owned(), task),
        ]);
        parts.retain(|(_, tokens)| tokens.0 > 0);
        let needed = parts.iter().map(|(_, tokens)| *tokens).sum();
        Lacking::Refused(Error::BudgetExceeded { budget: request.budget, needed, parts })
    };
    let needed = always + least_task + least_sets;
    if needed > request.budget {
        return Err(exceeded(least_task, Tokens(0)));
    }

    let mut rest = request.budget.minus(needed);
    let mut order = [Elastic::Task, Elastic::ContextSets, Elastic::History];
    order.sort_by_key(|part| std::cmp::Reverse(allowed(*part).priority));
    let reserved = least_history.min(rest);
    rest = rest.minus(reserved);
    let (mut grant_task, mut grant_sets) = (least_task, least_sets);
    let mut history = None;
    for part in order {
        let max = allowed(part).max;
        let grant = |least: Tokens, whole: Tokens| whole.min(max.max(least)).min(least + rest);
        let (before, after) = match part {
            Elastic::Task => (grant_task, grant(grant_task, whole_task)),
            Elastic::ContextSets => (grant_sets, grant(grant_sets, sets.whole())),
            Elastic::History => {
                let filled =
                    writer.history(view, request.thread, &told, tail, max.min(reserved + rest).minus(history_open))?;
                let used = if filled.groups.is_empty() { Tokens(0) } else { filled.tokens + history_open };
                history = Some(filled);
                (Tokens(0), used.minus(reserved))
            }
        };
        rest = rest.minus(after.minus(before));
        match part {
            Elastic::Task => grant_task = after,
            Elastic::ContextSets => grant_sets = after,
            Elastic::History => {}
        }
    }
    let history = history.unwrap_or_default();
    let shortened_task = task
        .as_mut()
        .is_some_and(|task| grant_task < whole_task && writer.shorten_task(task, grant_task.minus(task_open)));
    let rendered_sets = sets.render(grant_sets);

    let mut body = Assembly::new(request.format);
    for part in &fixed {
        body.system(&part.text);
    }
    let size = body.pieces(&rendered_sets.pieces);
    if size.0 > 0 {
        let omitted = rendered_sets.shortened;
        parts.push(PartReport {
            name: "context_sets".to_owned(),
            tokens: size,
            shortened: !omitted.is_empty(),
            omitted,
        });
    }
    let left_out = history.left_out.map(|before| format!("what was said before entry {before}"));
    let size = body.section(&writer, HISTORY, &history.groups, history.left_out);
    if size.0 > 0 {
        let omitted: Vec<_> = left_out.into_iter().collect();
        parts.push(PartReport { name: "history".to_owned(), tokens: size, shortened: !omitted.is_empty(), omitted });
    }
    let empty = Vec::new();
    let size = body.section(&writer, TASK, task.as_ref().unwrap_or(&empty), None);
    if size.0 > 0 {
        parts.push(PartReport { shortened: shortened_task, ..report("task", size) });
    }
    let tokens: Tokens = parts.iter().map(|part| part.tokens).sum();
    if tokens > request.budget {
        return Err(exceeded(size, tokens.minus(always + size + least_sets)));
    }
    let said = history.groups.iter().chain(task.iter().flatten()).flatten().map(|speech| speech.seq);
    let shows = ranges(said.chain(rendered_sets.shows).filter(|seq| seq.0 > 0).collect());
    Ok(Filled { parts, body: body.finish(), tokens, shows })
}

fn report(name: &str, tokens: Tokens) -> PartReport {
    PartReport { name: name.to_owned(), tokens, shortened: false, omitted: Vec::new() }
}

/// Numbers as ranges with both ends.
fn ranges(mut seqs: Vec<Seq>) -> Vec<(Seq, Seq)> {
    seqs.sort_unstable();
    let mut ranges: Vec<(Seq, Seq)> = Vec::new();
    for seq in seqs {
        match ranges.last_mut() {
            Some((_, end)) if seq <= end.next() => *end = seq.max(*end),
            _ => ranges.push((seq, seq)),
        }
    }
    ranges
}

/// What is said together: a call with its results, or one thing alone.
type Group = Vec<Speech>;

/// What was said, in groups, and where the task begins.
struct Told {
    groups: Vec<Group>,
    /// The group with which the task begins; behind the last one where there is none.
    task: usize,
}

impl Told {
    /// Reads the tail with the reader's eyes. The task is what the reader has not answered: all from the last message
    /// that is somebody else's.
    fn read(
        view: &View<'_>,
        agent: &Agent,
        request: &Request<'_>,
        tail: &Tail,
        values: &Values,
    ) -> Result<Self, Lacking> {
        let mut lacking = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for item in tail.items.iter().filter(|item| item.is_seen(view)) {
            let speech = match Speech::of(item, &agent.name, request.thread, values) {
                Ok(Some(speech)) => speech,
                Ok(None) => continue,
                Err(hash) => {
                    lacking.push(hash);
                    continue;
                }
            };
            let calls = |group: &Group| {
                group
                    .first()
                    .is_some_and(|first| first.calls().iter().any(|call| speech.result_of() == Some(call.id.as_str())))
            };
            match groups.last_mut() {
                Some(group) if calls(group) => group.push(speech),
                _ => groups.push(vec![speech]),
            }
        }
        if !lacking.is_empty() {
            return Err(Lacking::Values(lacking));
        }
        let foreign =
            |group: &Group| group.first().is_some_and(|first| !first.mine && matches!(first.kind, Kind::Said { .. }));
        let task = match groups.iter().rposition(foreign) {
            Some(at) => at,
            None if tail.complete => groups.len(),
            None => return Err(Lacking::Older),
        };
        // A given task comes after all that was said.
        let task = if request.task.is_some() { groups.len() } else { task };
        Ok(Self { groups, task })
    }
}

/// The history that there is room for.
#[derive(Default)]
struct History {
    groups: Vec<Group>,
    tokens: Tokens,
    /// The entry before which everything is left out.
    left_out: Option<Seq>,
}

/// Writes what was said in one format, and counts it.
struct Writer<'a> {
    agent: &'a Agent,
    format: Format,
    count: &'a dyn TokenCounter,
}

impl Writer<'_> {
    fn frame(&self, (open, close): (&str, &str)) -> Tokens {
        match self.format {
            Format::Text => self.count.count(open) + self.count.count(close),
            Format::OpenAi => Tokens(0),
        }
    }

    /// What the messages around the content cost: that of the system, and the start of the answer.
    fn envelope(&self) -> Tokens {
        openai::tokens(&openai::message("system", ""), self.count) + openai::ANSWER
    }

    fn group(&self, group: &Group) -> (Written, Tokens) {
        match self.format {
            Format::Text => {
                let pieces: Vec<_> = group.iter().map(|speech| text::piece(speech, self.agent)).collect();
                let tokens = pieces.iter().map(|piece| self.count.count(piece)).sum();
                (Written::Text(pieces.concat()), tokens)
            }
            Format::OpenAi => {
                let messages = openai::messages(group, self.agent);
                let tokens = messages.iter().map(|message| openai::tokens(message, self.count)).sum();
                (Written::Messages(messages), tokens)
            }
        }
    }

    fn groups(&self, groups: &[Group]) -> (Vec<Written>, Tokens) {
        let (written, tokens): (Vec<_>, Vec<_>) = groups.iter().map(|group| self.group(group)).unzip();
        (written, tokens.into_iter().sum())
    }

    fn left_out(&self, before: Seq) -> (Written, Tokens) {
        match self.format {
            Format::Text => {
                let piece = text::left_out(before);
                let tokens = self.count.count(&piece);
                (Written::Text(piece), tokens)
            }
            Format::OpenAi => {
                let message = openai::message("user", &text::left_out_words(before));
                let tokens = openai::tokens(&message, self.count);
                (Written::Messages(vec![message]), tokens)
            }
        }
    }

    /// The task: what was given, or what the reader has not answered.
    fn task(&self, told: &Told, request: &Request<'_>) -> Option<Vec<Group>> {
        let given = |text: &str| Speech {
            seq: Seq::ZERO,
            size: Tokens(0),
            mine: false,
            kind: Kind::Said {
                from: super::speech::From::System,
                to: None,
                text: text.into(),
                calls: Vec::new(),
                expected: None,
                place: "task".to_owned(),
            },
        };
        match request.task {
            Some(text) => {
                let mut speech = given(text);
                if self.format == Format::OpenAi
                    && let Kind::Said { from, .. } = &mut speech.kind
                {
                    // Chat templates want the last word to be the user's.
                    *from = super::speech::From::User;
                }
                Some(vec![vec![speech]])
            }
            None => told.groups.get(told.task..).filter(|task| !task.is_empty()).map(<[Group]>::to_vec),
        }
    }

    /// The newest history that fits in `allowed`. Where not all of it does, the cut moves in steps of up to a quarter of
    /// that, so that it stays where it is for a while and a provider's prompt cache keeps its prefix.
    fn history(
        &self,
        view: &View<'_>,
        thread: &ThreadId,
        told: &Told,
        tail: &Tail,
        allowed: Tokens,
    ) -> Result<History, Lacking> {
        let older = told.groups.get(..told.task).unwrap_or_default();
        let sizes: Vec<_> = older.iter().rev().map(|group| self.group(group).1).collect();
        let mut used = Tokens(0);
        let fitting = sizes.iter().take_while(|size| {
            used += **size;
            used <= allowed
        });
        let fitting = fitting.count();
        if fitting == older.len() && tail.complete {
            let tokens = sizes.iter().copied().sum();
            return Ok(History { groups: older.to_vec(), tokens, left_out: None });
        }
        if fitting == older.len() {
            return Err(Lacking::Older);
        }
        let note = |cut: usize| {
            let first = told.groups.get(cut).and_then(|group| group.first());
            let before = first.map_or(view.state.head.seq.next(), |speech| speech.seq);
            (before, self.left_out(before).1)
        };
        let mut cut = self.stable_cut(view, thread, told, older.len() - fitting, allowed);
        loop {
            let (before, note) = note(cut);
            let tokens = sizes.iter().take(older.len() - cut).copied().sum::<Tokens>() + note;
            if tokens <= allowed {
                let groups = older.get(cut..).unwrap_or_default().to_vec();
                return Ok(History { groups, tokens, left_out: Some(before) });
            }
            if cut == older.len() {
                return Ok(History::default());
            }
            cut += 1;
        }
    }

    /// The first group at or behind `least` that begins a new step, counted by the sizes that the entries have.
    fn stable_cut(&self, view: &View<'_>, thread: &ThreadId, told: &Told, least: usize, allowed: Tokens) -> usize {
        let step = (allowed.0 / 4).max(1);
        let step = i128::from(1_u64 << step.ilog2());
        let threads = Source::of(view, thread).threads;
        let sizes = threads.iter().filter_map(|name| view.thread(name).ok()).map(|thread| view.size(thread).tokens);
        let all = i128::from(sizes.sum::<Tokens>().0);
        let mut offset = all;
        let mut starts: Vec<_> = told
            .groups
            .iter()
            .rev()
            .map(|group| {
                offset -= group.iter().map(|speech| i128::from(speech.size.0)).sum::<i128>();
                offset
            })
            .collect();
        starts.reverse();
        let start = |at: usize| starts.get(at).copied().unwrap_or(all);
        let boundary = (start(least) + step - 1).div_euclid(step) * step;
        (least..told.task).find(|at| start(*at) >= boundary).unwrap_or(least)
    }

    /// Shortens the longest texts of the task until it fits in `allowed`; says whether it did.
    fn shorten_task(&self, task: &mut [Group], allowed: Tokens) -> bool {
        let sizes: Vec<_> = task.iter().map(|group| self.group(group).1).collect();
        let level = water_level(&sizes.iter().map(|size| (Tokens(0), *size)).collect::<Vec<_>>(), allowed);
        for (group, size) in task.iter_mut().zip(sizes) {
            if size > level {
                self.shorten_group(group, level);
            }
        }
        true
    }

    fn shorten_group(&self, group: &mut Group, allowed: Tokens) {
        for at in (0..group.len()).rev() {
            if self.group(group).1 <= allowed {
                return;
            }
            let mut probe = group.clone();
            let Some((text, note)) = group.get_mut(at).and_then(Speech::long_text).map(|(text, place)| {
                let tokens = self.count.count(text);
                (text.clone(), format!("[shortened here: it has {tokens} tokens; fetch {place}]"))
            }) else {
                continue;
            };
            let render = |candidate: &str| {
                if let Some((text, _)) = probe.get_mut(at).and_then(Speech::long_text) {
                    *text = candidate.into();
                }
                self.group(&probe).1
            };
            let short = shorten_by(&text, &note, allowed, render);
            if let Some((text, _)) = group.get_mut(at).and_then(Speech::long_text) {
                *text = short.unwrap_or(note).into();
            }
        }
    }
}

/// What was written of a group.
enum Written {
    Text(String),
    Messages(Vec<serde_json::Value>),
}

/// A prompt in the making.
struct Assembly {
    format: Format,
    text: String,
    messages: Vec<serde_json::Value>,
}

impl Assembly {
    fn new(format: Format) -> Self {
        Self { format, text: String::new(), messages: Vec::new() }
    }

    fn system(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn pieces(&mut self, pieces: &[(String, Tokens)]) -> Tokens {
        pieces.iter().for_each(|(text, _)| self.text.push_str(text));
        pieces.iter().map(|(_, tokens)| *tokens).sum()
    }

    fn section(&mut self, writer: &Writer<'_>, frame: (&str, &str), groups: &[Group], left_out: Option<Seq>) -> Tokens {
        let mut written: Vec<_> = left_out.map(|before| writer.left_out(before)).into_iter().collect();
        written.extend(groups.iter().map(|group| writer.group(group)));
        if written.is_empty() {
            return Tokens(0);
        }
        if self.format == Format::Text {
            self.text.push_str(frame.0);
        }
        let mut tokens = writer.frame(frame);
        for (written, size) in written {
            tokens += size;
            match written {
                Written::Text(text) => self.text.push_str(&text),
                Written::Messages(messages) => self.messages.extend(messages),
            }
        }
        if self.format == Format::Text {
            self.text.push_str(frame.1);
        }
        tokens
    }

    fn finish(self) -> Body {
        match self.format {
            Format::Text => Body::Text(self.text),
            Format::OpenAi => {
                let system = openai::message("system", &self.text);
                Body::Messages(std::iter::once(system).chain(self.messages).collect())
            }
        }
    }
}

/// The size down to which things of given (least, whole) sizes are shortened, so that together they fit in `allowed`:
/// small ones stay whole, and large ones get the same.
pub(super) fn water_level(sizes: &[(Tokens, Tokens)], allowed: Tokens) -> Tokens {
    let total = |level: Tokens| sizes.iter().map(|(least, whole)| (*whole).min(level.max(*least))).sum::<Tokens>();
    let largest = sizes.iter().map(|(_, whole)| *whole).max().unwrap_or_default();
    if total(largest) <= allowed {
        return largest;
    }
    let (mut low, mut high) = (0_u64, largest.0);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if total(Tokens(middle)) <= allowed { low = middle } else { high = middle }
    }
    Tokens(low)
}

/// `text` with its middle replaced by `note`, so that what `render` makes of it has at most `allowed` tokens; `None`
/// where not even the note does.
pub(super) fn shorten(
    text: &Arc<str>,
    note: &str,
    allowed: Tokens,
    count: &dyn TokenCounter,
    render: impl Fn(&str) -> String,
) -> Option<(String, Tokens)> {
    let short = shorten_by(text, note, allowed, |candidate| count.count(&render(candidate)))?;
    let rendered = render(&short);
    let tokens = count.count(&rendered);
    Some((rendered, tokens))
}

/// Keeps three quarters of what there is room for from the beginning of `text`, and one from its end.
fn shorten_by(text: &str, note: &str, allowed: Tokens, mut size: impl FnMut(&str) -> Tokens) -> Option<String> {
    let candidate = |bytes: usize| {
        let head = text.get(..floor(text, bytes / 4 * 3)).unwrap_or_default();
        let tail = text.get(floor(text, text.len() - bytes / 4)..).unwrap_or_default();
        if bytes == 0 { note.to_owned() } else { format!("{}\n{note}\n{}", head.trim_end(), tail.trim_start()) }
    };
    if size(note) > allowed {
        return None;
    }
    let (mut low, mut high) = (0_usize, text.len());
    // A count does not quite grow with the length of a text, but what is taken was counted itself.
    for _ in 0..12 {
        let middle = low.midpoint(high);
        if size(&candidate(middle)) <= allowed { low = middle } else { high = middle }
    }
    Some(candidate(low))
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
