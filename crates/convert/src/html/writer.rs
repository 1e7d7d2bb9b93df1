//! What is written of a page, tag by tag.

/// Elements that say nothing, with all that is in them.
const SILENT: [&str; 9] = ["script", "style", "template", "svg", "math", "iframe", "noembed", "noframes", "object"];

/// How many line ends are around an element: two where an empty line is, one where it begins and ends lines.
fn line_ends(name: &str) -> usize {
    match name {
        "address" | "article" | "aside" | "blockquote" | "body" | "details" | "dl" | "fieldset" | "figure"
        | "footer" | "form" | "h1" | "h2" | "header" | "html" | "main" | "nav" | "ol" | "p" | "pre" | "section"
        | "table" | "ul" => 2,
        "br" | "caption" | "center" | "dd" | "div" | "dt" | "figcaption" | "hr" | "legend" | "li" | "option"
        | "summary" | "title" | "tr" => 1,
        _ => 0,
    }
}

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
    /// Within `code`: how often.
    ticks: usize,
    /// Within `b` and `strong`: how often.
    bolds: usize,
    /// What is around the next word, the outermost first: a link and bold words, each once.
    around: Vec<Around>,
    /// The row of a table that is being written.
    row: Row,
}

/// Something around words: a link, or else bold words.
struct Around {
    /// Where a link leads.
    href: Option<String>,
    /// Whether its beginning is written.
    is_written: bool,
}

/// A row of a table.
#[derive(Default)]
struct Row {
    /// How many cells it has so far.
    cells: usize,
    /// How many of them came before anything of the row was written.
    blank: usize,
    /// Whether something of it is written.
    is_written: bool,
    /// Whether it is on several lines.
    is_broken: bool,
    /// Whether one of its cells is a heading.
    has_heading: bool,
    /// Whether no row of the table was written before it.
    is_first: bool,
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
                    self.begin_around();
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
        if name == "tr" {
            self.end_row();
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
            "a" => self.link(attribute("href")),
            "b" | "strong" if self.takes_marks() => self.bold(),
            "table" => self.row = Row { is_first: true, ..Row::default() },
            "td" | "th" => self.cell(name == "th"),
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
            "a" => self.end_around(true),
            "b" | "strong" if self.takes_marks() => self.end_bold(),
            "tr" | "table" => self.end_row(),
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
    pub(super) fn finish(mut self) -> String {
        self.break_around();
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
        match line_ends(name) {
            0 => {}
            count => self.lines(if is_inner_list { 1 } else { count }),
        }
    }

    /// At least so many line ends come before the next word.
    fn lines(&mut self, count: usize) {
        self.break_around();
        self.row.is_broken |= self.row.is_written;
        // Code that nobody closed ends with its paragraph.
        self.ticks = if count > 1 { 0 } else { self.ticks };
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
        let blank = std::mem::take(&mut self.row.blank);
        if blank > 0 {
            self.out.push('|');
            self.out.push_str(&" |".repeat(blank));
            self.out.push(' ');
        }
        self.row.is_written = self.row.cells > 0;
    }

    /// Begins a cell of a row.
    fn cell(&mut self, is_heading: bool) {
        self.break_around();
        if self.row.cells > 0 && !self.row.is_written {
            self.row.blank += 1;
        } else if self.row.cells > 0 && self.due == 0 {
            self.out.push_str(" |");
        }
        self.row.cells += 1;
        self.row.has_heading |= is_heading;
        self.space = true;
    }

    /// Ends a row. Below the first of a table comes a rule if it has headings.
    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if row.is_first && row.has_heading && row.is_written && !row.is_broken {
            self.lines(1);
            self.begin();
            self.out.push('|');
            self.out.push_str(&" --- |".repeat(row.cells));
            self.lines(1);
        }
        self.row.is_first = row.is_first && !row.is_written;
    }

    /// Whether words can be bold here, or a link.
    fn takes_marks(&self) -> bool {
        self.pre == 0 && self.ticks == 0
    }

    /// Begins a link. No link is within another one.
    fn link(&mut self, href: Option<String>) {
        self.end_around(true);
        if let Some(href) = href.as_deref().and_then(address).filter(|_| self.takes_marks()) {
            self.around.push(Around { href: Some(href), is_written: false });
        }
    }

    fn bold(&mut self) {
        if self.bolds == 0 {
            self.around.push(Around { href: None, is_written: false });
        }
        self.bolds += 1;
    }

    fn end_bold(&mut self) {
        self.bolds = self.bolds.saturating_sub(1);
        if self.bolds == 0 {
            self.end_around(false);
        }
    }

    /// Writes what begins before a word.
    fn begin_around(&mut self) {
        if !self.takes_marks() {
            return;
        }
        for around in self.around.iter_mut().filter(|around| !around.is_written) {
            around.is_written = true;
            self.out.push_str(if around.href.is_some() { "[" } else { "**" });
        }
    }

    /// Ends the link, or the bold words, and what began within.
    fn end_around(&mut self, is_link: bool) {
        let Some(at) = self.around.iter().position(|around| around.href.is_some() == is_link) else { return };
        let ended = self.around.split_off(at);
        ended.iter().rev().for_each(|around| self.end(around));
        if ended.iter().any(|around| around.href.is_none()) {
            self.bolds = 0;
        }
    }

    /// Ends what is around words where a line ends. Bold words go on behind it; a link does not.
    fn break_around(&mut self) {
        let mut around = std::mem::take(&mut self.around);
        around.iter().rev().for_each(|one| self.end(one));
        around.retain(|one| !one.is_written || one.href.is_none());
        around.iter_mut().for_each(|one| one.is_written = false);
        self.around = around;
    }

    fn end(&mut self, around: &Around) {
        match &around.href {
            _ if !around.is_written => {}
            Some(href) => self.out.push_str(&format!("]({href})")),
            None => self.out.push_str("**"),
        }
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
        self.begin_around();
        self.ticks += 1;
        self.out.push('`');
    }

    fn end_tick(&mut self) {
        self.ticks = self.ticks.saturating_sub(1);
        self.space = false;
        self.out.push('`');
    }
}

/// An address as a link in Markdown has it: of the web, of mail, or relative to the page. Others are no links.
fn address(href: &str) -> Option<String> {
    let href: String = href.trim().chars().filter(|c| !c.is_control()).collect();
    let scheme = href.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| !scheme.contains(['/', '?', '#']));
    let known = ["http", "https", "mailto"];
    let is_kept = scheme.is_none_or(|scheme| known.iter().any(|known| scheme.eq_ignore_ascii_case(known)));
    (is_kept && !href.is_empty()).then(|| escaped(&href))
}

/// An address without the characters that would end it in Markdown.
fn escaped(href: &str) -> String {
    let mut escaped = String::with_capacity(href.len());
    for c in href.chars() {
        match c {
            ' ' => escaped.push_str("%20"),
            '(' => escaped.push_str("%28"),
            ')' => escaped.push_str("%29"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            '\\' => escaped.push_str("%5C"),
            c => escaped.push(c),
        }
    }
    escaped
}
