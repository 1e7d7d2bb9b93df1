//! The part that holds what was said before the task.

use callboard_core::{
    count::Tokens,
    prompt::{Amount, Format, PartName, Shares},
};

use crate::{
    Lacking,
    assemble::Assembly,
    excerpt::{Excerpt, History},
    parts::{Changes, Content, Part, PartOutcome, Source},
    rendered::{Frame, FrameSize},
};

/// What was said before the task.
pub(crate) struct ConversationHistory {
    name: PartName,
    frame: Frame,
}

/// The heading of what was said, where it has one.
pub(crate) struct HistoryHeading;

impl ConversationHistory {
    /// In tags.
    pub(crate) const TAGGED: Self =
        Self { name: PartName::HISTORY, frame: ("<CONVERSATION_HISTORY>\n", "</CONVERSATION_HISTORY>\n") };

    /// Under the heading.
    pub(crate) const LABELLED: Self = Self { name: PartName::CONVERSATION_HISTORY, frame: ("", "") };
}

impl Part for HistoryHeading {
    fn name(&self) -> &'static str {
        PartName::CONVERSATION_HISTORY.as_str()
    }

    fn heading(&self) -> &'static str {
        "CONVERSATION HISTORY:"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let is_text = from.spec.format == Format::Text;
        Ok(is_text.then(|| from.whole(format!("{}\n", self.heading()))).flatten())
    }
}

impl Part for ConversationHistory {
    fn name(&self) -> &'static str {
        self.name.as_str()
    }

    fn changes(&self) -> Changes {
        Changes::Grows
    }

    fn shares(&self) -> Option<(PartName, Shares)> {
        Some((
            self.name,
            Shares { min: Some(Amount::Tokens(Tokens(0))), max: Some(Amount::Percent(100)), priority: Some(1) },
        ))
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let (frame, size) = (self.frame, from.renderer.frame(self.frame));
        let framed = |history| Framed { history, frame, size, excerpt: Excerpt::default() };
        let content = |history| Box::new(framed(history)) as Box<dyn Content>;
        Ok(from.history.take().map(content))
    }
}

/// The history with what stands around it.
struct Framed<'a> {
    history: History<'a>,
    frame: Frame,
    size: FrameSize,
    excerpt: Excerpt,
}

impl Framed<'_> {
    fn with_frame(&self, tokens: Tokens) -> Tokens {
        if tokens > Tokens(0) { tokens + self.size.both() } else { tokens }
    }
}

impl Content for Framed<'_> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        let least = self.history.least(min.minus(self.size.both()))?;
        Ok(self.with_frame(least))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        self.excerpt = self.history.fit(limit.minus(self.size.both()))?;
        Ok(self.with_frame(self.excerpt.tokens))
    }

    fn render(&self, prompt: &mut Assembly) -> PartOutcome {
        let tokens = prompt.section(self.frame, self.size, &self.history.shown(&self.excerpt));
        let omitted = self.history.omitted(&self.excerpt);
        let shows = self.history.shows(&self.excerpt);
        PartOutcome { tokens, shortened: !omitted.is_empty(), omitted, shows, passes: false }
    }
}
