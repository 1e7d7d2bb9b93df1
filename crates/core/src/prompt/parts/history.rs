//! The part that holds what was said before the task.

use super::{Changes, Content, Part, Rendered, Source};
use crate::{
    count::Tokens,
    prompt::{
        Lacking,
        assemble::Assembly,
        excerpt::{Excerpt, History},
        share::{Share, Shares},
        written::Frame,
    },
};

pub(in crate::prompt) struct ConversationHistory;

const FRAME: Frame = ("<CONVERSATION_HISTORY>\n", "</CONVERSATION_HISTORY>\n");

impl Part for ConversationHistory {
    fn name(&self) -> &'static str {
        "history"
    }

    fn tags(&self) -> &'static [&'static str] {
        &[
            "CONVERSATION_HISTORY",
            "CHAT_MESSAGE",
            "TOOL_CALL",
            "TOOL_RESULT",
            "EXPECTED_OUTPUT",
            "DIRECTIVE_OUTCOMES",
            "ANSWER_VERDICT",
            "LEFT_OUT",
        ]
    }

    fn changes(&self) -> Changes {
        Changes::Grows
    }

    fn shares(&self) -> Option<Shares> {
        Some(Shares { min: Some(Share::Tokens(Tokens(0))), max: Some(Share::Percent(100)), priority: Some(1) })
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let frame = from.writer.frame(FRAME);
        let content = |history| Box::new(Framed { history, frame, excerpt: Excerpt::default() }) as Box<dyn Content>;
        Ok(from.history.take().map(content))
    }
}

/// The history with the tags around it.
struct Framed<'a> {
    history: History<'a>,
    frame: Tokens,
    excerpt: Excerpt,
}

impl Framed<'_> {
    fn with_frame(&self, tokens: Tokens) -> Tokens {
        if tokens > Tokens(0) { tokens + self.frame } else { tokens }
    }
}

impl Content for Framed<'_> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        let least = self.history.least(min.minus(self.frame))?;
        Ok(self.with_frame(least))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        self.excerpt = self.history.fit(limit.minus(self.frame))?;
        Ok(self.with_frame(self.excerpt.tokens))
    }

    fn render(&self, prompt: &mut Assembly) -> Rendered {
        let tokens = prompt.section(FRAME, self.frame, &self.history.shown(&self.excerpt));
        let omitted = self.history.omitted(&self.excerpt);
        let shows = self.history.shows(&self.excerpt);
        Rendered { tokens, shortened: !omitted.is_empty(), omitted, shows, passes: false }
    }
}
