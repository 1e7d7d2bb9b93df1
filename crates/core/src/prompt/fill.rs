//! Filling a budget: what must be in a prompt comes first, what is left is shared, and all of it is put together.

use super::{
    Body, Lacking, PartReport, Request,
    assemble::Assembly,
    parts::{Changes, Content, Part, Rendered, Source},
    pieces::Pieces,
    profile::PartName,
    share::Allowed,
};
use crate::{count::Tokens, error::Error, id::Seq};

/// A prompt that fits.
pub(super) struct Filled {
    pub(super) parts: Vec<PartReport>,
    pub(super) body: Body,
    pub(super) pieces: Pieces,
    pub(super) tokens: Tokens,
    pub(super) shows: Vec<(Seq, Seq)>,
}

/// A part that has something to say.
struct Claim<'a> {
    part: &'static dyn Part,
    content: Box<dyn Content + 'a>,
    /// How it shares the budget; none where it is always there in full.
    allowed: Option<Allowed>,
    /// What it cannot do without.
    least: Tokens,
}

/// Fills the budget of a request.
pub(super) fn fill(request: &Request<'_>, from: &mut Source<'_>) -> Result<Filled, Lacking> {
    let mut claims = Vec::new();
    for part in request.layout.parts().iter().copied() {
        let Some(mut content) = part.gather(from)? else { continue };
        let allowed =
            part.shares().map(|shares| request.profile.allowed(PartName::of(part.name()), shares, request.budget));
        let least = content.least(allowed.map_or(Tokens(0), |allowed| allowed.min))?;
        claims.push(Claim { part, content, allowed, least });
    }
    grant(request.budget, &mut claims)?;
    put_together(request, &claims)
}

/// Gives every part its least, and then, in the order of their priorities, what they have use for and may have of what
/// is left.
fn grant(budget: Tokens, claims: &mut [Claim<'_>]) -> Result<(), Lacking> {
    let least: Tokens = claims.iter().map(|claim| claim.least).sum();
    if least > budget {
        let (elastic, always): (Vec<_>, Vec<_>) = claims.iter().partition(|claim| claim.allowed.is_some());
        let named = |claim: &Claim<'_>| (claim.part.name().to_owned(), claim.least);
        return Err(exceeded(budget, always.into_iter().chain(elastic).map(named)));
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
fn put_together(request: &Request<'_>, claims: &[Claim<'_>]) -> Result<Filled, Lacking> {
    let mut body = Assembly::new(request.format);
    let (mut parts, mut shows, mut is_kept) = (Vec::new(), Vec::new(), true);
    for (at, claim) in claims.iter().enumerate() {
        let changes = claim.part.changes();
        let Rendered { tokens, omitted, shortened, shows: shown, passes } = claim.content.render(&mut body);
        shows.extend(shown);
        if tokens > Tokens(0) {
            parts.push(PartReport { name: claim.part.name().to_owned(), tokens, shortened, omitted });
            is_kept &= !passes && changes != Changes::Always;
        }
        let is_next_alike = claims.get(at + 1).is_some_and(|next| next.part.changes() == changes);
        if is_kept && (!is_next_alike || changes == Changes::Grows) {
            body.mark();
        }
    }
    let tokens: Tokens = parts.iter().map(|part: &PartReport| part.tokens).sum();
    if tokens > request.budget {
        // The task has more pieces than can be shortened to what it got.
        return Err(exceeded(request.budget, parts.into_iter().map(|part| (part.name, part.tokens))));
    }
    shows.retain(|seq| *seq > Seq::ZERO);
    let (body, pieces) = body.finish();
    Ok(Filled { parts, body, pieces, tokens, shows: ranges(shows) })
}

fn exceeded(budget: Tokens, parts: impl Iterator<Item = (String, Tokens)>) -> Lacking {
    let parts: Vec<_> = parts.filter(|(_, tokens)| tokens.0 > 0).collect();
    let needed = parts.iter().map(|(_, tokens)| *tokens).sum();
    Lacking::Refused(Error::BudgetExceeded { budget, needed, parts })
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
