//! Files that are there as a whole or not at all.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Writes a file, and the folders around it where they are missing. Only its owner can read it from the beginning. Without
/// `replace`, one that is there stays.
pub(crate) fn write(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    let written = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    match written {
        Err(error) if !replace && error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written.map(drop).map_err(|error| error.error),
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
