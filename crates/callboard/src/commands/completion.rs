//! `callboard completion`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{cli::Cli, output::Output};

pub(super) fn print(shell: Shell, output: Output) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "callboard", &mut script);
    output.write(&String::from_utf8_lossy(&script));
}
