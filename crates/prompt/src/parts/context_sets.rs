//! The part that holds the shared context sets.

use std::sync::Arc;

use callboard_core::{
    agent::Team,
    context_set::{HeldSet, SetView},
    count::{TokenCounter, Tokens},
    entry::Hash,
    id::Seq,
    prompt::{
        Amount, PartName, Shares,
        escape::{attribute, escape},
    },
    text::Values,
    view::View,
};

use crate::{
    Lacking,
    assemble::Assembly,
    excerpt::power_of_two,
    parts::{Changes, Content, Gathered, Part, PartOutcome, Source},
    placed::Span,
    rendered::{RenderedPiece, Renderer},
    shorten::{shorten, water_level},
};

pub(crate) const PART: Part<'static> = Part {
    shares: Some((
        PartName::CONTEXT_SETS,
        Shares { min: Some(Amount::Tokens(Tokens(0))), max: Some(Amount::Percent(75)), priority: Some(2) },
    )),
    ..Part::new("context_sets", Changes::Sometimes, gather)
};

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let changing_last = from.spec.profile(from.view.state).changing_parts_last;
    let head = from.view.state.head.seq;
    let old_through = if changing_last { old_through(head) } else { head };
    let sets = Sets::gather(from.view, from.values, from.renderer, old_through).map_err(Lacking::Values)?;
    Ok((!sets.sets.is_empty()).then(|| Box::new(sets) as Box<dyn Content>))
}

const OPEN: &str = "<SHARED_CONTEXT_SETS>\n";
const CLOSE: &str = "</SHARED_CONTEXT_SETS>\n";

/// Where what changes stands last, a set stands behind what was said for at least so many entries since it was changed; in a
/// long session for more.
const LATELY: u64 = 16;

/// A set that was last changed after this entry was changed lately. It moves in steps, so that sets seldom change their place.
fn old_through(head: Seq) -> Seq {
    let step = power_of_two(head.0 / 4).0.max(LATELY);
    Seq((head.0 / step).saturating_sub(1) * step)
}

/// The sets that the reader sees, those that were changed longest ago first: what changes often then spoils least of
/// what a provider has cached.
struct Sets<'a> {
    sets: Vec<Shown<'a>>,
    renderer: Renderer<'a>,
    count: &'a dyn TokenCounter,
    /// How a set can be read, where that is on offer.
    fetch: String,
    granted: Tokens,
}

/// One set: its tag, and what stands in it where it is shown.
struct Shown<'a> {
    held: &'a HeldSet,
    attributes: Vec<(&'static str, String)>,
    content: Option<Arc<str>>,
    /// Whether the store has lost it.
    is_damaged: bool,
    /// Whether it stands behind all other parts.
    is_last: bool,
    whole: Tokens,
}

impl<'a> Sets<'a> {
    /// Gathers the sets, or says which long texts have to be read first.
    fn gather(view: &View<'a>, values: &Values, renderer: Renderer<'a>, old: Seq) -> Result<Self, Vec<(Hash, Seq)>> {
        let (count, fetch) = (renderer.count, renderer.by("fetch it by its name", "read_context_set"));
        let mut lacking = Vec::new();
        let mut sets = Vec::new();
        for set in view.sets() {
            let held = set.held();
            let shown = matches!(set, SetView::Whole(_)) && held.set.enabled;
            if !shown && !view.is_in_charge() {
                continue;
            }
            let content = match held.set.content.whole(values) {
                Ok(text) => shown.then(|| text.clone()),
                Err(hash) if shown => {
                    lacking.push((hash, held.seq));
                    continue;
                }
                Err(_) => None,
            };
            let attributes = attributes(held, &view.state.team, view.is_in_charge(), content.is_some());
            let is_damaged = content.is_some() && held.set.content.is_damaged(values);
            let is_last = held.seq > old;
            sets.push(Shown { held, attributes, content, is_damaged, is_last, whole: Tokens(0) });
        }
        if !lacking.is_empty() {
            return Err(lacking);
        }
        sets.sort_by_key(|shown| shown.held.seq);
        for shown in &mut sets {
            shown.whole = count.count(&shown.render(shown.content.as_deref()));
        }
        Ok(Self { sets, renderer, count, fetch, granted: Tokens(0) })
    }

    /// What the part needs to show everything.
    fn whole(&self) -> Tokens {
        self.frame() + self.sets.iter().map(|shown| shown.whole).sum()
    }

    /// What the part needs to name every set at the least.
    fn names(&self) -> Tokens {
        self.frame() + self.sets.iter().map(|shown| self.named(shown).1.min(shown.whole)).sum()
    }

    fn frame(&self) -> Tokens {
        let has = |is_last: bool| self.sets.iter().any(|shown| shown.is_last == is_last);
        let first = if has(false) { self.count.count(OPEN) + self.count.count(CLOSE) } else { Tokens(0) };
        let last = if has(true) { self.renderer.section(&format!("{OPEN}{CLOSE}")).tokens } else { Tokens(0) };
        first + last
    }

