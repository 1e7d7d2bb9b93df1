//! `callboard store`.

use clap::{Args, Subcommand};

const CHECK_EXAMPLES: &str = "\
Examples:
  callboard store check
  callboard store check postgres://me@db.example/board --json

It reads every entry: whether it follows on the one before by number, tag and data, whether its
long texts and the keys it claims are there, and whether the session expires when its journal
lets it. Exit status 1 where anything is wrong.";

const COPY_EXAMPLES: &str = "\
Examples:
  callboard store copy sqlite:callboard.db postgres://me@db.example/board
  callboard store copy redis://old.example 'redis-rest+https://new.example?token_file=t.txt'

All that FROM holds comes along: journals byte for byte, long texts, tokens, keys of requests, and
when sessions expire. What TO has already is continued where it begins in the same way: the same
command goes on where it was interrupted, by whatever means, and brings later what is new in FROM.
A session that differs is named and stays as it is; the others are copied. In the end TO is checked.
Exit status 1 where anything is not in TO.

FROM may be in use meanwhile. To move, end its servers before the last run, and start those of TO
behind it: they take up the runs that go on. The key that signs tokens is not in the store but in
the folder of `callboard serve --data`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Check all that a store holds
    #[command(after_help = CHECK_EXAMPLES)]
    Check(StoreCheck),
    /// Copy all that a store holds into another one, of any kind
    #[command(after_help = COPY_EXAMPLES)]
    Copy(StoreCopy),
}

/// Check all that a store holds
#[derive(Args, Debug)]
pub(crate) struct StoreCheck {
    /// The store; by default that of --store
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
}

/// Copy all that a store holds into another one, of any kind
#[derive(Args, Debug)]
pub(crate) struct StoreCopy {
    /// The store that has the sessions
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// The store that gets them
    #[arg(value_name = "TO")]
    pub(crate) to: String,
}
