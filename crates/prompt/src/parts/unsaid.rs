//! What nobody said, as parts show it: a text in full, or as much of one as fits in a share of the budget.

use callboard_core::{
    count::{TokenCounter, Tokens, count_in_blocks},
    id::Seq,
    prompt::escape::escape,
};

use crate::{
    Lacking,
    assemble::Assembly,
    parts::{Content, PartOutcome, Source},
    placed::Span,
    rendered::{RenderedPiece, Renderer},
};

/// A text that is there in full.
struct Whole {
    written: RenderedPiece,
    omitted: Vec<String>,
    shows: Vec<Seq>,
}

/// What is no text of a prompt, and costs tokens all the same.
struct Beside {
    what: String,
    tokens: Tokens,
}

/// A text that can be shortened.
pub(super) trait Shortens {
    /// How much there is of it, in units of its own, such as bytes or lines.
    fn whole(&self) -> usize;

    /// The pieces of the text that shows so much of it, and says there what is left out and how to get it. `tokens` is the
    /// size of the whole. None begins with white space, and each ends with a line end.
    fn pieces(&self, shown: usize, tokens: Tokens) -> Vec<TextPiece>;

    /// The names of what is left out where so much of it is shown.
    fn omitted(&self, shown: usize) -> Vec<String>;
}

/// A piece of a text.
pub(super) struct TextPiece {
    pub(super) text: String,
    /// The entries that say it.
    pub(super) shows: Vec<Seq>,
    /// Whether something is shortened or left out there.
    pub(super) shortened: bool,
}

/// A line that says that so many things are left out, and how to get them: `one`, or `many` with `#` for the number.
pub(super) fn left_out_note(number: usize, one: &str, many: &str, fetch: &str) -> String {
    match number {
        0 => String::new(),
        1 => format!("[left out: {one}{fetch}]\n"),
        _ => format!("[left out: {}{fetch}]\n", many.replace('#', &number.to_string())),
    }
}

/// The text that pieces make.
fn joined(pieces: &[TextPiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// As much of a text as fits.
struct Bounded<'a, T> {
    text: T,
    renderer: Renderer<'a>,
    is_behind_history: bool,
    /// The size of the whole.
    tokens: Tokens,
    shown: usize,
    written: RenderedPiece,
}

impl<'a> Source<'a> {
    /// A text that is there in full. It begins with no white space and ends with a line end, so that its tokens add up
    /// with those of its neighbours. Behind what was said it has a place of its own in formats of messages.
    pub(crate) fn whole(&self, text: String) -> Option<Box<dyn Content + 'a>> {
        self.whole_of(text, Vec::new())
    }

    /// The same for a text that shows what these entries say.
    pub(super) fn whole_of(&self, text: String, shows: Vec<Seq>) -> Option<Box<dyn Content + 'a>> {
        Some(Box::new(Whole { written: self.write(&text), omitted: Vec::new(), shows }))
    }

    /// What is no text of a prompt, and costs tokens all the same; nothing where it costs none.
    pub(super) fn beside(&self, what: String, tokens: Tokens) -> Option<Box<dyn Content + 'a>> {
        (tokens > Tokens(0)).then(|| Box::new(Beside { what, tokens }) as Box<dyn Content>)
    }

    /// As much of a text as fits in what its part gets of the budget.
    pub(super) fn bounded(&self, text: impl Shortens + 'a) -> Option<Box<dyn Content + 'a>> {
        let (renderer, is_behind_history, shown) = (self.renderer, self.is_behind_history, text.whole());
        let written = self.write(&joined(&text.pieces(shown, Tokens(0))));
        let tokens = written.tokens;
        Some(Box::new(Bounded { text, renderer, is_behind_history, tokens, shown, written }))
    }

    /// What is shown in the place of a part that could not be made. It blanks no other.
    pub(crate) fn failed(&self, heading: &str, why: &str) -> Option<Box<dyn Content + 'a>> {
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        let written = self.write(&format!("{heading}\n[this could not be read: {}]\n\n", escape(&why)));
        Some(Box::new(Whole { written, omitted: vec![why], shows: Vec::new() }))
    }

    fn write(&self, text: &str) -> RenderedPiece {
        write(text, &self.renderer, self.is_behind_history)
    }
}

/// A text above what was said, which every format has; or behind it, where formats of messages have a place of its own for it.
fn write(text: &str, renderer: &Renderer<'_>, is_behind_history: bool) -> RenderedPiece {
    if is_behind_history {
        return renderer.section(text);
    }
    RenderedPiece::text(text, vec![Span::unsaid(count_in_blocks(renderer.count, text), text.len())])
}

/// Where the pieces of a text of so many tokens stand. What its format adds is counted with the last one.
fn spans(text: &str, tokens: Tokens, pieces: &[TextPiece], count: &dyn TokenCounter) -> Vec<Span> {
    let (mut at, mut rest) = (0, tokens);
    let span = |(index, piece): (usize, &TextPiece)| {
        let is_last = index + 1 == pieces.len();
        let words = text.get(at..).unwrap_or_default();
        let words = words.get(..piece.text.len()).filter(|_| !is_last).unwrap_or(words);
        let size = if is_last { rest } else { count_in_blocks(count, words).min(rest) };
        (at, rest) = (at + words.len(), rest.minus(size));
        let seq = piece.shows.first().copied().filter(|_| piece.shows.len() == 1);
        Span { seq, shortened: piece.shortened, ..Span::unsaid(size, words.len()) }
    };
    pieces.iter().enumerate().map(span).collect()
}

impl Content for Whole {
    fn least(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.written.tokens)
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        prompt.add(&self.written);
        let (tokens, omitted, shows) = (self.written.tokens, self.omitted.clone(), self.shows.clone());
        PartOutcome { tokens, shortened: !omitted.is_empty(), omitted, shows, passes: false }
    }
}

impl Content for Beside {
    fn least(&mut self, _: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.tokens)
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        prompt.beside(&self.what, self.tokens);
        PartOutcome { tokens: self.tokens, ..PartOutcome::default() }
    }
}

impl<T: Shortens> Bounded<'_, T> {
    fn with(&self, shown: usize) -> RenderedPiece {
        let pieces = self.text.pieces(shown, self.tokens);
        write(&joined(&pieces), &self.renderer, self.is_behind_history)
    }
}

impl<T: Shortens> Content for Bounded<'_, T> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        if self.tokens <= min {
            return Ok(self.tokens);
        }
        Ok(self.with(0).tokens.max(min).min(self.tokens))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        if self.tokens > limit {
            let (mut low, mut high) = (0, self.text.whole());
            self.written = self.with(low);
            // A count does not quite grow with what is shown, but what is taken was counted itself.
            for _ in 0..12 {
                let middle = low.midpoint(high);
                let written = self.with(middle);
                if written.tokens <= limit { (low, self.written) = (middle, written) } else { high = middle }
            }
            self.shown = low;
        }
        Ok(self.written.tokens)
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        let pieces = self.text.pieces(self.shown, self.tokens);
        let tokens = self.written.tokens;
        let spans = spans(self.written.only_text(), tokens, &pieces, self.renderer.count).into();
        prompt.add(&RenderedPiece { spans, ..self.written.clone() });
        PartOutcome {
            tokens,
            shortened: self.shown < self.text.whole(),
            omitted: self.text.omitted(self.shown),
            shows: pieces.into_iter().flat_map(|piece| piece.shows).collect(),
            passes: false,
        }
    }
}
