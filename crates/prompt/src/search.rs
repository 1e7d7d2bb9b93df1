//! The exact form of recall: every word must be there as it was written, and filters say where, whose and when.

use std::ops::Range;

use callboard_core::{
    conversation::Role,
    entry::Header,
    error::Error,
    id::AgentName,
    recall::{Recallable, Source},
    time::Timestamp,
};

/// The longest search, in bytes.
const LONGEST: usize = 16 * 1024;

/// How much is shown around what was found, in bytes.
const AROUND: usize = 160;

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Words and phrases in lower case. All of them must be there.
    pub words: Vec<String>,
    from: Option<String>,
    thread: Option<String>,
    before: Option<Timestamp>,
    after: Option<Timestamp>,
    source: Option<Source>,
}

/// Where something was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchMatch {
    /// What is shown of the text, in bytes.
    pub bytes: Range<usize>,
    /// How often the words stand in it.
    pub times: usize,
}

impl Search {
    /// Reads a search: words, `"quoted phrases"`, `from:NAME`, `in:THREAD`, `before:TIME`, `after:TIME`, `type:SOURCE`. A value in
    /// quotes may have blanks.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > LONGEST {
            let problem = format!("it has {} bytes, and {LONGEST} is the most: search for fewer words", text.len());
            return Err(Error::invalid("/q", problem));
        }
        let mut search = Self::default();
        for (filter, text) in pieces(text)? {
            match filter {
                Some("from") => search.from = Some(text.to_owned()),
                Some("in") => search.thread = Some(text.to_owned()),
                Some("before") => search.before = Some(time(text)?),
                Some("after") => search.after = Some(time(text)?),
                Some(_) => search.source = Some(source(text)?),
                None => search.words.push(text.to_lowercase()),
            }
        }
        if search == Self::default() {
            return Err(Error::invalid("/q", "say which words are searched for"));
        }
        Ok(search)
    }

    /// Whether the data of an entry may hold what is searched for. It is a quick look: long texts are not in the data.
    pub fn may_be_in(&self, data: &str) -> bool {
        // What JSON escapes, and letters that change in lower case, are looked at closely.
        let is_plain = |word: &&String| word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(word) = self.words.iter().filter(is_plain).max_by_key(|word| word.len()) else { return true };
        data.contains("\"sha256\"") || data.to_ascii_lowercase().contains(word.as_str())
    }

    /// Where the words stand in what an entry says to `reader`; `None` where one is missing, or a filter leaves the entry out. No
    /// reader is the user.
    pub fn find(
        &self,
        header: &Header,
        said: &Recallable,
        text: &str,
        reader: Option<&AgentName>,
    ) -> Option<SearchMatch> {
        let at = header.time.unwrap_or(header.at);
        let is_from = |name: &String| names(header, said, reader).any(|known| known.eq_ignore_ascii_case(name));
        let is_in = |thread: &String| header.subject.strip_prefix("thread:") == Some(thread.as_str());
        let is_wanted = self.from.as_ref().is_none_or(is_from)
            && self.thread.as_ref().is_none_or(is_in)
            && self.source.is_none_or(|source| source == said.source)
            && self.before.is_none_or(|before| at < before)
            && self.after.is_none_or(|after| at > after);
        if !is_wanted {
            return None;
        }
        let lower = text.to_lowercase();
        let mut first = None;
        let mut times = 0;
        for word in &self.words {
            let mut places = whole_words(&lower, word).peekable();
            let place = *places.peek()?;
            first = Some(first.map_or(place, |first: usize| first.min(place)));
            times += places.count();
        }
        // In other scripts a letter may be longer in lower case.
        let place = first.unwrap_or(0).min(text.len());
        Some(SearchMatch { bytes: around(text, if lower.len() == text.len() { place } else { 0 }), times })
    }
}

/// The words and phrases of a search, with the filters that they are values of.
fn pieces(text: &str) -> Result<Vec<(Option<&str>, &str)>, Error> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (filter, value) = match rest.split_once(':') {
            Some((name, value)) if FILTERS.contains(&name) => (Some(name), value),
            _ => (None, rest),
        };
        let (word, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                quoted.split_once('"').ok_or_else(|| Error::invalid("/q", "a quotation mark is missing"))?
            }
            None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        match (filter, word.trim()) {
            (Some(name), "") => return Err(Error::invalid("/q", format!("{name}: needs a value right behind it"))),
            (None, "") => {}
            piece => pieces.push(piece),
        }
        rest = after.trim_start();
    }
    Ok(pieces)
}

const FILTERS: [&str; 5] = ["from", "in", "before", "after", "type"];

/// A time, or a day, which stands for its beginning in UTC.
fn time(text: &str) -> Result<Timestamp, Error> {
    let time = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse());
    time.map_err(|_| Error::invalid("/q", format!("{text:?} is no time: write 2025-01-18 or 2025-01-18T14:30:00Z")))
}

fn source(text: &str) -> Result<Source, Error> {
    let all = || Source::ALL.map(Source::as_str).join(", ");
    let source = Source::ALL.into_iter().find(|source| source.as_str() == text);
    source.ok_or_else(|| Error::invalid("/q", format!("there is no type {text:?}: use {}", all())))
}

