//! Filling a budget: what must be in a prompt comes first, what is left is shared, and all of it is put together.

use super::{
    Body, Format, Lacking, PartReport, Request,
    assemble::Assembly,
    history::{Excerpt, History},
    history_cache::HistoryCache,
    pieces::Pieces,
    profile::Elastic,
    sets::Sets,
    share::{Claim, Claims},
    steps,
    task::Task,
    team::Fixed,
    written::{Frame, Writer, Written},
};
use crate::{
    agent::{Agent, Tool},
    count::{TokenCounter, Tokens},
    error::Error,
    id::Seq,
    step::offer,
    text::Values,
    view::View,
};

/// A prompt that fits.
pub(super) struct Filled {
    pub(super) parts: Vec<PartReport>,
    pub(super) body: Body,
    /// The tools that are offered with it.
    pub(super) tools: Vec<Tool>,
    pub(super) pieces: Pieces,
    pub(super) tokens: Tokens,
    pub(super) shows: Vec<(Seq, Seq)>,
}

const HISTORY: Frame = ("<CONVERSATION_HISTORY>\n", "</CONVERSATION_HISTORY>\n");
const TASK: Frame = ("<CURRENT_TASK>\n", "</CURRENT_TASK>\n");

/// Fills the budget of `request` from what the agent was told.
pub(super) fn fill(
    view: &View<'_>,
    agent: &Agent,
    request: &Request<'_>,
    fixed: &[Fixed],
    history: &mut HistoryCache,
    values: &Values,
    count: &dyn TokenCounter,
) -> Result<Filled, Lacking> {
    let offered: Vec<_> = offer::open(view.state, &agent.tools).cloned().collect();
    let writer = Writer { agent, offered: &offered, format: request.format, count };
    let sets = Sets::gather(view, values, count).map_err(Lacking::Values)?;
    let task = history.task(request)?;
    history.write_task(&writer, task);
    let what_to_do = history.pieces().get(task..).unwrap_or_default().to_vec();
    let parts = Parts {
        always: always(&writer, fixed),
        sets,
        steps: steps::active(view).map(|step| writer.section(&step)),
        history: History::new(view, request.thread, history, task, writer),
        task: Task::new(what_to_do, request.task, writer),
        writer,
    };
    let filled = parts.fill(request, fixed)?;
    Ok(Filled { tools: offered, ..filled })
}

/// The parts that are there in full in every prompt.
fn always(writer: &Writer<'_>, fixed: &[Fixed]) -> Vec<PartReport> {
    let mut parts: Vec<_> = fixed.iter().map(|part| report(part.name, writer.count.count(&part.text))).collect();
    parts.push(report("format", writer.envelope()));
    parts.push(report("tools", writer.tools()));
    parts.retain(|part| part.tokens.0 > 0);
    parts
}

/// Everything that a prompt is made of.
struct Parts<'a> {
    always: Vec<PartReport>,
    sets: Sets<'a>,
    /// Where the team is among its steps, where it has some. It is there in full in every prompt.
    steps: Option<Written>,
    history: History<'a>,
    task: Task<'a>,
    writer: Writer<'a>,
}

