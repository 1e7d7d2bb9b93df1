//! Callboard on the command line.

mod atomic;
mod because;
mod chosen;
mod cli;
mod client;
mod commands;
mod config;
mod failure;
mod master_keys;
mod output;
mod parse;
mod remark;
mod signals;
mod similar;
mod team_file;
mod terminal;
mod which;

use std::{ffi::OsString, process::ExitCode};

use clap::{
    FromArgMatches as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    cli::Global,
    commands::{Cli, Command},
    failure::Failure,
    output::Output,
};

/// Faster than the system's allocator for many small, short-lived allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match parsed(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return refused(error),
    };
    let output = Output::new(cli.global.json, config::wants_colours()).with_exact_times(cli.global.utc);
    let Some(command) = cli.command else {
        // An error here cannot be reported: there is no output left to report it on.
        let _ = commands::command_in_short().print_help();
        return ExitCode::SUCCESS;
    };
    // A server prints only its address, and runs on where that could not be printed.
    let is_server = matches!(command, Command::Serve(_));
    let status = run(&cli.global, command, output).unwrap_or_else(|failure| output.failure(&failure));
    if is_server { status } else { output.finished(status) }
}

/// Reads the command line. A noun without a command of its own lists or shows what there is.
fn parsed(mut words: Vec<OsString>) -> Result<Cli, clap::Error> {
    // `help` has no options: whoever asks for its help is helped.
    if let [_, help, .., asked] = words.as_slice()
        && help == "help"
        && (asked == "--help" || asked == "-h")
    {
        words.pop();
    }
    let error = match read(&words) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let meant = |word: &OsString| commands::of_noun_alone(&word.to_string_lossy());
    let mut nouns = words.iter().enumerate().skip(1).map(|(at, word)| (at + 1, meant(word)));
    let Some((behind, meant)) = nouns.find(|(_, meant)| !meant.is_empty()) else { return Err(error) };
    if !is_alone(&error, words.get(behind)) {
        return Err(error);
    }
    let with = |command: &&str| {
        let mut words = words.clone();
        words.insert(behind, OsString::from(command));
        read(&words).ok()
    };
    // The one that takes the options behind the noun is meant.
    meant.iter().find_map(with).ok_or(error)
}

fn read(words: &[OsString]) -> Result<Cli, clap::Error> {
    // Nothing else differs with -h than what the help says.
    let in_short = words.iter().take_while(|word| *word != "--").any(|word| word == "-h");
    let command = if in_short { commands::command_in_short() } else { commands::command() };
    let words = command.try_get_matches_from(words)?;
    Cli::from_arg_matches(&words)
}

/// Whether a noun has no command of its own behind it: nothing, or an option.
fn is_alone(error: &clap::Error, next: Option<&OsString>) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand, UnknownArgument};
    matches!(error.kind(), MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand | UnknownArgument)
        && next.is_none_or(|word| word.to_string_lossy().starts_with('-'))
}

/// Help and the version are not errors; anything else that clap reports is wrong use.
fn refused(mut error: clap::Error) -> ExitCode {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        // What clap finds similar often is not.
        let similar = similar::commands(typed, &error);
        error.remove(ContextKind::SuggestedSubcommand);
        if !similar.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(similar));
        }
    }
    if acts_as_agent(&error) {
        let failure = Failure::usage("usage", "--as is for commands on a session; all others are run as the user");
        let hint = "leave it out, or see for instance `callboard messages --as AGENT`";
        return Output::new(output::wants_json(), config::wants_colours()).failure(&failure.hint(hint));
    }
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !asked && output::wants_json() {
        let what = error.render().to_string();
        let what = what.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        return Output::new(true, false).failure(&Failure::usage("usage", what));
    }
    let _ = error.print();
    if asked { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// Whether `--as` was given to a command that has no such option.
fn acts_as_agent(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::UnknownArgument
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(arg)) if arg == "--as" || arg == "-a")
}

fn run(global: &Global, command: Command, output: Output) -> Result<ExitCode, Failure> {
    config::start_log(matches!(command, Command::Serve(_)));
    if let Command::Files(files) = command {
        // Context files are on this disk: no runtime is needed.
        return commands::files::execute(files, output);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed("no_runtime", format!("cannot start threads: {error}")))?;
    runtime.block_on(commands::execute(global, command, output))
}
