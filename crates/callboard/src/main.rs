//! Callboard on the command line.

mod cli;
mod client;
mod commands;
mod config;
mod failure;
mod output;
mod parse;
mod signals;
mod team_file;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};

use crate::{
    cli::Global,
    commands::{Cli, Command},
    failure::Failure,
    output::Output,
};

/// Faster than the system's where many small things come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let output = Output::new(cli.global.json, config::wants_colours());
    let Some(command) = cli.command else {
        // Nobody is left to be told where it cannot be printed.
        let _ = Cli::command().print_help();
        return ExitCode::SUCCESS;
    };
    // A server has nothing to print but where it listens.
    let is_server = matches!(command, Command::Serve(_));
    let status = run(&cli.global, command, output).unwrap_or_else(|failure| output.failure(&failure));
    if is_server { status } else { output.finished(status) }
}

/// Help and the version are answers; anything else that clap has to say is wrong use.
fn refused(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !asked && output::wants_json() {
        let what = error.render().to_string();
        let what = what.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        return Output::new(true, false).failure(&Failure::usage("usage", what));
    }
    let _ = error.print();
    if asked { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

fn run(global: &Global, command: Command, output: Output) -> Result<ExitCode, Failure> {
    config::start_log();
    if let Command::Files(files) = command {
        // They are on this disk: what works with them needs no threads.
        return commands::files::execute(files, output);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed("no_runtime", format!("cannot start threads: {error}")))?;
    runtime.block_on(commands::execute(global, command, output))
}