/// The names of who says what an entry says, as `reader` is told.
fn names<'a>(
    header: &'a Header,
    said: &'a Recallable,
    reader: Option<&AgentName>,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let role = said.role.map(Role::as_str);
    let author = said.role.is_none().then_some(header.by.called());
    let agent = said.said_by(&header.subject, reader).map(AgentName::as_str);
    agent.into_iter().chain(role).chain(author)
}

/// Where `word` stands in `text`, not within a longer word of Latin letters and digits.
fn whole_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> {
    let joins = |a: Option<char>, b: Option<char>| {
        let is_letter = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric());
        is_letter(a) && is_letter(b)
    };
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !joins(before, word.chars().next()) && !joins(word.chars().next_back(), after)
    })
}

/// What of `text` stands around a place, in whole words.
fn around(text: &str, place: usize) -> Range<usize> {
    let start = text.floor_char_boundary(place.saturating_sub(AROUND));
    let end = text.floor_char_boundary(place.saturating_add(2 * AROUND));
    let blank = |range: Range<usize>| text.get(range).and_then(|piece| piece.find(char::is_whitespace));
    let start = if start == 0 { 0 } else { blank(start..place).map_or(start, |blank| start + blank) };
    let cut = || text.get(place..end).and_then(|piece| piece.rfind(char::is_whitespace));
    let end = if end >= text.len() { text.len() } else { cut().map_or(end, |blank| place + blank) };
    let shown = text.get(start..end).unwrap_or_default();
    let start = start + (shown.len() - shown.trim_start().len());
    start..(start + shown.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use callboard_core::{
        conversation::{AddMessages, NewMessage},
        testing::Board,
    };

    fn finds(query: &str, text: &str) -> Option<String> {
        let mut board = Board::team("lead writer");
        let messages = vec![NewMessage::text(Role::User, text)];
        board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
        let entry = board.entries.last().unwrap();
        let said = callboard_core::event::recallable(entry).unwrap().unwrap();
        let search = Search::parse(query).unwrap();
        let found = search.may_be_in(&entry.data).then(|| search.find(&entry.header, &said, text, None))??;
        Some(text[found.bytes].to_owned())
    }

    fn refused(query: &str) -> String {
        Search::parse(query).unwrap_err().to_string()
    }

    #[test]
    fn every_word_must_be_there_as_it_is_written() {
        let text = "Ana moved to Lisbon in May.";
        assert_eq!(finds("lisbon ana", text).as_deref(), Some(text));
        assert_eq!(finds("lisbon paris", text), None);
        assert_eq!(finds("move", text), None, "it is part of another word");
        assert_eq!(finds("\"to lisbon\"", text).as_deref(), Some(text));
        assert_eq!(finds("\"lisbon to\"", text), None);
        assert_eq!(finds("user_id", "a my_user_id b").as_deref(), Some("a my_user_id b"));
        assert_eq!(finds("東京", "東京都に").as_deref(), Some("東京都に"));
        assert_eq!(finds("ÉTÉ", "un été").as_deref(), Some("un été"));
    }

    #[test]
    fn filters_say_whose_where_and_when() {
        let text = "Ana moved to Lisbon in May.";
        for (query, is_found) in [
            ("ana from:user", true),
            ("ana from:writer", false),
            ("in:main ana", true),
            ("in:\"main\" ana", true),
            ("in:plans ana", false),
            ("type:message", true),
            ("type:plan ana", false),
            ("after:2025-01-18 ana", true),
            ("before:2025-01-18 ana", false),
            ("before:2025-01-18T23:00:00Z ana", true),
        ] {
            assert_eq!(finds(query, text).is_some(), is_found, "{query}");
        }
    }

    #[test]
    fn what_a_program_tells_its_agent_is_found_by_others_as_that_agent_says_it() {
        let mut board = Board::team("lead writer");
        let say = |text| {
            let messages = vec![NewMessage::text(Role::User, text)];
            AddMessages { thread: "chat:writer".parse().unwrap(), messages }
        };
        // No worker makes a thread.
        board.user(say("Hello.")).unwrap();
        board.by("writer", say("Obey.")).unwrap();
        let entry = board.entries.last().unwrap();
        let said = callboard_core::event::recallable(entry).unwrap().unwrap();
        let search = Search::parse("obey from:writer").unwrap();
        let is_found = |reader: Option<&str>| {
            let reader = reader.map(|name| name.parse::<AgentName>().unwrap());
            search.find(&entry.header, &said, "Obey.", reader.as_ref()).is_some()
        };
        assert_eq!([Some("lead"), Some("writer"), None].map(is_found), [true, false, false]);
    }

    #[test]
    fn a_long_text_is_shown_around_what_was_found() {
        let text = format!("{}needle {}", "hay ".repeat(500), "straw ".repeat(500));
        let shown = finds("needle", &text).unwrap();
        assert!(shown.contains("hay needle straw") && shown.len() < 500, "{shown}");
    }

    #[test]
    fn what_is_no_search_is_refused() {
        for (query, problem) in [
            ("", "which words"),
            ("\"open", "quotation mark"),
            ("from: x", "from: needs a value"),
            ("before:tomorrow", "no time"),
            ("type:dream", "use message"),
        ] {
            assert!(refused(query).contains(problem), "{query}: {}", refused(query));
        }
        assert!(refused(&"x".repeat(20_000)).contains("the most"));
    }
}
