//! The archive: a folder into which expired sessions are written before they are removed.

use std::{
    fmt,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use callboard_core::{id::SessionId, time::Timestamp};
use callboard_store::{Clock, Store};
use flate2::{Compression, write::GzEncoder};
use tempfile::NamedTempFile;

use crate::{error::Error, export::Export, upkeep::snapshot};

/// A folder into which a sweep writes each expired session, as an export that is compressed with gzip, before it is removed:
/// `ID.jsonl.gz`, or `ID.2.jsonl.gz` and so on where an earlier session of this name is there.
pub struct Archive {
    folder: PathBuf,
    store: Arc<dyn Store>,
}

/// The clock with which a store must be opened for an [`Archive`]: by it nothing has expired yet, so that what has expired
/// and is not removed can be read.
#[derive(Clone, Copy, Debug)]
pub struct BeforeAll;

impl Clock for BeforeAll {
    fn now(&self) -> Timestamp {
        Timestamp::nearest(i64::MIN)
    }
}

impl Archive {
    /// Archives into `folder`, which is created if it is missing. `store` has the same data as that of the board, and was opened
    /// with the clock [`BeforeAll`]; nothing is written to it.
    pub fn new(folder: impl Into<PathBuf>, store: Arc<dyn Store>) -> io::Result<Self> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder)?;
        // Not at the first sweep, days later, is it found out that nothing can be written there.
        NamedTempFile::new_in(&folder)?;
        Ok(Self { folder, store })
    }

    /// Writes an expired session to a file, which is on disk afterwards.
    pub(crate) async fn keep(&self, id: &SessionId) -> Result<(), Error> {
        let failed = |error: io::Error| Error::Archive { folder: self.folder.clone(), problem: error.to_string() };
        // A store may have removed it by itself.
        let Some(row) = self.store.row(id).await? else { return Ok(()) };
        let gone = || Error::NoSession { session: id.clone() };
        let state = snapshot::load(&*self.store, id, row.head.seq).await?.ok_or_else(gone)?.state;
        let mut export = Export::of(self.store.clone(), id.clone(), &state);
        let file = NamedTempFile::new_in(&self.folder).map_err(failed)?;
        let mut file = GzEncoder::new(file, Compression::default());
        while let Some(lines) = export.next().await? {
            file.write_all(lines.as_bytes()).map_err(failed)?;
        }
        let file = file.finish().map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        self.place(file, id).map_err(failed)
    }

    /// Gives the file the first name that is free, unless the very same file is there.
    fn place(&self, mut file: NamedTempFile, id: &SessionId) -> io::Result<()> {
        for number in 1_u32.. {
            let number = if number == 1 { String::new() } else { format!(".{number}") };
            let path = self.folder.join(format!("{id}{number}.jsonl.gz"));
            match file.persist_noclobber(&path) {
                Ok(_) => return sync_folder(&self.folder),
                Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => file = failed.file,
                Err(failed) => return Err(failed.error),
            }
            if std::fs::read(&path)? == std::fs::read(file.path())? {
                break;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Makes a new name in a folder survive a loss of power.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