    /// The sets that stand in one of the two places, as they are shown there, and what became of them. Where the room is not
    /// enough, the largest sets are shortened to the same size.
    fn written(&self, is_last: bool) -> (Vec<(String, Span)>, PartOutcome) {
        let (mut texts, mut outcome) = (Vec::new(), PartOutcome::default());
        let level = self.level(self.granted.minus(self.frame()));
        for shown in self.sets.iter().filter(|shown| shown.is_last == is_last) {
            let is_short = shown.whole > level && shown.whole > self.named(shown).1;
            let (text, tokens) = match is_short {
                true => self.shorten(shown, level),
                false => (shown.render(shown.content.as_deref()), shown.whole),
            };
            let shortened = is_short || shown.is_damaged;
            outcome.omitted.extend(shortened.then(|| shown.held.set.name.to_string()));
            let seq = shown.content.is_some().then_some(shown.held.seq);
            let span = Span { seq, shortened, ..Span::unsaid(tokens, text.len()) };
            texts.push((text, span));
            outcome.tokens += tokens;
            outcome.shows.extend(seq);
        }
        outcome.shortened = !outcome.omitted.is_empty();
        (texts, outcome)
    }

    /// A set whose content is left out, and says so.
    fn named(&self, shown: &Shown<'_>) -> (String, Tokens) {
        let note = format!("[left out: it has {} tokens{}]", shown.whole, self.fetch);
        let text = shown.render(shown.content.as_ref().map(|_| note.as_str()));
        let tokens = self.count.count(&text);
        (text, tokens)
    }

    /// The size down to which sets are shortened, so that all of them fit in `allowed`.
    fn level(&self, allowed: Tokens) -> Tokens {
        let bounds = self.sets.iter().map(|shown| (self.named(shown).1.min(shown.whole), shown.whole));
        water_level(&bounds.collect::<Vec<_>>(), allowed)
    }

    fn shorten(&self, shown: &Shown<'_>, level: Tokens) -> (String, Tokens) {
        let Some(content) = &shown.content else { return self.named(shown) };
        let note = format!("[shortened here: it has {} tokens{}]", shown.whole, self.fetch);
        let render = |content: &str| shown.render(Some(content));
        let short = shorten(content, &note, level, |content| self.count.count(&render(content)));
        short.map_or_else(
            || self.named(shown),
            |content| {
                let piece = render(&content);
                let tokens = self.count.count(&piece);
                (piece, tokens)
            },
        )
    }
}

impl Content for Sets<'_> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        let whole = self.whole();
        Ok(self.names().max(whole.min(min)).min(whole))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        self.granted = self.whole().min(limit);
        Ok(self.granted)
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        let (texts, mut outcome) = self.written(false);
        if texts.is_empty() {
            return outcome;
        }
        let (open, close) = (self.count.count(OPEN), self.count.count(CLOSE));
        let unsaid = |text: &str, tokens: Tokens| (text.to_owned(), Span::unsaid(tokens, text.len()));
        let all = [unsaid(OPEN, open)].into_iter().chain(texts).chain([unsaid(CLOSE, close)]);
        all.for_each(|(text, span)| prompt.add(&RenderedPiece::text(&text, vec![span])));
        outcome.tokens += open + close;
        outcome
    }

    fn render_last(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        let (texts, mut outcome) = self.written(true);
        if texts.is_empty() {
            return outcome;
        }
        let text = texts.iter().fold(OPEN.to_owned(), |text, (set, _)| text + set) + CLOSE;
        let piece = self.renderer.section(&text);
        let open = Span::unsaid(self.count.count(OPEN), OPEN.len());
        let mut spans: Vec<Span> = std::iter::once(open).chain(texts.into_iter().map(|(_, span)| span)).collect();
        // What the format adds is counted with the end.
        let tokens: Tokens = spans.iter().map(|span| span.tokens).sum();
        let bytes: usize = spans.iter().map(|span| span.bytes).sum();
        spans.push(Span::unsaid(piece.tokens.minus(tokens), piece.only_text().len().saturating_sub(bytes)));
        prompt.add(&RenderedPiece { spans: spans.into(), ..piece.clone() });
        outcome.tokens = piece.tokens;
        outcome
    }
}

impl Shown<'_> {
    fn render(&self, content: Option<&str>) -> String {
        let tag = set_tag(self.held.set.name.as_str(), &self.attributes);
        let content = content.map(str::trim_end).filter(|content| !content.is_empty());
        let content = content.map(|content| format!("{}\n", escape(content))).unwrap_or_default();
        format!("{tag}\n{content}</CONTEXT_SET>\n")
    }
}

/// What the tag of a set says: for the manager who sees it, and whether it is hidden, switched off or waits for the user.
fn attributes(held: &HeldSet, team: &Team, in_charge: bool, shown: bool) -> Vec<(&'static str, String)> {
    let mut attributes = Vec::new();
    if !in_charge {
        return attributes;
    }
    attributes.push(("visible_to", held.set.visible_to.to_string()));
    if held.set.is_open_form() {
        attributes.push(("form", "waits for the user".to_owned()));
    }
    if !shown {
        let hidden = team.manager().is_some_and(|manager| !held.sight.audience.contains(&manager.name));
        let why = if hidden { "hidden from you" } else { "switched off" };
        attributes.push(("content", format!("{why}, {} tokens", held.set.tokens)));
    }
    attributes
}

/// The beginning of the tag that holds a context set.
fn set_tag(name: &str, attributes: &[(&str, String)]) -> String {
    let attributes: String = attributes.iter().map(|(key, value)| format!(" {key}=\"{}\"", attribute(value))).collect();
    format!("<CONTEXT_SET name=\"{}\"{attributes}>", attribute(name))
}
