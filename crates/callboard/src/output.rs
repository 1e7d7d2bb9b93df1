//! Printing: the only place that writes to the standard output and the standard error.
//!
//! Neither may stop what the program is doing. So nothing here is `println!` or `eprintln!`, which panic where a pipe is
//! closed or a disk is full.

use std::{
    fmt,
    io::{self, ErrorKind, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::OnceLock,
    time::UNIX_EPOCH,
};

use callboard_engine::core::{error::Fault, time::Timestamp};
use serde::Serialize;
use serde_json::json;

use crate::failure::{Failure, Problem};

/// Why the standard output can no longer be written.
static UNWRITABLE: OnceLock<io::Error> = OnceLock::new();

/// A number with its noun: `1 token`, `2 tokens`, `2 entries`.
pub(crate) fn counted(number: impl fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if number == "1" => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// Things in a row: `a, b, c`.
pub(crate) fn joined(things: impl IntoIterator<Item: fmt::Display>) -> String {
    things.into_iter().map(|thing| thing.to_string()).collect::<Vec<_>>().join(", ")
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Whether programs read it.
    pub(crate) json: bool,
    colours: bool,
    /// Whether lists say how long ago something was.
    ago: bool,
}

/// How a word stands out at a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// Who speaks.
    Name,
    /// What is less important.
    Quiet,
    /// What went well.
    Good,
    /// What went wrong.
    Bad,
}

impl Output {
    /// Prints for programs (`json`) or for people, to whom a terminal may show colours.
    pub(crate) fn new(json: bool, colours: bool) -> Self {
        let at_terminal = !json && io::stdout().is_terminal();
        Self { json, colours: colours && at_terminal, ago: at_terminal }
    }

    /// The same, with exact times in lists where they are wanted.
    pub(crate) fn with_exact_times(self, wanted: bool) -> Self {
        Self { ago: self.ago && !wanted, ..self }
    }

    /// A time in a list: for programs as it is, at a terminal how long ago it was.
    pub(crate) fn time(self, at: Timestamp) -> String {
        self.time_as(at, &at.to_string())
    }

    /// The same for a time that is written like this.
    pub(crate) fn time_as(self, at: Timestamp, written: &str) -> String {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let then = u64::try_from(at.as_millis() / 1000).unwrap_or_default();
        if self.ago { ago(now.saturating_sub(then)) } else { written.to_owned() }
    }

    /// Prints a line to the standard output.
    pub(crate) fn line(self, line: impl AsRef<str>) {
        self.write(line.as_ref());
        self.write("\n");
    }

    /// Prints a text to the standard output as it is, at once.
    pub(crate) fn write(self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Prints bytes to the standard output as they are, at once. What cannot be printed is dropped; the end of the command
    /// tells ([`Output::finished`]).
    pub(crate) fn bytes(self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
            let _ = UNWRITABLE.set(error);
        }
    }

    /// Whether what is printed still arrives: a reader such as `head` leaves when it has enough, and a disk gets full.
    pub(crate) fn is_writable(self) -> bool {
        UNWRITABLE.get().is_none()
    }

    /// The exit status of a command that ended with `status`: it has failed where what it printed could not be written,
    /// unless nobody wanted to read on.
    pub(crate) fn finished(self, status: ExitCode) -> ExitCode {
        match UNWRITABLE.get() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.note(format!("error: cannot write to the standard output: {error}"));
                ExitCode::FAILURE
            }
            _ => status,
        }
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json(self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(line) => self.line(line),
            Err(error) => self.note(format!("cannot write the answer as JSON: {error}")),
        }
    }

    /// Prints a value for programs, or what `people` writes for people.
    pub(crate) fn answer(self, value: &impl Serialize, people: impl FnOnce(Self)) {
        if self.json { self.json(value) } else { people(self) }
    }

    /// Tells what was done to a thing: `deleted Tone`.
    pub(crate) fn done(self, what: &str, thing: &(impl Serialize + fmt::Display)) {
        self.answer(&json!({what: thing}), |output| output.line(format!("{what} {thing}")));
    }

    /// Prints a line to the standard error.
    pub(crate) fn note(self, line: impl AsRef<str>) {
        self.remark(&format!("{}\n", line.as_ref()));
    }

    /// Writes a text to the standard error. A failure is ignored: there is nowhere left to report it.
    fn remark(self, text: &str) {
        let mut error = io::stderr().lock();
        let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
    }

    /// Shows progress in one line of a terminal, replacing the previous line.
    pub(crate) fn progress(self, line: &str) {
        if io::stderr().is_terminal() {
            self.remark(&in_place(line));
        }
    }

    /// Clears a terminal, so that what follows takes the place of what stood there.
    pub(crate) fn clear(self) {
        if !self.json && io::stdout().is_terminal() {
            self.write("\u{1b}[H\u{1b}[2J");
        }
    }

    /// Asks for a line at the terminal.
    pub(crate) fn ask(self, question: &str) {
        self.remark(question);
    }

    /// Prints why a command was not done and gives the exit status for it.
    pub(crate) fn failure(self, failure: &Failure) -> ExitCode {
        let Failure { problem, is_wrong_use } = failure;
        if self.json {
            self.json(&json!({"error": problem}));
        } else {
            self.note(format!("error: {}", in_words(problem)));
            problem.hint.iter().for_each(|hint| self.note(format!("hint: {hint}")));
        }
        ExitCode::from(if *is_wrong_use { 2 } else { 1 })
    }

    /// Prints rows with their columns below each other.
    pub(crate) fn table(self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        table(head, &rows.collect::<Vec<_>>()).iter().for_each(|line| self.line(line));
    }

    /// Prints a list with its columns below each other. Where there is nothing in it, a note says so.
    pub(crate) fn list(self, head: &[&str], rows: impl Iterator<Item = Vec<String>>, things: &str) {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return self.note(format!("there are no {things}"));
        }
        self.table(head, rows);
    }

    /// Prints rows with their columns below each other to the standard error.
    pub(crate) fn note_table(self, head: &[&str], rows: &[Vec<String>]) {
        table(head, rows).iter().for_each(|line| self.note(line));
    }

    /// Prints a line that stands out, where colours are wanted.
    pub(crate) fn painted(self, style: Style, line: impl AsRef<str>) {
        self.line(self.paint(style, line));
    }

    /// Makes a text stand out, where colours are wanted.
    pub(crate) fn paint(self, style: Style, text: impl AsRef<str>) -> String {
        let code = match style {
            Style::Name => "1;36",
            Style::Quiet => "2",
            Style::Good => "32",
            Style::Bad => "31",
        };
        let text = text.as_ref();
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// What is wrong, with the names of fields in the place of JSON pointers: `messages[0].content`.
fn in_words(problem: &Problem) -> String {
    // A conflict names its field in its text alone.
    let first = problem.detail.split_once(": ").map(|(first, _)| first.to_owned());
    let first = first.filter(|first| first.starts_with('/') && !first.contains(char::is_whitespace));
    let pointers = problem.errors.iter().map(|fault| &fault.pointer).chain(&problem.pointer).chain(&first);
    pointers.filter(|pointer| !pointer.is_empty()).fold(problem.detail.clone(), |detail, pointer| {
        detail.replace(&format!("{pointer}: "), &format!("{}: ", field(pointer)))
    })
}

/// What is wrong with a part of something, for people.
pub(crate) fn fault_in_words(fault: &Fault) -> String {
    match fault.pointer.is_empty() {
        true => fault.problem.clone(),
        false => format!("{}: {}", field(&fault.pointer), fault.problem),
    }
}

/// The field that a JSON pointer leads to.
fn field(pointer: &str) -> String {
    let mut field = String::new();
    for segment in pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")) {
        match segment.parse::<usize>() {
            Ok(place) if !field.is_empty() => field.push_str(&format!("[{place}]")),
            _ if field.is_empty() => field.push_str(&segment),
            _ => field.push_str(&format!(".{segment}")),
        }
    }
    field
}

