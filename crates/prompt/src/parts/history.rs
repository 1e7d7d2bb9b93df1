//! The part that holds what was said before the task.

use callboard_core::{
    count::Tokens,
    prompt::{Amount, Format, PartName, Shares},
};

use crate::{
    Lacking,
    assemble::Assembly,
    excerpt::{Excerpt, History},
    parts::{Changes, Content, Gathered, Part, PartOutcome, Source},
    rendered::Frame,
};

/// What was said before the task, in tags.
pub(crate) const TAGGED: Part<'static> = Part {
    shares: Some((PartName::HISTORY, SHARES)),
    ..Part::new("history", Changes::Grows, |from| said(from, "<CONVERSATION_HISTORY>\n", "</CONVERSATION_HISTORY>\n"))
};

/// The same under the heading.
pub(crate) const LABELLED: Part<'static> = Part {
    shares: Some((PartName::CONVERSATION_HISTORY, SHARES)),
    ..Part::new("conversation_history", Changes::Grows, |from| said(from, "", ""))
};

/// The heading of what was said, where it has one.
pub(crate) const ABOVE: Part<'static> =
    Part { heading: HEADING, ..Part::new("conversation_history", Changes::Seldom, heading) };

const HEADING: &str = "CONVERSATION HISTORY:";

const SHARES: Shares =
    Shares { min: Some(Amount::Tokens(Tokens(0))), max: Some(Amount::Percent(100)), priority: Some(1) };

fn heading<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let is_text = from.spec.format == Format::Text;
    Ok(is_text.then(|| from.whole(format!("{HEADING}\n"))).flatten())
}

fn said<'a>(from: &mut Source<'a>, open: &'static str, close: &'static str) -> Gathered<'a> {
    let frame = from.renderer.frame(open, close);
    let framed = |history| Framed { history, frame, excerpt: Excerpt::default() };
    let content = |history| Box::new(framed(history)) as Box<dyn Content>;
    Ok(from.history.take().map(content))
}

/// The history with what stands around it.
struct Framed<'a> {
    history: History<'a>,
    frame: Frame,
    excerpt: Excerpt,
}

impl Framed<'_> {
    fn with_frame(&self, tokens: Tokens) -> Tokens {
        if tokens > Tokens(0) { tokens + self.frame.tokens() } else { tokens }
    }
}

impl Content for Framed<'_> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        let least = self.history.least(min.minus(self.frame.tokens()))?;
        Ok(self.with_frame(least))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        self.excerpt = self.history.fit(limit.minus(self.frame.tokens()))?;
        Ok(self.with_frame(self.excerpt.tokens))
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        let tokens = prompt.section(self.frame, &self.history.shown(&self.excerpt));
        let omitted = self.history.omitted(&self.excerpt);
        let shows = self.history.shows(&self.excerpt);
        PartOutcome { tokens, shortened: !omitted.is_empty(), omitted, shows, passes: false }
    }
}
