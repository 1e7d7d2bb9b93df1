//! Benchmarks of the speed and memory that Callboard promises.
//!
//! Each benchmark is a module with one function that fills a [`Report`]. If possible, a promise is a ratio of two
//! measurements of the same run, so that it holds on any machine. `--quick` uses little data: it shows that the benchmarks
//! work, and its figures mean nothing.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to whoever runs it")]

mod append;
mod bare;
mod board;
mod client;
mod director;
mod fanout;
mod files;
mod gateway;
mod growth;
mod http;
mod idle;
mod open;
mod page;
mod prompt;
mod read;
mod recall;
mod report;
mod rounds;
mod served;
mod size;
mod snapshot;
mod stores;
mod survive;
mod sweep;
mod timing;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::report::Report;

/// The allocator of the binary, so that memory is measured as there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure what is promised of speed and memory.
#[derive(Parser)]
struct Arguments {
    /// What to measure; all of it where nothing is named
    measures: Vec<Measure>,
    /// Measure on little data, to see that the measures work
    #[arg(long)]
    quick: bool,
    /// Only open so many sessions and print by how many kilobytes that makes the process grow
    #[arg(long, hide = true)]
    idle_sessions: Option<usize>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// How fast sessions take messages.
    Append,
    /// How fast messages are taken over HTTP.
    Http,
    /// Whether an append costs more the longer the history is.
    Growth,
    /// How long it takes to open a long session.
    Open,
    /// How much memory idle sessions take.
    Idle,
    /// How long it takes until all who listen have heard.
    Fanout,
    /// How large the file of a store is.
    Size,
    /// How long a prompt takes.
    Prompt,
    /// How long what a director needs takes: its prompt, hiding secrets, and compressing.
    Director,
    /// What is left of a long conversation: facts, the beginnings of prompts, and the newest messages.
    Survive,
    /// How long a page of messages takes.
    Page,
    /// How long reads over HTTP take.
    Read,
    /// How much later answers begin through a base URL.
    Gateway,
    /// How fast texts are indexed and found.
    Recall,
    /// How fast sessions take messages on Postgres and on Redis.
    Stores,
    /// For how long a sweep of expired sessions holds up others.
    Sweep,
    /// How long context files take.
    Files,
    /// How long it takes to read a large page in a browser, and until a change is known; and whether others are slowed down.
    Snapshot,
}

/// How much data is used.
#[derive(Clone, Copy, Debug)]
struct Scale {
    quick: bool,
}

impl Scale {
    /// `full`, or a small part of it with `--quick`.
    fn of(self, full: usize) -> usize {
        if self.quick { (full / 500).max(32).min(full) } else { full }
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let measures = match arguments.measures.as_slice() {
        [] => Measure::value_variants(),
        named => named,
    };
    let scale = Scale { quick: arguments.quick };
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(sessions) = arguments.idle_sessions {
        let grown = runtime.block_on(idle::growth(sessions))?;
        println!("{}", grown.map_or_else(|| "unknown".to_owned(), |kilobytes| kilobytes.to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    for measure in measures {
        eprintln!(
            "measuring {}",
            measure.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
        );
        runtime.block_on(run(*measure, scale, &mut report))?;
    }
    report.print_table();
    Ok(ExitCode::SUCCESS)
}

async fn run(measure: Measure, scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    match measure {
        Measure::Append => append::measure(scale, report).await,
        Measure::Http => http::measure(scale, report).await,
        Measure::Growth => growth::measure(scale, report).await,
        Measure::Open => open::measure(scale, report).await,
        Measure::Idle => idle::measure(scale, report).await,
        Measure::Fanout => fanout::measure(scale, report).await,
        Measure::Size => size::measure(scale, report).await,
        Measure::Prompt => prompt::measure(scale, report).await,
        Measure::Director => director::measure(scale, report).await,
        Measure::Survive => survive::measure(scale, report).await,
        Measure::Page => page::measure(scale, report).await,
        Measure::Read => read::measure(scale, report).await,
        Measure::Gateway => gateway::measure(scale, report).await,
        Measure::Recall => recall::measure(scale, report).await,
        Measure::Stores => stores::measure(scale, report).await,
        Measure::Sweep => sweep::measure(scale, report).await,
        Measure::Files => files::measure(scale, report),
        Measure::Snapshot => snapshot::measure(scale, report).await,
    }
}