/// Whether clap's errors should be JSON.
pub(crate) fn wants_json() -> bool {
    std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json")
}

/// Whether the standard input and the standard error are both terminals.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether the standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// `text` with blanks before each of its lines.
pub(crate) fn indented(text: &str, blanks: &str) -> String {
    text.trim_end().lines().map(|line| format!("{blanks}{line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let head: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    let width = |column: usize| {
        let cells = std::iter::once(&head).chain(rows).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    std::iter::once(&head).chain(rows).map(line).collect()
}

/// How long ago something was.
fn ago(seconds: u64) -> String {
    match seconds {
        0..=59 => "just now".to_owned(),
        60..=3_599 => format!("{} min ago", seconds / 60),
        3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} ago", counted(seconds / 86_400, "day")),
    }
}

/// A line that replaces the current one in a terminal.
fn in_place(line: &str) -> String {
    format!("\r\u{1b}[K{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["longer".to_owned(), String::new()]];
        assert_eq!(table(&["NAME", "N"], &rows), ["NAME    N", "a       1", "longer"]);
    }

    #[test]
    fn people_are_told_the_names_of_fields() {
        let fault = |pointer: &str| callboard_api::Fault { pointer: pointer.to_owned(), detail: "wrong".to_owned() };
        let problem = Problem {
            detail: "/messages/0/message_id: wrong; /a~1b: wrong; see /messages".to_owned(),
            errors: vec![fault("/messages/0/message_id"), fault("/a~1b")],
            ..Problem::default()
        };
        assert_eq!(in_words(&problem), "messages[0].message_id: wrong; a/b: wrong; see /messages");
        let conflict = Problem { detail: "/messages/1/message_id: it is taken".to_owned(), ..Problem::default() };
        assert_eq!(in_words(&conflict), "messages[1].message_id: it is taken");
        let fault = |pointer: &str| Fault { pointer: pointer.to_owned(), problem: "use another".to_owned() };
        let told = [fault(""), fault("/form/fields/0/key")].each_ref().map(fault_in_words);
        assert_eq!(told, ["use another", "form.fields[0].key: use another"]);
    }

    #[test]
    fn people_are_told_how_long_ago_something_was() {
        let told = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 200_000].map(ago);
        let expected =
            ["just now", "just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago", "1 day ago", "2 days ago"];
        assert_eq!(told, expected);
    }

    #[test]
    fn nouns_have_their_plural() {
        assert_eq!([counted(1, "entry"), counted(2, "entry"), counted(0, "key")], ["1 entry", "2 entries", "0 keys"]);
    }

    #[test]
    fn how_far_it_has_come_takes_the_place_of_what_stood_there() {
        assert_eq!(in_place("copied 2 sessions"), "\r\u{1b}[Kcopied 2 sessions");
    }
}
