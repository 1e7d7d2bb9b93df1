//! `callboard completion`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::output::Output;

pub(super) fn print(shell: Shell, output: Output) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "callboard", &mut script);
    output.write(&String::from_utf8_lossy(&script));
}
