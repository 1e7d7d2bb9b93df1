//! The part that holds the shared context sets.

use std::sync::Arc;

use super::{
    escape::escape,
    shorten::{shorten, water_level},
    team::set_tag,
};
use crate::{
    agent::Team,
    context_set::{Held, SetView},
    count::{TokenCounter, Tokens},
    entry::Hash,
    id::Seq,
    text::Values,
    view::View,
};

const OPEN: &str = "<SHARED_CONTEXT_SETS>\n";
const CLOSE: &str = "</SHARED_CONTEXT_SETS>\n";

/// The sets that the reader sees, those that were changed longest ago first: what changes often then spoils least of
/// what a provider has cached.
pub(super) struct Sets<'a> {
    sets: Vec<Shown<'a>>,
    count: &'a dyn TokenCounter,
}

/// One set: its tag, and what stands in it where it is shown.
struct Shown<'a> {
    held: &'a Held,
    attributes: Vec<(&'static str, String)>,
    content: Option<Arc<str>>,
    whole: Tokens,
}

/// The part as it came out.
pub(super) struct Rendered {
    pub(super) pieces: Vec<(String, Tokens)>,
    pub(super) shortened: Vec<String>,
    pub(super) shows: Vec<Seq>,
}

impl<'a> Sets<'a> {
    /// Gathers the sets, or says which long texts have to be read first.
    pub(super) fn gather(view: &View<'a>, values: &Values, count: &'a dyn TokenCounter) -> Result<Self, Vec<Hash>> {
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
                    lacking.push(hash);
                    continue;
                }
                Err(_) => None,
            };
            let attributes = attributes(held, &view.state.team, view.is_in_charge(), content.is_some());
            sets.push(Shown { held, attributes, content, whole: Tokens(0) });
        }
        if !lacking.is_empty() {
            return Err(lacking);
        }
        sets.sort_by_key(|shown| shown.held.seq);
        for shown in &mut sets {
            shown.whole = count.count(&shown.render(shown.content.as_deref()));
        }
        Ok(Self { sets, count })
    }

    /// What the part needs to show everything.
    pub(super) fn whole(&self) -> Tokens {
        self.frame() + self.sets.iter().map(|shown| shown.whole).sum()
    }

    /// What the part needs to name every set at the least.
    pub(super) fn least(&self) -> Tokens {
        self.frame() + self.sets.iter().map(|shown| self.named(shown).1.min(shown.whole)).sum()
    }

    fn frame(&self) -> Tokens {
        if self.sets.is_empty() { Tokens(0) } else { self.count.count(OPEN) + self.count.count(CLOSE) }
    }

    /// A set whose content is left out, and says so.
    fn named(&self, shown: &Shown<'_>) -> (String, Tokens) {
        let note = format!("[left out: it has {} tokens; fetch the context set by its name]", shown.whole);
        let text = shown.render(shown.content.as_ref().map(|_| note.as_str()));
        let tokens = self.count.count(&text);
        (text, tokens)
    }

    /// Renders the part in at most `allowed`, which is not less than [`least`](Self::least). Where it is not enough, the
    /// largest sets are shortened to the same size.
    pub(super) fn render(&self, allowed: Tokens) -> Rendered {
        let mut rendered = Rendered { pieces: Vec::new(), shortened: Vec::new(), shows: Vec::new() };
        if self.sets.is_empty() {
            return rendered;
        }
        rendered.pieces.push((OPEN.to_owned(), self.count.count(OPEN)));
        let level = self.level(allowed.minus(self.frame()));
        for shown in &self.sets {
            let piece = if shown.whole <= level || shown.whole <= self.named(shown).1 {
                (shown.render(shown.content.as_deref()), shown.whole)
            } else {
                rendered.shortened.push(shown.held.set.name.to_string());
                self.shorten(shown, level)
            };
            rendered.pieces.push(piece);
            if shown.content.is_some() {
                rendered.shows.push(shown.held.seq);
            }
        }
        rendered.pieces.push((CLOSE.to_owned(), self.count.count(CLOSE)));
        rendered
    }

    /// The size down to which sets are shortened, so that all of them fit in `allowed`.
    fn level(&self, allowed: Tokens) -> Tokens {
        let bounds = self.sets.iter().map(|shown| (self.named(shown).1.min(shown.whole), shown.whole));
        water_level(&bounds.collect::<Vec<_>>(), allowed)
    }

    fn shorten(&self, shown: &Shown<'_>, level: Tokens) -> (String, Tokens) {
        let Some(content) = &shown.content else { return self.named(shown) };
        let note = format!("[shortened here: it has {} tokens; fetch the context set by its name]", shown.whole);
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

impl Shown<'_> {
    fn render(&self, content: Option<&str>) -> String {
        let tag = set_tag(self.held.set.name.as_str(), &self.attributes);
        let content = content.map(str::trim_end).filter(|content| !content.is_empty());
        let content = content.map(|content| format!("{}\n", escape(content))).unwrap_or_default();
        format!("{tag}\n{content}</CONTEXT_SET>\n")
    }
}

/// What the tag of a set says: for the manager who sees it, and whether it is hidden, switched off or waits for the user.
fn attributes(held: &Held, team: &Team, in_charge: bool, shown: bool) -> Vec<(&'static str, String)> {
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
