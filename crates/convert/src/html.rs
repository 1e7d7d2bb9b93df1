//! HTML as Markdown: headings, lists, tables, code, quotes, links and bold words keep their form; all else is text. Scripts,
//! styles and pictures are left out, and so are links to what is no page.
//!
//! It goes by the tokens of html5ever, without a tree of them: so no nesting is too deep, and time and memory grow with
//! the size of the page alone.

mod writer;

use std::cell::RefCell;

use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, CharacterTokens, Tag, TagKind, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer,
        TokenizerOpts,
        states::RawKind::{Rawtext, Rcdata, ScriptData},
    },
};

use self::writer::Writer;

/// A page of HTML as Markdown.
pub fn to_markdown(html: &str) -> String {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Sink(RefCell::default()), TokenizerOpts::default());
    // It stops in the middle only for scripts that are to be run, and none is.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

/// Takes tokens in.
struct Sink(RefCell<Writer>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut writer = self.0.borrow_mut();
        match token {
            CharacterTokens(text) => writer.text(&text),
            TagToken(Tag { kind: TagKind::StartTag, name, self_closing, attrs, .. }) => {
                let attribute = |wanted: &str| {
                    let found = attrs.iter().find(|attribute| &*attribute.name.local == wanted);
                    found.map(|attribute| attribute.value.to_string())
                };
                writer.open(&name, self_closing, attribute);
                return match &*name {
                    "script" => TokenSinkResult::RawData(ScriptData),
                    "style" | "iframe" | "noembed" | "noframes" | "xmp" => TokenSinkResult::RawData(Rawtext),
                    "title" | "textarea" => TokenSinkResult::RawData(Rcdata),
                    _ => TokenSinkResult::Continue,
                };
            }
            TagToken(Tag { name, .. }) => writer.close(&name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}
