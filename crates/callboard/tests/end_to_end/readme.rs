//! The README and the pages of the documentation are true: what their examples print is what the binary prints. A file in
//! them begins with its name.

use std::process::{Child, Command};

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

#[test]
fn the_examples_of_the_readme_print_what_they_say() {
    let (commands, calls) = try_examples(include_str!("../../../../README.md"));
    assert!(commands >= 6, "only {commands} commands and {calls} calls were found");
}

/// Every page of the book is tried, also one that is new. Each has examples, or is listed here with the reason.
#[test]
fn the_examples_of_the_documentation_print_what_they_say() {
    const WITHOUT: &[&str] = &[
        "SUMMARY.md",
        "browser.md",        // `browser.rs` tries it
        "compression.md",    // shows commands without what they print; `compression.rs` tries them
        "concepts.md",       // words
        "command-line.md",   // `help.rs` tries every command
        "erasure.md",        // `nouns.rs` tries it
        "errors.md",         // the server's tests hold the table
        "names.md",          // the server's tests hold it
        "own-loop.md",       // `examples.rs` runs its program
        "gateway.md",        // the server's `gateway.rs` tries it
        "mcp.md",            // `mcp.rs` and `cargo xtask mcp` try it
        "performance.md",    // `cargo xtask bench` measures it
        "recall-sources.md", // `elsewhere.rs` tries it
        "page.md",           // the tests of the page in `web/` try it
        "rust.md",           // a test of the documentation of `callboard-engine`
        "secrets.md",        // `secrets.rs` tries it
        "stores.md",         // `stores.rs` tries them
    ];
    let mut tried = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".md") {
            continue;
        }
        eprintln!("docs/{name}");
        let (commands, calls) = try_examples(&std::fs::read_to_string(&path).unwrap());
        let has_none = commands + calls == 0;
        assert_eq!(has_none, WITHOUT.contains(&name.as_str()), "docs/{name}: {commands} commands, {calls} calls");
        tried += commands + calls;
    }
    assert!(tried >= 60, "only {tried} examples were found");
}

/// Tries all examples of a page. How many commands and calls it has.
fn try_examples(page: &str) -> (u32, u32) {
    let mut reader = Reader { home: Home::new(), server: None };
    for file in page.split("```toml\n# ").skip(1).filter_map(|rest| rest.split("```").next()) {
        let (name, _) = file.split_once('\n').unwrap();
        reader.home.write(name, format!("# {file}"));
    }
    let (mut commands, mut calls) = (0, 0);
    for block in page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for Example { line, expected } in examples(block) {
            let printed = if let Some(line) = line.strip_prefix("callboard ") {
                commands += 1;
                reader.command(line)
            } else {
                calls += 1;
                reader.call(&line)
            };
            assert!(fits(&printed, expected.trim_end()), "$ {line}\n{printed}\nand not\n{expected}");
        }
    }
    (commands, calls)
}

impl Reader {
    fn command(&mut self, line: &str) -> String {
        if line.starts_with("serve") {
            return self.serve(line);
        }
        let line = self.there(line);
        let done = self.home.run(&if line.contains('\'') { line } else { line.replace('"', "'") });
        // The standard error also says which session is meant, and sums a prompt up.
        let errors: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("error:")).collect();
        self.home.normal(&format!("{}{}", done.stdout, errors.join("\n")))
    }

    /// Starts a server on a free port, and gives what it says as if it were the usual one.
    fn serve(&mut self, line: &str) -> String {
        let mut server = self.home.start(&format!("{line} --listen 127.0.0.1:0"));
        let said: Vec<_> = lines(&mut server).take(3).collect();
        let address = said[0].split_once("://").unwrap().1.to_owned();
        let said = said.join("\n").replace(&address, ADDRESS);
        self.server = Some((server, address));
        said
    }

    /// Runs a line of the shell.
    fn call(&self, line: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-c", &self.there(line)]).env("no_proxy", "*").current_dir(self.home.path(""));
        let output = shell.output().unwrap();
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "$ {line}\n{wrong}\nthis needs curl 7.82 or newer");
        self.home.normal(&String::from_utf8(output.stdout).unwrap())
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
