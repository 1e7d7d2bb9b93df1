//! `callboard store`: what is done with all sessions at once, past the API.

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use callboard_engine::{Progress, Survey};
use callboard_store::{Durability, Settings};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::{
    cli::Global,
    config,
    failure::{Failure, causes},
    output::{Output, Style},
};

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

type OpenStore = Arc<dyn callboard_store::Store>;

/// How often a terminal is told how far it has come.
const TELL_EVERY: Duration = Duration::from_millis(200);

pub(super) async fn execute(global: &Global, command: Store, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Store::Check(args) => check(global, args, output).await,
        Store::Copy(args) => copy(global, &args, output).await,
    }
}

async fn check(global: &Global, args: StoreCheck, output: Output) -> Result<ExitCode, Failure> {
    let url = args.url.map_or_else(|| config::store_url(global), Ok)?;
    let store = there(&url).await?;
    let progress = Progress::default();
    let found = tell(output, "checked", &progress, callboard_engine::check(&store, &progress)).await?;
    answer(output, &found, json!({"store": config::shown(&url)}), |found| {
        format!("{} sessions with {} entries are sound", found.sessions, found.entries)
    })
}

async fn copy(global: &Global, args: &StoreCopy, output: Output) -> Result<ExitCode, Failure> {
    if args.from == args.to {
        return Err(Failure::usage("usage", "FROM and TO are the same store: name two"));
    }
    if args.to == "memory:" {
        return Err(Failure::usage(
            "usage",
            "what is copied to memory: is gone when this command ends: name another TO",
        ));
    }
    let from = there(&args.from).await?;
    let to = callboard_store::open(&args.to, config::store_settings(global)).await?;
    let progress = Progress::default();
    let copied = tell(output, "copied", &progress, callboard_engine::copy(&from, &to, &progress)).await?;
    let progress = Progress::default();
    let mut found = tell(output, "checked", &progress, callboard_engine::check_copy(&from, &to, &progress)).await?;
    // What was not copied says more than what is then not there.
    found.faults.extend(copied.faults);
    let more = json!({
        "from": config::shown(&args.from), "to": config::shown(&args.to), "copied_entries": copied.entries,
    });
    answer(output, &found, more, |found| {
        let Survey { sessions, entries, .. } = found;
        format!("{sessions} sessions with {entries} entries are there and sound; {} of these are new", copied.entries)
    })
}

/// Opens a store that is only read, and not made where it is missing.
async fn there(url: &str) -> Result<OpenStore, Failure> {
    if url == "memory:" {
        return Err(Failure::usage("usage", "memory: is empty when a command begins: name a store that lasts"));
    }
    if let Some(path) = config::sqlite_path(url).filter(|path| !path.exists()) {
        return Err(missing(path));
    }
    // It may promise little: nothing is written.
    let settings = Settings { durability: Durability::Process, ..Settings::default() };
    Ok(callboard_store::open(url, settings).await?)
}

fn missing(path: &Path) -> Failure {
    Failure::failed("store_cannot_open", format!("there is no file {}", path.display()))
        .hint("write sqlite:PATH with the path of a store that is there")
}

/// Waits for `work`, and tells whoever sits at a terminal how far it has come.
async fn tell<T>(
    output: Output,
    done: &str,
    progress: &Progress,
    work: impl Future<Output = Result<T, callboard_engine::Error>>,
) -> Result<T, Failure> {
    let ended = telling(work, || output.progress(&so_far(done, progress))).await;
    output.progress("");
    ended.map_err(|error| Failure::failed(error.code(), causes(&error)).hint("do it again: it goes on where it was"))
}

/// Waits for `work`, and tells now and then.
async fn telling<T>(work: impl Future<Output = T>, mut tell: impl FnMut()) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            ended = &mut work => return ended,
            () = tokio::time::sleep(TELL_EVERY) => tell(),
        }
    }
}

fn so_far(done: &str, progress: &Progress) -> String {
    format!("{done} {} sessions, {} entries", progress.sessions(), progress.entries())
}

/// Prints what was found, and what is wrong.
fn answer(
    output: Output,
    found: &Survey,
    mut json: Value,
    good: impl FnOnce(&Survey) -> String,
) -> Result<ExitCode, Failure> {
    let ok = found.faults.is_empty();
    if let Value::Object(fields) = &mut json {
        let faults: Vec<_> = found.faults.iter().map(|(id, detail)| json!({"session": id, "detail": detail})).collect();
        fields.insert("ok".to_owned(), ok.into());
        fields.insert("sessions".to_owned(), found.sessions.into());
        fields.insert("entries".to_owned(), found.entries.into());
        fields.insert("faults".to_owned(), faults.into());
    }
    output.answer(&json, |output| {
        output.line(good(found));
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
