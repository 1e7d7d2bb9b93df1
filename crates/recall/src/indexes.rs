//! The indexes of all journals: in memory as far as a limit allows, and in a file.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    Error,
    database::is_of_file,
    file::IndexFile,
    index::{Index, lock},
};

/// With so many new passages an index is written to the file, or with an eighth of all: each time, all of it is.
const MANY: usize = 1024;

/// The indexes of all journals.
#[derive(Debug)]
pub struct Indexes {
    file: Mutex<Arc<IndexFile>>,
    /// Those in memory, the most recently used first.
    loaded: Mutex<Vec<Loaded>>,
    memory_bytes: u64,
    path: Option<std::path::PathBuf>,
}

#[derive(Debug)]
struct Loaded {
    journal: Arc<str>,
    index: Arc<Mutex<Index>>,
}

impl Indexes {
    /// Opens the indexes in the file at `path`, or in memory. About `memory_bytes` of them are kept in memory. A file that is
    /// damaged or was written by another version is made anew.
    pub fn open(path: Option<&Path>, memory_bytes: u64) -> Result<Self, Error> {
        let file = Mutex::new(Arc::new(IndexFile::open(path)?));
        Ok(Self { file, loaded: Mutex::default(), memory_bytes, path: path.map(Path::to_owned) })
    }

    /// The index of a journal. What cannot be read of it is made anew.
    pub fn of(&self, journal: &str) -> Result<Arc<Mutex<Index>>, Error> {
        self.notice_deleted()?;
        let mut loaded = self.loaded();
        if let Some(place) = loaded.iter().position(|one| &*one.journal == journal) {
            let found = loaded.remove(place);
            let index = found.index.clone();
            loaded.insert(0, found);
            return Ok(index);
        }
        let index = match self.file().load(journal) {
            Err(error) if is_of_file(&error) => {
                self.start_anew(journal, &error)?;
                Index::default()
            }
            read => read?,
        };
        let index = Arc::new(Mutex::new(index));
        loaded.insert(0, Loaded { journal: journal.into(), index: index.clone() });
        self.make_room(&mut loaded);
        Ok(index)
    }

    /// Writes the index of a journal, once much of it is new: a little is read from the journal again. Where another process
    /// wrote it meanwhile, what is in memory is dropped, to be read again.
    pub fn save(&self, journal: &str) -> Result<(), Error> {
        let found = self.loaded().iter().find(|one| &*one.journal == journal).map(|one| one.index.clone());
        let Some(index) = found else { return Ok(()) };
        let mut index = lock(&index);
        let is_much = index.unsaved >= MANY.max(index.passages() / 8);
        let is_due = index.saved == 0 || index.has_erased || is_much;
        let saved = if is_due { self.file().save(journal, &mut index) } else { Ok(()) };
        drop(index);
        self.after(journal, saved)
    }

    /// Writes the index of a journal from which words were taken away, and leaves nothing of them in the file.
    pub fn save_erased(&self, journal: &str) -> Result<(), Error> {
        self.save(journal)?;
        self.file().forget()
    }

    /// Takes away all of a journal.
    pub fn remove(&self, journal: &str) -> Result<(), Error> {
        self.forget(journal);
        self.file().remove(journal)
    }

    /// The journals of which something is in the file.
    pub fn journals(&self) -> Result<Vec<String>, Error> {
        self.file().journals()
    }

    /// Makes the file anew where it was deleted or replaced while it was in use. What is in memory is dropped, and read from the
    /// journals again.
    fn notice_deleted(&self) -> Result<(), Error> {
        let Some(path) = self.path.as_deref() else { return Ok(()) };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_at(path) {
            return Ok(());
        }
        *file = Arc::new(IndexFile::again(path)?);
        drop(file);
        self.loaded().clear();
        Ok(())
    }

    fn after(&self, journal: &str, saved: Result<(), Error>) -> Result<(), Error> {
        match saved {
            Err(Error::Stale) => {
                self.forget(journal);
                Ok(())
            }
            Err(error) if is_of_file(&error) => {
                self.forget(journal);
                self.start_anew(journal, &error)
            }
            saved => saved,
        }
    }

    fn forget(&self, journal: &str) {
        self.loaded().retain(|one| &*one.journal != journal);
    }

    /// Takes away what is in the file of a journal; where that fails since the file is damaged, the whole file.
    fn start_anew(&self, journal: &str, error: &Error) -> Result<(), Error> {
        tracing::warn!(journal, %error, "the recall index of a journal is made anew");
        let removed = self.file().remove(journal);
        match removed {
            Err(error) if is_of_file(&error) => {
                tracing::warn!(%error, "the recall index is made anew");
                let anew = IndexFile::anew(self.path.as_deref())?;
                *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(anew);
                Ok(())
            }
            removed => removed,
        }
    }

    /// Writes and drops the indexes that were not used for longest, as far as they are too many for the memory.
    fn make_room(&self, loaded: &mut Vec<Loaded>) {
        let mut bytes = 0;
        loaded.retain(|one| {
            // One that is in use stays, for it cannot be dropped anyway.
            let Ok(mut index) = one.index.try_lock() else { return true };
            bytes += index.bytes();
            if bytes <= self.memory_bytes || Arc::strong_count(&one.index) > 1 {
                return true;
            }
            let has_new = index.unsaved > 0 || index.has_erased;
            let saved = if has_new { self.file().save(&one.journal, &mut index) } else { Ok(()) };
            saved.is_err_and(|error| !matches!(error, Error::Stale))
        });
    }

    pub(crate) fn file(&self) -> Arc<IndexFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn loaded(&self) -> MutexGuard<'_, Vec<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
