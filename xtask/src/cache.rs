//! Folders: the repository, and the user's cache with models and their server.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The root of this repository.
pub(crate) fn repository() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&xtask).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// `callboard/NAME` in the user's cache folder. It is created if it is missing.
pub(crate) fn folder(name: &str) -> anyhow::Result<PathBuf> {
    let set = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .context("no cache folder: set HOME or XDG_CACHE_HOME")?;
    let folder = cache.join("callboard").join(name);
    fs::create_dir_all(&folder).with_context(|| {
        format!("cannot make the folder {}; XDG_CACHE_HOME may name another one to use", folder.display())
    })?;
    Ok(folder)
}

/// All files in a folder and in those below it, in the order of their paths.
pub(crate) fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}

/// Removes a folder where it is there.
pub(crate) fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// A lock that keeps other processes from downloading or installing the same thing. The system releases it when this process,
/// and those that were given its file, have ended in any way.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the lock of `what`, a name in `folder`.
    pub(crate) fn of(folder: &Path, what: &str) -> anyhow::Result<Self> {
        let path = folder.join(format!("{what}.lock"));
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!("{what}: waiting for another process that works on it");
                file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        Ok(Self { file })
    }

    /// The locked file, for the standard input of a program that does the work. So the lock is held until that has ended, even
    /// if this process is killed before.
    pub(crate) fn file(&self) -> anyhow::Result<File> {
        self.file.try_clone().context("cannot pass on a lock")
    }
}
