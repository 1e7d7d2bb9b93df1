//! The README and the pages of the documentation are true: what their examples print is what the binary prints. A file in
//! them begins with its name.

use std::{collections::BTreeMap, fs, iter, path::Path, process::Child};

use crate::{home::Home, server::lines};

/// Where a server of a page listens.
const ADDRESS: &str = "127.0.0.1:7420";

/// A command of a page, and what it says that it prints.
struct Example {
    line: String,
    expected: String,
}

/// Whoever tries the examples, with the server that one of them starts.
struct Reader {
    home: Home,
    server: Option<(Child, String)>,
}

/// The README and then every page of the book, in its order and in one home, as somebody types them. Each has examples,
/// or is listed here with the reason.
#[test]
fn the_examples_print_what_they_say_one_page_after_the_other() {
    const WITHOUT: &[&str] = &[
        "concepts.md",       // words
        "own-loop.md",       // `examples.rs` runs its program
        "browser.md",        // needs Chromium: `browser.rs` tries it
        "recall-sources.md", // needs a model and a service: `elsewhere.rs` tries it
        "page.md",           // the tests of the page in `web/` try it
        "command-line.md",   // `help.rs` tries every command
        "errors.md",         // the server's tests hold the table
        "mcp.md",            // needs clients: `mcp.rs` and `cargo xtask mcp` try it and the pages of clients
        "gateway.md",        // needs a model: the server's `gateway.rs` tries it
        "rust.md",           // a test of the documentation of `callboard-engine`
        "stores.md",         // needs databases: `stores.rs` tries them
        "secrets.md",        // words and calls: `secrets.rs` tries it
        "performance.md",    // `cargo xtask bench` measures it
        "names.md",          // the server's tests hold it
    ];
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let summary = fs::read_to_string(repository.join("docs/SUMMARY.md")).unwrap();
    let pages =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(|name| format!("docs/{name}"));
    let mut reader = Reader { home: Home::new(), server: None };
    let mut made_by = BTreeMap::new();
    let mut tried = 0;
    for name in iter::once("README.md".to_owned()).chain(pages) {
        eprintln!("{name}");
        let page = fs::read_to_string(repository.join(&name)).unwrap();
        for id in new_sessions(&page) {
            let other = made_by.insert(id.to_owned(), name.clone());
            assert_eq!(other, None, "{name} makes the session {id}, too");
        }
        let count = reader.try_examples(&page);
        let short = name.trim_start_matches("docs/");
        let has_none = WITHOUT.contains(&short) || short.starts_with("clients/");
        assert_eq!(count == 0, has_none, "{name}: {count} examples");
        tried += count;
    }
    assert!(tried >= 120, "only {tried} examples were found");
}

/// The sessions that a page makes, also in commands that are not tried.
fn new_sessions(page: &str) -> impl Iterator<Item = &str> {
    let commands = page.lines().map(|line| line.trim_start_matches("$ "));
    let made = commands.filter(|line| line.starts_with("callboard session new "));
    made.filter_map(|line| line.split("--id ").nth(1)?.split_whitespace().next())
}

impl Reader {
    /// Tries all examples of a page. How many it has.
    fn try_examples(&mut self, page: &str) -> usize {
        for file in page.split("```toml\n# ").skip(1).filter_map(|rest| rest.split("```").next()) {
            let (name, _) = file.split_once('\n').unwrap();
            self.home.write(name, format!("# {file}"));
        }
        let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
        let examples: Vec<_> = blocks.flat_map(examples).collect();
        for Example { line, expected } in &examples {
            let printed = match line.strip_prefix("callboard serve") {
                Some(options) => self.serve(options),
                None => self.run(line),
            };
            assert!(fits(&printed, expected.trim_end()), "$ {line}\n{printed}\nand not\n{expected}");
        }
        examples.len()
    }

    /// Starts a server on a free port, and gives what it says as if it were the usual one.
    fn serve(&mut self, options: &str) -> String {
        assert!(self.server.is_none(), "one page after the other uses one server");
        let mut server = self.home.start(&format!("serve{options} --listen 127.0.0.1:0"));
        let said: Vec<_> = lines(&mut server).take(3).collect();
        let address = said[0].split_once("://").unwrap().1.to_owned();
        let said = said.join("\n").replace(&address, ADDRESS);
        self.server = Some((server, address));
        said
    }

    /// Runs a line of the shell.
    fn run(&self, line: &str) -> String {
        let done = self.home.shell(&self.there(line));
        let is_callboard = line.starts_with("callboard ");
        assert!(is_callboard || done.status == 0, "$ {line}\n{}\nthis needs curl 7.82 or newer", done.stderr);
        // The standard error also says which session is meant, and sums a prompt up.
        let errors: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("error:")).collect();
        self.home.normal(&format!("{}{}", done.stdout, errors.join("\n")))
    }

    /// A line for the server that runs.
    fn there(&self, line: &str) -> String {
        self.server.as_ref().map_or_else(|| line.to_owned(), |(_, address)| line.replace(ADDRESS, address))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some((server, _)) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The examples of a block. A command goes on over lines as long as its quotes are open.
fn examples(block: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in block.lines() {
        let is_open = |example: &Example| example.line.matches('\'').count() % 2 == 1;
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(line), _) => examples.push(Example { line: line.to_owned(), expected: String::new() }),
            (None, Some(last)) if is_open(last) => last.line += &format!("\n{line}"),
            (None, Some(last)) => last.expected += &format!("{line}\n"),
            (None, None) => panic!("a block begins with a command: {line}"),
        }
    }
    examples
}

/// Whether `printed` is what `expected` says, where `...` stands for anything.
fn fits(printed: &str, expected: &str) -> bool {
    let mut rest = printed.trim_end();
    let pieces: Vec<_> = expected.split("...").map(|piece| piece.trim_matches('\n')).collect();
    let starts = pieces.first().is_none_or(|first| rest.starts_with(first));
    let whole = pieces.len() > 1 || rest == expected;
    starts
        && whole
        && pieces.iter().all(|piece| match rest.split_once(piece) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}
