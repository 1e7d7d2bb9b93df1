//! `callboard export` and `callboard import`.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use callboard_api as api;
use callboard_engine::core::id::SessionId;
use callboard_server::Pieces;
use clap::Args;
use flate2::read::MultiGzDecoder;
use futures::StreamExt as _;
use http::Method;
use serde_json::json;
use tokio_util::io::ReaderStream;

use super::Context;
use crate::{
    atomic,
    cli::On,
    client::{Call, broken},
    failure::Failure,
    output::{Output, counted},
};

/// Export a session as JSON lines
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard export tides.jsonl --session tides\n  callboard export | gzip > session.jsonl.gz"
)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) on: On,
    /// The file, or - for the standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
}

/// Import an exported session
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard import tides.jsonl\n  callboard import expired/tides.jsonl.gz --id again\n  gunzip < session.jsonl.gz | callboard import - --id copy"
)]
pub(crate) struct Import {
    /// The file, which may be compressed with gzip, or - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The id of the new session (default: the exported one)
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<SessionId>,
}

/// How many bytes are read at once.
const PIECE_BYTES: usize = 64 << 10;

pub(super) async fn export(context: &Context, args: Export) -> Result<(), Failure> {
    let session = context.session_on(&args.on).await?;
    write(session.get(&["export"]), ("session", session.id.as_str()), &args.file, context.output).await
}

pub(super) async fn import(context: &Context, args: Import) -> Result<(), Failure> {
    let lines = read(&args.file).await?;
    let call = context.client.call(Method::POST, &["v1", "import"]).maybe("id", args.id).lines(lines);
    call.print(context.output, |session: &api::Session, output| {
        output.line(format!("imported {} with {}", session.id, counted(session.head, "entry")));
    })
    .await
}

fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

/// Writes the export of a thing, of which kind and name it is, to a file, or prints it.
pub(super) async fn write(
    call: Call<'_>,
    (kind, name): (&str, &str),
    file: &Path,
    output: Output,
) -> Result<(), Failure> {
    let pieces = call.pieces().await?;
    if is_standard(file) {
        return print(pieces, output).await;
    }
    let lines = write_file(pieces, file).await?;
    output.answer(&json!({kind: name, "file": file, "lines": lines}), |output| {
        output.line(format!("exported {name} to {}: {}", file.display(), counted(lines, "line")));
    });
    Ok(())
}

/// Refuses a file that is not there, before a store is made for it.
pub(super) fn check(file: &Path) -> Result<(), Failure> {
    if is_standard(file) {
        return Ok(());
    }
    file.metadata().map(drop).map_err(|error| unreadable(file, &error))
}

/// Reads an export from a file or from the standard input.
pub(super) async fn read(file: &Path) -> Result<Pieces, Failure> {
    if is_standard(file) {
        return Ok(ReaderStream::with_capacity(tokio::io::stdin(), PIECE_BYTES).boxed());
    }
    let path = file.to_owned();
    let opened = tokio::task::spawn_blocking(move || open(&path)).await.map_err(io::Error::other).flatten();
    let opened = tokio::fs::File::from_std(opened.map_err(|error| unreadable(file, &error))?);
    Ok(ReaderStream::with_capacity(opened, PIECE_BYTES).boxed())
}

/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a file. One that is compressed is unpacked into a temporary file.
fn open(path: &Path) -> io::Result<File> {
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    (&mut file).take(GZIP.len() as u64).read_to_end(&mut beginning)?;
    file.rewind()?;
    if beginning != GZIP {
        return Ok(file);
    }
    let mut unpacked = tempfile::tempfile()?;
    io::copy(&mut MultiGzDecoder::new(file), &mut unpacked)?;
    unpacked.rewind()?;
    Ok(unpacked)
}

/// Writes a file atomically and returns its number of lines.
async fn write_file(mut pieces: Pieces, path: &Path) -> Result<u64, Failure> {
    let failed = |error: io::Error| unwritable(path, &error);
    let mut file = tempfile::NamedTempFile::new_in(atomic::folder_of(path)).map_err(failed)?;
    let mut lines = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| broken(&error))?;
        lines += piece.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        file.write_all(&piece).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(lines)
}

/// Prints the pieces until nobody reads them any more.
async fn print(mut pieces: Pieces, output: Output) -> Result<(), Failure> {
    while let Some(piece) = pieces.next().await {
        output.bytes(&piece.map_err(|error| broken(&error))?);
        if !output.is_writable() {
            break;
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::failed("unreadable", format!("cannot read {}: {error}", path.display()))
}

pub(super) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::failed("unwritable", format!("cannot write {}: {error}", path.display()))
}
