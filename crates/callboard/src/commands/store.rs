//! `callboard store`: commands on all sessions of a store, which do not go through the API.

use std::{process::ExitCode, sync::Arc, time::Duration};

use callboard_engine::{Progress, Survey};
use callboard_store::{Durability, Settings};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::{
    cli::Global,
    config,
    failure::{Failure, causes},
    output::{Output, Style, counted},
};

const CHECK_EXAMPLES: &str = "\
Examples:
  callboard store check
  callboard store check postgres://me@db.example/board --json

It reads every entry and checks that its number, tag and data follow from the entry before, that its \
long texts and keys are stored, and that the session expires when its journal says. \
The exit status is 1 if there is any fault.";

const COPY_EXAMPLES: &str = "\
Examples:
  callboard store copy sqlite:callboard.db postgres://me@db.example/board
  callboard store copy redis://old.example 'redis-rest+https://new.example?token_file=t.txt'

It copies everything in FROM: journals byte for byte, long texts, tokens, keys of requests, and \
expiry times. Repeat the command to continue an interrupted copy, or to add what is new in FROM: a \
session in TO that begins like the one in FROM is continued. A session that differs is reported and \
left alone; the others are copied. At the end TO is checked. \
The exit status is 1 if anything is missing in TO.

FROM may be in use during the copy. To move to TO, stop the servers of FROM, run the command once \
more, and start the servers of TO: they continue the active runs. The key that signs tokens is not \
in the store but in the folder of `callboard serve --data`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Check everything in a store
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// The store (default: that of --store)
        #[arg(value_name = "URL")]
        url: Option<String>,
    },
    /// Copy a store into another one, of any kind
    #[command(after_help = COPY_EXAMPLES)]
    Copy {
        /// The store to copy
        #[arg(value_name = "FROM")]
        from: String,
        /// The store to copy into
        #[arg(value_name = "TO")]
        to: String,
    },
}

type OpenStore = Arc<dyn callboard_store::Store>;

/// How often progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

pub(super) async fn execute(global: &Global, command: Store, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Store::Check { url } => check(&url.map_or_else(|| config::store_url(global), Ok)?, output).await,
        Store::Copy { from, to } => copy(global, &from, &to, output).await,
    }
}

async fn check(url: &str, output: Output) -> Result<ExitCode, Failure> {
    let store = open_existing(url).await?;
    let progress = Progress::default();
    let found = show_progress(output, "checked", &progress, callboard_engine::check(&store, &progress)).await?;
    let counts = format!("intact: {}, with {}", counted(found.sessions, "session"), counted(found.entries, "entry"));
    answer(output, &found, json!({"store": config::shown(url)}), &counts)
}

async fn copy(global: &Global, from_url: &str, to_url: &str, output: Output) -> Result<ExitCode, Failure> {
    if from_url == to_url {
        return Err(Failure::usage("usage", "FROM and TO are the same store: give two different ones"));
    }
    if to_url == "memory:" {
        return Err(Failure::usage("usage", "memory: is lost when this command ends: give another TO"));
    }
    let from = open_existing(from_url).await?;
    let to = callboard_store::open(to_url, config::store_settings(global)).await?;
    let progress = Progress::default();
    let copied = show_progress(output, "copied", &progress, callboard_engine::copy(&from, &to, &progress)).await?;
    let progress = Progress::default();
    let mut found =
        show_progress(output, "checked", &progress, callboard_engine::check_copy(&from, &to, &progress)).await?;
    // The copy's faults replace those of the check, since they say why something is missing.
    found.faults.extend(copied.faults);
    let more = json!({
        "from": config::shown(from_url), "to": config::shown(to_url), "copied_entries": copied.entries,
    });
    let (sessions, entries) = (counted(found.sessions, "session"), counted(found.entries, "entry"));
    let new = counted(copied.entries, "entry");
    answer(output, &found, more, &format!("the store TO was checked: {sessions}, with {entries}; new: {new}"))
}

/// Opens a store for reading. A missing SQLite file is an error: it is not created.
async fn open_existing(url: &str) -> Result<OpenStore, Failure> {
    if url == "memory:" {
        return Err(Failure::usage("usage", "memory: is empty when a command begins: give a durable store"));
    }
    if let Some(path) = config::sqlite_path(url).filter(|path| !path.exists()) {
        return Err(Failure::failed("store_cannot_open", format!("there is no file {}", path.display()))
            .hint("give sqlite:PATH with the path of an existing store"));
    }
    // Nothing is written, so no durability is needed.
    let settings = Settings { durability: Durability::Process, ..Settings::default() };
    Ok(callboard_store::open(url, settings).await?)
}

/// Waits for `work` and shows its progress at a terminal.
async fn show_progress<T>(
    output: Output,
    done: &str,
    progress: &Progress,
    work: impl Future<Output = Result<T, callboard_engine::Error>>,
) -> Result<T, Failure> {
    let ended = telling(work, || output.progress(&so_far(done, progress))).await;
    output.progress("");
    ended.map_err(|error| {
        Failure::failed(error.code(), causes(&error)).hint("run the command again: it continues where it stopped")
    })
}

/// Waits for `work` and calls `tell` at intervals.
async fn telling<T>(work: impl Future<Output = T>, mut tell: impl FnMut()) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            ended = &mut work => return ended,
            () = tokio::time::sleep(PROGRESS_INTERVAL) => tell(),
        }
    }
}

fn so_far(done: &str, progress: &Progress) -> String {
    format!("{done} {}, {}", counted(progress.sessions(), "session"), counted(progress.entries(), "entry"))
}

/// Prints the counts and the faults.
fn answer(output: Output, found: &Survey, mut json: Value, counts: &str) -> Result<ExitCode, Failure> {
    let ok = found.faults.is_empty();
    if let Value::Object(fields) = &mut json {
        let faults: Vec<_> = found.faults.iter().map(|(id, detail)| json!({"session": id, "detail": detail})).collect();
        fields.insert("ok".to_owned(), ok.into());
        fields.insert("sessions".to_owned(), found.sessions.into());
        fields.insert("entries".to_owned(), found.entries.into());
        fields.insert("faults".to_owned(), faults.into());
    }
    output.answer(&json, |output| {
        output.line(counts);
        for (id, detail) in &found.faults {
            output.line(format!("{} session {id}: {detail}", output.paint(Style::Bad, "WRONG")));
        }
    });
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use callboard_engine::{Board, NewBoardSession};
    use tokio::sync::Notify;

    use super::*;

    async fn memory() -> OpenStore {
        callboard_store::open("memory:", Settings::default()).await.unwrap()
    }

    #[tokio::test]
    async fn how_far_it_has_come_counts_sessions_and_entries() {
        let (from, to) = (memory().await, memory().await);
        let board = Board::new(from.clone(), callboard_engine::Settings::default());
        for id in ["a", "b"] {
            let id = Some(id.parse().unwrap());
            board.create(NewBoardSession { id, ..NewBoardSession::default() }).await.unwrap();
        }
        let progress = Progress::default();
        assert_eq!(so_far("copied", &progress), "copied 0 sessions, 0 entries");
        let copied = callboard_engine::copy(&from, &to, &progress).await.unwrap();
        assert_eq!(so_far("copied", &progress), format!("copied 2 sessions, {} entries", copied.entries));
    }

    #[tokio::test]
    async fn it_is_told_again_and_again_until_the_work_has_ended() {
        let (mut told, enough) = (0, Notify::new());
        let tell = || {
            told += 1;
            if told == 2 {
                enough.notify_one();
            }
        };
        telling(enough.notified(), tell).await;
        assert_eq!(told, 2);
    }
}
