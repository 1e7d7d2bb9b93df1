//! Filling a budget: what must be in a prompt comes first, what is left is shared, and all of it is put together.

use std::collections::BTreeSet;

use callboard_core::{
    count::{BYTES, Factor, Tokens},
    error::Error,
    id::Seq,
    prompt::{Allowed, PartName},
};

use crate::{
    Lacking, PartReport, ResolvedSpec,
    assemble::{Assembled, Assembly},
    part::{Changes, Content, Part, PartOutcome, Source},
    parts,
    placed::AROUND,
};

/// A prompt that fits.
pub(super) struct Filled {
    pub(super) made: Assembled,
    pub(super) parts: Vec<PartReport>,
    pub(super) tokens: Tokens,
    pub(super) shows: Vec<(Seq, Seq)>,
    pub(super) subjects: BTreeSet<String>,
}

/// A part that has something to say.
struct Claim<'a> {
    part: Part<'a>,
    content: Box<dyn Content + 'a>,
    /// How it shares the budget; none where it is always there in full.
    allowed: Option<Allowed>,
    /// What it cannot do without.
    least: Tokens,
}

/// Fills the budget of a prompt.
pub(super) fn fill(from: &mut Source<'_>) -> Result<Filled, Lacking> {
    let (spec, profile) = (from.spec, from.spec.profile(from.view.state));
    let mut claims = Vec::new();
    for part in in_order(parts::of(&spec.layout), profile.changing_parts_last) {
        let content = match part.gather(from) {
            Err(Lacking::Refused(error)) if stands_alone(&part) => from.failed(part.heading, &error.to_string()),
            gathered => gathered?,
        };
        from.is_behind_history |= part.changes == Changes::Grows;
        let Some(mut content) = content else { continue };
        let allowed = part.shares.map(|(name, shares)| {
            profile.allowed(name, shares, spec.room(), spec.factor()).at_most(most_of(name, from))
        });
        let least = content.least(allowed.map_or(Tokens(0), |allowed| allowed.min))?;
        claims.push(Claim { part, content, allowed, least });
    }
    grant(spec, &mut claims)?;
    put_together(from, &claims)
}

/// The most that a part may have in this thread, where the thread says so.
fn most_of(part: PartName, from: &Source<'_>) -> Option<Tokens> {
    let is_history = [PartName::HISTORY, PartName::CONVERSATION_HISTORY].contains(&part);
    let most = from.view.state.threads.settings(&from.spec.thread)?.history_tokens.filter(|_| is_history)?;
    Some(from.spec.factor().fitting(most))
}

/// The parts in the order in which they are shown. Where what changes stands last, a provider's cache keeps what was said.
fn in_order(parts: Vec<Part<'_>>, changing_last: bool) -> Vec<Part<'_>> {
    let changes = |part: &Part<'_>| matches!(part.changes, Changes::Sometimes | Changes::Always);
    let is_last = |part: &Part<'_>| changing_last && changes(part) && stands_alone(part);
    let (last, first): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_last);
    first.into_iter().chain(last).collect()
}

/// Whether a part can stand anywhere, and a prompt can do without it: one under a heading, and one that shares no budget.
fn stands_alone(part: &Part<'_>) -> bool {
    !part.heading.is_empty() || part.shares.is_none()
}

