//! Chores of the Callboard repository: `cargo xtask help` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever runs them")]

mod audit;
mod binary;
mod book;
mod cache;
mod check;
mod command;
mod databases;
mod demo;
mod mcp;
mod nextest;
mod npm;
mod page;
mod progress;
mod python;
mod schema;
mod served;
mod server;
mod services;
mod steps;
mod weights;

use std::process::ExitCode;

use anyhow::bail;

use crate::steps::Steps;
use crate::weights::Weights;

const HELP: &str = "\
Chores of the Callboard repository

Usage: cargo xtask CHORE

  demo [ARGUMENTS]   show a team at work on a real model; with ARGUMENTS, run `callboard run` with them on the demo's store
  test [ARGUMENTS]   install what the tests need, then run all tests; takes arguments for `cargo nextest run`; with
                     `--explore` first, property tests look at other cases than last time
  bench [ARGUMENTS]  measure speed and memory; see `cargo xtask bench --help`
  recall FILE        measure how well recall finds what answers questions; `--misses` also shows what it does not find,
                     `--embedder URL MODEL` adds vectors of an endpoint with OpenAI's /v1/embeddings, and
                     `--folder FOLDER` those of a model in a folder
  schema [ARGUMENTS] test the server with calls generated from the OpenAPI document; takes arguments for `schemathesis run`
  mcp                test the door for clients of the Model Context Protocol: the conformance suite and the
                     official clients; and the base URL with OpenAI's and Anthropic's, also with a small model
  lint               check formatting, clippy, documentation, licences and dependencies between crates
  book               check the links of the documentation, and build it as a book in target/book
  page [OPTION]      build the page from web/, with npm; --check compares it with what is committed, --test runs its tests in
                     Chromium, --screenshots writes docs/page/*.png, --speed measures how fast it is
  trial [CHECK]      try Callboard as a newcomer does: in a clean clone and home, item by item, and print what passed
  audit              check licences, sources and dependencies between crates only
  ci                 lint, then test, then try Callboard as a newcomer does
  setup [MODEL]      download a small model, its server and a model of vectors, and install the databases and programs that
                     the tests need
  model [MODEL]      run a small model's server until Ctrl-C

MODEL is 0.5b (what the tests use) or 1.5b (what the demo uses). Models and their server are kept in the user's cache
folder, `callboard` in $XDG_CACHE_HOME or ~/.cache; delete it to remove them.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((chore, rest)) => run(chore, rest),
        None => run("help", &[]),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(chore: &str, arguments: &[String]) -> anyhow::Result<ExitCode> {
    match chore {
        "demo" => return demo::demo(arguments),
        "test" => check::test(arguments, &mut Steps::default())?,
        "schema" => schema::check(arguments)?,
        "mcp" => mcp::check().and_then(|()| mcp::check_with_model())?,
        "book" => book::build()?,
        "page" => page::page(arguments)?,
        "trial" => check::trial(arguments)?,
        "bench" => check::bench(arguments)?,
        "recall" => check::recall(arguments)?,
        "lint" => check::lint(&mut Steps::default())?,
        "audit" => audit::audit()?,
        "ci" => check::ci()?,
        "setup" => setup(&model(arguments)?)?,
        "model" => server::serve(&model(arguments)?)?,
        "help" | "--help" | "-h" => println!("{HELP}"),
        other => bail!("there is no chore `{other}`; `cargo xtask help` lists them"),
    }
    Ok(ExitCode::SUCCESS)
}

fn model(arguments: &[String]) -> anyhow::Result<Weights> {
    match arguments.iter().map(String::as_str).filter(|word| *word != "--model").collect::<Vec<_>>()[..] {
        [] => weights::named("0.5b"),
        [name] => weights::named(name),
        _ => bail!("one model at a time: 0.5b or 1.5b"),
    }
}

fn setup(weights: &Weights) -> anyhow::Result<()> {
    println!("{}", server::bring(weights)?.folder().display());
    println!("{}", weights.bring()?.display());
    println!("{}", weights::embedder()?.display());
    npm::EXAMPLE.bring()?;
    services::bring()
}
