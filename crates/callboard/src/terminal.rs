//! Lines from the standard input.

use std::io::{self, BufRead as _, Read as _};

use tokio::sync::mpsc;

use crate::failure::Failure;

/// Lines as they are typed. A separate thread reads them, so that a missing line blocks nothing else.
pub(crate) struct Lines(mpsc::Receiver<String>);

impl Lines {
    pub(crate) fn start() -> Self {
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(lines)
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.0.recv().await
    }
}

/// A text argument; `-` reads it from the standard input.
pub(crate) fn text(word: &str) -> Result<String, Failure> {
    match word {
        "-" => all(),
        word => Ok(word.to_owned()),
    }
}

/// All of the standard input.
pub(crate) fn all() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed("unreadable", format!("cannot read the standard input: {error}")))?;
    utf8(bytes, "the standard input")
}

/// All of a file.
pub(crate) fn file(path: &std::path::Path) -> Result<String, Failure> {
    let failed = |error: io::Error| {
        let failure = Failure::failed("unreadable", format!("cannot read {}: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::NotFound => failure.hint("check the path"),
            _ => failure,
        }
    };
    utf8(std::fs::read(path).map_err(failed)?, &path.display().to_string())
}

/// All of a file; `-` is the standard input.
pub(crate) fn input(path: &std::path::Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" { all() } else { file(path) }
}

/// The same for a command that takes a file, or `-`, but no text.
pub(crate) fn text_in(path: &std::path::Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" {
        return all();
    }
    file(path).map_err(|failure| failure.hint("name a file, or use - and pipe the text to the standard input"))
}

fn utf8(bytes: Vec<u8>, what: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::failed("not_utf8", format!("{what} is not UTF-8 text: invalid byte at offset {at}"))
            .hint("convert it to UTF-8")
    })
}