impl Parts<'_> {
    fn fill(mut self, request: &Request<'_>, fixed: &[Fixed]) -> Result<Filled, Lacking> {
        let claims = self.claims(request)?;
        let steps = self.steps.as_ref().map_or(Tokens(0), |steps| steps.tokens);
        let always = self.always.iter().map(|part| part.tokens).sum::<Tokens>() + steps;
        if always + claims.least() > request.budget {
            return Err(self.exceeded(request, &claims));
        }
        let (history_frame, task_frame) = (self.writer.frame(HISTORY), self.writer.frame(TASK));
        let mut history = Excerpt::default();
        let excerpt = |limit: Tokens| {
            history = self.history.fit(limit.minus(history_frame))?;
            Ok::<_, Lacking>(if history.tokens.0 > 0 { history.tokens + history_frame } else { Tokens(0) })
        };
        let available = request.budget.minus(always);
        let grants = claims.grant((request.profile, request.budget), available, excerpt)?;
        self.task.fit(grants.task.minus(task_frame));
        let sets = self.sets.render(grants.sets);

        let mut body = Assembly::new(request.format);
        let mut parts = self.always.clone();
        if request.format != Format::Text && !self.writer.offered.is_empty() {
            let tokens = parts.iter().filter(|part| part.name == "tools").map(|part| part.tokens).sum();
            body.beside(&serde_json::to_string(self.writer.offered).unwrap_or_default(), tokens);
        }
        fixed.iter().zip(&parts).for_each(|(fixed, part)| body.text(&fixed.text, part.tokens));
        body.mark();
        sets.pieces.iter().for_each(|(piece, tokens)| body.text(piece, *tokens));
        body.mark();
        let tokens = sets.pieces.iter().map(|(_, tokens)| *tokens).sum();
        parts.push(PartReport {
            shortened: !sets.shortened.is_empty(),
            omitted: sets.shortened,
            ..report("context_sets", tokens)
        });
        let tokens = body.section(HISTORY, history_frame, &self.history.shown(&history));
        let omitted = self.history.omitted(&history);
        parts.push(PartReport { shortened: !omitted.is_empty(), omitted, ..report("history", tokens) });
        body.mark();
        self.steps.iter().for_each(|steps| body.add(steps));
        parts.push(report("steps", steps));
        let shown: Vec<_> = self.task.shown().iter().filter_map(|piece| piece.written().cloned()).collect();
        let tokens = body.section(TASK, task_frame, &shown);
        // A task that is given stands in no thread, one that is shortened comes out otherwise the next time, and what
        // stands before it of the steps changes with each tool.
        if request.task.is_none() && !self.task.shortened && self.steps.is_none() {
            body.mark();
        }
        parts.push(PartReport { shortened: self.task.shortened, ..report("task", tokens) });

        parts.retain(|part| part.tokens.0 > 0);
        let tokens = parts.iter().map(|part| part.tokens).sum();
        if tokens > request.budget {
            // The task has more pieces than can be shortened to what it got.
            return Err(exceeded(request.budget, parts.into_iter().map(|part| (part.name, part.tokens))));
        }
        let of_task = self.task.shown().iter().flat_map(|piece| piece.group.iter().map(|utterance| utterance.seq));
        let shown = self.history.shows(&history).into_iter().chain(of_task).chain(sets.shows);
        let shows = ranges(shown.filter(|seq| *seq > Seq::ZERO).collect());
        let (body, pieces) = body.finish();
        Ok(Filled { parts, body, tools: Vec::new(), pieces, tokens, shows })
    }

    fn claims(&mut self, request: &Request<'_>) -> Result<Claims, Lacking> {
        let allowed = |part| request.profile.allowed(part, request.budget);
        let framed =
            |tokens: Tokens, frame: Frame| if tokens.0 > 0 { tokens + self.writer.frame(frame) } else { tokens };
        let task = framed(self.task.size(), TASK);
        let whole = self.sets.whole();
        let least = self.sets.least().max(whole.min(allowed(Elastic::ContextSets).min)).min(whole);
        let history = self.history.least(allowed(Elastic::History).min.minus(self.writer.frame(HISTORY)))?;
        Ok(Claims {
            sets: Claim { least, whole },
            history: framed(history, HISTORY),
            task: Claim { least: task.min(allowed(Elastic::Task).min), whole: task },
        })
    }

    /// Says what each part needs at the least.
    fn exceeded(&self, request: &Request<'_>, claims: &Claims) -> Lacking {
        let Claims { sets, history, task } = claims;
        let elastic = [(Elastic::ContextSets, sets.least), (Elastic::History, *history), (Elastic::Task, task.least)];
        let elastic = elastic.map(|(part, least)| (part.name().to_owned(), least));
        let always = self.always.iter().map(|part| (part.name.clone(), part.tokens));
        let steps = self.steps.iter().map(|steps| ("steps".to_owned(), steps.tokens));
        exceeded(request.budget, always.chain(steps).chain(elastic))
    }
}

fn exceeded(budget: Tokens, parts: impl Iterator<Item = (String, Tokens)>) -> Lacking {
    let parts: Vec<_> = parts.filter(|(_, tokens)| tokens.0 > 0).collect();
    let needed = parts.iter().map(|(_, tokens)| *tokens).sum();
    Lacking::Refused(Error::BudgetExceeded { budget, needed, parts })
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
