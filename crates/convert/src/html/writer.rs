//! What is written of a page, tag by tag.

/// Elements that say nothing, with all that is in them.
const SILENT: [&str; 9] = ["script", "style", "template", "svg", "math", "iframe", "noembed", "noframes", "object"];

/// Elements that begin and end lines of their own, with an empty line around them.
const BLOCKS: [&str; 23] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "details",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "header",
    "html",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
    "h1",
    "h2",
];

/// Elements that begin and end lines.
const LINES: [&str; 14] = [
    "br",
    "caption",
    "center",
    "dd",
    "div",
    "dt",
    "figcaption",
    "hr",
    "legend",
    "li",
    "option",
    "summary",
    "title",
    "tr",
];

/// What is written so far, and where in the page it is.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    /// The text in `title`.
    title: String,
    in_title: bool,
    /// Whether a heading of the first level was written.
    has_heading: bool,
    /// The silent element that it is in, and how often one of its name was opened in it.
    silent: Option<(String, usize)>,
    /// Within `pre`: how often.
    pre: usize,
    /// The lists around: the next number, where it has numbers.
    lists: Vec<Option<u64>>,
    /// Quotes around.
    quotes: usize,
    /// How many line ends are due before the next word.
    due: usize,
    /// Whether white space is due before the next word.
    space: bool,
    /// What comes before the next word: a mark such as `- `.
    mark: String,
    /// Whether the row has a cell already.
    in_row: bool,
}

impl Writer {
    pub(super) fn text(&mut self, text: &str) {
        if self.silent.is_some() {
            return;
        }
        if self.in_title {
            self.title.push_str(text);
        } else if self.pre > 0 {
            self.begin();
            self.out.push_str(&text.replace("\r\n", "\n").replace('\n', &format!("\n{}", self.indent())));
        } else {
            for (at, word) in text.split(|c: char| c.is_whitespace() && c != '\u{a0}').enumerate() {
                self.space |= at > 0;
                if !word.is_empty() {
                    self.begin();
                    self.out.push_str(&word.replace('\u{a0}', " "));
                }
            }
        }
    }

    pub(super) fn open(&mut self, name: &str, self_closing: bool, attribute: impl Fn(&str) -> Option<String>) {
        if let Some((silent, depth)) = &mut self.silent {
            *depth += usize::from(silent == name && !self_closing);
            return;
        }
        self.lines_around(name);
        match name {
            _ if SILENT.contains(&name) && !self_closing => self.silent = Some((name.to_owned(), 1)),
            "title" => self.in_title = true,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lines(2);
                self.has_heading |= name == "h1";
                let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.mark = format!("{} ", "#".repeat(level));
            }
            "ul" | "menu" => self.lists.push(None),
            "ol" => self.lists.push(Some(attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1))),
            "li" => self.item(),
            "blockquote" => self.quotes += 1,
            "pre" => {
                self.begin_pre();
                self.pre += 1;
            }
            "code" if self.pre == 0 => self.tick(),
            "td" | "th" => {
                if std::mem::replace(&mut self.in_row, true) && self.due == 0 {
                    self.out.push_str(" |");
                }
                self.space = true;
            }
            "tr" => self.in_row = false,
            "hr" => {
                self.lines(2);
                self.begin();
                self.out.push_str("---");
                self.lines(2);
            }
            "img" => {
                if let Some(alt) = attribute("alt").filter(|alt| !alt.trim().is_empty()) {
                    self.text(&alt);
                }
            }
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if let Some((silent, depth)) = &mut self.silent {
            *depth -= usize::from(silent == name);
            if *depth == 0 {
                self.silent = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "h3" | "h4" | "h5" | "h6" => self.lines(2),
            "ul" | "ol" | "menu" => drop(self.lists.pop()),
            "pre" if self.pre > 0 => self.end_pre(),
            "code" if self.pre == 0 => self.end_tick(),
            _ => {}
        }
        self.lines_around(name);
        match name {
            "blockquote" => self.quotes = self.quotes.saturating_sub(1),
            "li" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.mark.clear(),
            _ => {}
        }
    }

    /// The whole text. A page without a heading of the first level begins with its title.
    pub(super) fn finish(self) -> String {
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = self.out.trim_end();
        match title.as_str() {
            title if title.is_empty() || self.has_heading => body.to_owned(),
            title if body.is_empty() => format!("# {title}"),
            title => format!("# {title}\n\n{body}"),
        }
    }

    fn item(&mut self) {
        self.mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        };
    }

    fn lines_around(&mut self, name: &str) {
        let is_inner_list = ["ul", "ol"].contains(&name) && !self.lists.is_empty();
        // A paragraph that begins an item stands on its line.
        let begins_item = !self.mark.is_empty() && name == "p";
        if self.pre > 0 && name != "pre" || begins_item {
            return;
        }
        if BLOCKS.contains(&name) && !is_inner_list {
            self.lines(2);
        } else if LINES.contains(&name) || is_inner_list {
            self.lines(1);
        }
    }

    /// At least so many line ends come before the next word.
    fn lines(&mut self, count: usize) {
        self.space = false;
        self.due = self.due.max(count);
    }

    /// What stands before each line: deeper lists are indented, quotes are marked.
    fn indent(&self) -> String {
        // Deeper nesting than anybody reads is not shown: lines stay short.
        let lists = self.lists.len().saturating_sub(1).min(8);
        format!("{}{}", "> ".repeat(self.quotes.min(8)), "  ".repeat(lists))
    }

    /// Writes what is due before a word.
    fn begin(&mut self) {
        let (due, space) = (std::mem::take(&mut self.due), std::mem::take(&mut self.space));
        if self.out.is_empty() || due > 0 {
            let is_first = self.out.is_empty();
            if !is_first {
                let kept = self.out.trim_end_matches(' ').len();
                self.out.truncate(kept);
                self.out.push_str(if due > 1 { "\n\n" } else { "\n" });
            }
            let indent = self.indent();
            self.out.push_str(&indent);
        } else if space {
            self.out.push(' ');
        }
        let mark = std::mem::take(&mut self.mark);
        self.out.push_str(&mark);
    }

    fn begin_pre(&mut self) {
        if self.pre == 0 {
            self.lines(2);
            self.begin();
            self.out.push_str("```\n");
            let indent = self.indent();
            self.out.push_str(&indent);
        }
    }

    fn end_pre(&mut self) {
        self.pre -= 1;
        if self.pre == 0 {
            let kept = self.out.trim_end().len();
            self.out.truncate(kept);
            self.out.push('\n');
            let indent = self.indent();
            self.out.push_str(&indent);
            self.out.push_str("```");
            self.lines(2);
        }
    }

    fn tick(&mut self) {
        self.begin();
        self.out.push('`');
    }

    fn end_tick(&mut self) {
        self.space = false;
        self.out.push('`');
    }
}
