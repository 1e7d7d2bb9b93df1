//! What the comparison of stores does: commands, and a pair of stores that carries them out.

mod command;
mod pair;

use callboard_store::conformance::Fixture;
use proptest::test_runner::Config;

pub(crate) use self::command::command;
use self::{command::Command, pair::Pair};

/// How often it is tried. `PROPTEST_CASES` says otherwise.
pub(crate) fn config() -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    Config { cases: asked.unwrap_or(96), failure_persistence: None, ..Config::default() }
}

/// Gives the commands to a store of this kind, over so many handles, and to one in memory.
pub(crate) fn compare<F: Fixture>(handles: usize, commands: Vec<Command>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut pair = Pair::<F>::fresh(handles).await;
        for command in commands {
            pair.carry_out(command).await;
        }
        pair.compare_everything().await;
    });
}