/// Gives every part its least, and then, in the order of their priorities, what they have use for and may have of what
/// is left.
fn grant(spec: &ResolvedSpec, claims: &mut [Claim<'_>]) -> Result<(), Lacking> {
    let budget = spec.room();
    let least: Tokens = claims.iter().map(|claim| claim.least).sum();
    if least > budget {
        let (elastic, always): (Vec<_>, Vec<_>) = claims.iter().partition(|claim| claim.allowed.is_some());
        let named = |claim: &Claim<'_>| (claim.part.name.to_owned(), claim.least);
        return Err(exceeded(spec, always.into_iter().chain(elastic).map(named)));
    }
    let mut rest = budget.minus(least);
    let mut elastic: Vec<_> = claims.iter_mut().filter_map(|claim| Some((claim.allowed?, claim))).collect();
    elastic.sort_by_key(|(allowed, _)| std::cmp::Reverse((allowed.priority, allowed.default_priority)));
    for (allowed, claim) in elastic {
        let limit = claim.least.max(allowed.max.min(claim.least + rest));
        let taken = claim.content.settle(limit)?;
        rest = rest.minus(taken.minus(claim.least));
    }
    Ok(())
}

/// Renders the parts in their order, and marks up to where the next prompt may well begin with the same.
fn put_together(from: &Source<'_>, claims: &[Claim<'_>]) -> Result<Filled, Lacking> {
    let spec = from.spec;
    let mut body = Assembly::new(from.renderer);
    let (mut parts, mut shows, mut is_kept) = (Vec::new(), Vec::new(), true);
    for (at, claim) in claims.iter().enumerate() {
        let changes = claim.part.changes;
        body.begin(claim.part.name);
        let outcome = claim.content.render(&mut body);
        is_kept &= outcome.tokens == Tokens(0) || !(outcome.passes || changes == Changes::Always);
        report(&mut parts, &mut shows, &claim.part, outcome);
        let is_next_alike = claims.get(at + 1).is_some_and(|next| next.part.changes == changes);
        if is_kept && (!is_next_alike || changes == Changes::Grows) {
            body.mark();
        }
    }
    for claim in claims {
        body.begin(claim.part.name);
        report(&mut parts, &mut shows, &claim.part, claim.content.render_last(&mut body));
    }
    let mut made = body.finish();
    let (allowed, cost) = (from.renderer.envelope(), from.renderer.envelope_of(made.around));
    // It stands before any text of the session's own that has its name.
    let of_part = parts.iter_mut().find(|part| part.name == AROUND).map(|part| &mut part.tokens);
    let of_piece = made.placed.iter_mut().find(|piece| *piece.part == *AROUND && piece.tokens > Tokens(0));
    of_part
        .into_iter()
        .chain(of_piece.map(|piece| &mut piece.tokens))
        .for_each(|tokens| *tokens = (*tokens + cost).minus(allowed));
    let tokens: Tokens = parts.iter().map(|part: &PartReport| part.tokens).sum();
    if tokens > spec.room() {
        // The task has more pieces than can be shortened to what it got.
        return Err(exceeded(spec, parts.into_iter().map(|part| (part.name, part.tokens))));
    }
    shows.retain(|seq| *seq > Seq::ZERO);
    let tokens = scale(spec.factor(), parts.iter_mut().map(|part| &mut part.tokens));
    scale(spec.factor(), made.placed.iter_mut().map(|piece| &mut piece.tokens));
    // What takes no room stands before what begins at the same place.
    made.placed.sort_by_key(|piece| (piece.message, piece.bytes.start, piece.bytes.end));
    let is_shown = |claim: &&Claim<'_>| parts.iter().any(|part| part.name == claim.part.name);
    let shown = claims.iter().filter(is_shown);
    let subjects = shown.flat_map(|claim| (claim.part.subjects)(from.view, from.agent)).collect();
    Ok(Filled { made, parts, tokens, shows: ranges(shows), subjects })
}

/// Adds what became of a part to what is reported under its name, where there is some. A text of the session's own has a report of
/// its own, whatever it is called.
fn report(parts: &mut Vec<PartReport>, shows: &mut Vec<Seq>, part: &Part<'_>, outcome: PartOutcome) {
    let PartOutcome { tokens, omitted, shortened, shows: shown, .. } = outcome;
    shows.extend(shown);
    match parts.iter_mut().find(|known| known.name == part.name && !part.is_text()) {
        _ if tokens == Tokens(0) => {}
        Some(known) => {
            known.tokens += tokens;
            known.shortened |= shortened;
            known.omitted.extend(omitted);
        }
        None => parts.push(PartReport { name: part.name.to_owned(), tokens, shortened, omitted }),
    }
}

/// Sizes in tokens of the vocabulary become sizes in tokens of the model, which add up. Returns their sum.
fn scale<'a>(factor: Factor, sizes: impl Iterator<Item = &'a mut Tokens>) -> Tokens {
    let mut counted = Tokens(0);
    sizes.fold(Tokens(0), |before, size| {
        counted += *size;
        let all = factor.of(counted);
        *size = all.minus(before);
        all
    })
}

fn exceeded(spec: &ResolvedSpec, parts: impl Iterator<Item = (String, Tokens)>) -> Lacking {
    let mut parts: Vec<_> = parts.filter(|(_, tokens)| tokens.0 > 0).collect();
    let needed = scale(spec.factor(), parts.iter_mut().map(|(_, tokens)| tokens));
    let budget = spec.budget;
    let is_in_bytes = spec.vocabulary == BYTES && spec.factor() == Factor::ONE;
    Lacking::Refused(Error::BudgetExceeded { budget, needed, parts, is_in_bytes })
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
