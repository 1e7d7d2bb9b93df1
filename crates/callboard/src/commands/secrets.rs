//! `callboard secrets`: the master key under which the keys of sessions are stored, and secrets that are to be none.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use callboard_api as api;
use callboard_engine::{Board, MasterKey, MasterKeys, core::id::VariableName, store::Lease};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::{
    cli::{Global, On},
    config,
    failure::Failure,
    master_keys::{self, VARIABLE, failure},
    output::{Output, counted},
};

const ROTATE_EXAMPLES: &str = "\
Examples:
  callboard secrets rotate
  callboard secrets rotate --store postgres://me@db.example/board --data /var/lib/callboard
  CALLBOARD_MASTER_KEY=NEW,OLD callboard secrets rotate

It makes a new master key in the key file, wraps the key of each session under it, and removes the \
old one. Servers can keep running: they read the file again. If the command is interrupted, all \
secrets can still be read; run it again to continue. With CALLBOARD_MASTER_KEY, put the new key \
before the old one, for the servers too, and remove the old one afterwards.";

const RESTORE_EXAMPLES: &str = "\
Examples:
  callboard secrets restore greeting
  callboard secrets restore greeting --session demo --reason \"it is no password\"

The variable is no secret any more, and its value stands again wherever it was hidden.";

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Replace the master key: wrap the keys of all sessions under a new one
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate {
        /// The folder with the key file (default: that of the SQLite file)
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Go on with a new key although the old one is lost, and with it all that it sealed
        #[arg(long)]
        lost: bool,
    },
    /// Put a value back that was marked as a secret by mistake
    #[command(after_help = RESTORE_EXAMPLES)]
    Restore {
        #[command(flatten)]
        on: On,
        /// The name of the variable, or of the secrets in a call, such as call:c1.result
        name: VariableName,
        /// Why, for the journal
        #[arg(long, value_name = "TEXT", default_value = "it is no secret")]
        reason: String,
    },
}

pub(super) async fn restore(context: &Context, on: &On, name: VariableName, reason: String) -> Result<(), Failure> {
    let body = api::RestoreSecret { name, reason: reason.into() };
    let call = context.post(on, &["secrets", "restore"], &body).await?;
    call.print(context.output, |done: &api::RestoredSecret, output| {
        let entries = counted(done.entries.len(), "entry");
        output.line(format!("{} is no secret any more; its value stands again in {entries}", done.name));
    })
    .await
}

pub(super) async fn rotate(
    global: &Global,
    data: Option<&Path>,
    lost: bool,
    output: Output,
) -> Result<ExitCode, Failure> {
    if global.url.is_some() {
        return Err(Failure::usage("usage", "keys are rotated on the store, not on a server: use --store"));
    }
    let url = config::store_url(global)?;
    let file = master_keys::file_of(&url, data);
    let keys: Arc<dyn MasterKeys> = master_keys::of(&url, data);
    let is_absent = file.as_ref().is_some_and(|file| matches!(file.read(), Ok(None)));
    if is_absent && !lost {
        let board = open(&url, global, keys.clone()).await?;
        let checked = board.check_master_keys().await;
        board.close().await;
        checked?;
        output.answer(&json!({"rewrapped": 0, "failed": []}), |output| {
            output.line("there is no key to rotate: the first secret makes one");
        });
        return Ok(ExitCode::SUCCESS);
    }
    let mut known = match (keys.keys(), &file) {
        (Err(_), Some(_)) if lost => Vec::new(),
        (known, _) => known.map_err(failure)?,
    };
    if let Some(file) = &file
        && (known.is_empty() || (known.len() == 1 && !lost))
    {
        let new = MasterKey::random().ok_or_else(|| failure("this machine has no randomness".to_owned()))?;
        known.insert(0, new);
        file.write(&known, true).map_err(failure)?;
    }
    let board = open(&url, global, keys).await?;
    let mut rewrapped = 0;
    // A server may have made a key with the old master key meanwhile: a round in which nothing is left ends it.
    let failed = loop {
        let round = rewrap_all(&board).await?;
        rewrapped += round.rewrapped;
        if round.rewrapped == 0 {
            break round.failed;
        }
    };
    if failed.is_empty() || lost {
        board.note_master_key().await?;
    }
    board.close().await;
    if let (Some(file), true) = (&file, failed.is_empty()) {
        known.truncate(1);
        file.write(&known, true).map_err(failure)?;
    }
    report(output, rewrapped, &failed, file.is_some(), lost);
    Ok(if failed.is_empty() || lost { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The board of a store, which sweeps nothing.
async fn open(url: &str, global: &Global, master_keys: Arc<dyn MasterKeys>) -> Result<Board, Failure> {
    let store = callboard_store::open(url, config::store_settings(global)).await?;
    let lease = Lease::unheld();
    Ok(Board::new(store, callboard_engine::Settings { lease, sweep: None, master_keys, ..Default::default() }))
}

/// What became of the sessions in one round.
struct Round {
    rewrapped: usize,
    /// Sessions whose key could not be wrapped anew, with why.
    failed: Vec<(String, String)>,
}

async fn rewrap_all(board: &Board) -> Result<Round, Failure> {
    let mut round = Round { rewrapped: 0, failed: Vec::new() };
    let mut after = None;
    loop {
        let page = board.store().sessions(after.as_ref(), 100).await?;
        let Some((last, _)) = page.last() else { return Ok(round) };
        after = Some(last.clone());
        for (id, _) in &page {
            let done = match board.session(id).await {
                Ok(session) => session.rewrap_key().await,
                Err(error) => Err(error),
            };
            match done {
                Ok(done) => round.rewrapped += usize::from(done),
                // It has gone meanwhile.
                Err(error) if error.code() == "not_found" => {}
                Err(error) => round.failed.push((id.to_string(), error.to_string())),
            }
        }
    }
}

fn report(output: Output, rewrapped: usize, failed: &[(String, String)], in_file: bool, lost: bool) {
    if output.json {
        let failed: Vec<_> = failed.iter().map(|(session, why)| json!({"session": session, "detail": why})).collect();
        return output.json(&json!({"rewrapped": rewrapped, "failed": failed}));
    }
    output.line(format!("wrapped under the new master key: {} of sessions", counted(rewrapped, "key")));
    for (session, why) in failed {
        output.note(format!("{session}: {why}"));
    }
    if !failed.is_empty() && !lost {
        output.note("the old master key is kept until all keys are wrapped: repeat the command");
    } else if !in_file {
        output.note(format!("remove the old key from {VARIABLE}"));
    }
}
