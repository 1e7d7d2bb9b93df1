//! The key that signs the access tokens of sessions: 32 random bytes in a file that only its owner may read.

use std::{fs, io, io::Write as _, path::Path};

use crate::failure::Failure;

/// The name of the file.
const NAME: &str = "callboard-tokens.key";

/// The key in `folder`, created if missing. Processes that create it at the same time all get the same key.
pub(super) fn read_or_make(folder: &Path) -> Result<[u8; 32], Failure> {
    let path = folder.join(NAME);
    let failed = |error: &io::Error| {
        Failure::failed("no_token_key", format!("cannot keep the key of tokens in {}: {error}", path.display()))
            .hint("give a folder for it with --data DIR")
    };
    if let Some(key) = read(&path).map_err(|error| failed(&error))? {
        return key.ok_or_else(|| damaged(&path));
    }
    make(folder, &path).map_err(|error| failed(&error))?;
    let key = read(&path).map_err(|error| failed(&error))?.flatten();
    key.ok_or_else(|| damaged(&path))
}

/// The key in the file: `None` if there is no file, `Some(None)` if its content is not a key.
fn read(path: &Path) -> io::Result<Option<Option<[u8; 32]>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes.try_into().ok())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the file atomically, unless another process was faster. Only the owner can read a temporary file.
fn make(folder: &Path, path: &Path) -> io::Result<()> {
    let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::create_dir_all(beside)?;
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(beside)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

fn damaged(path: &Path) -> Failure {
    Failure::failed("no_token_key", format!("{} is not a token key: it does not have 32 bytes", path.display()))
        .hint("remove it to have a new one created; tokens that were given out stay valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone_and_read_from_then_on() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path().join("new");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let making: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_make(&folder).unwrap())).collect();
            making.into_iter().map(|made| made.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; 32]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folder.join(NAME)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn what_is_no_key_is_left_alone() {
        let folder = tempfile::TempDir::new().unwrap();
        fs::write(folder.path().join(NAME), "short").unwrap();
        let failure = read_or_make(folder.path()).unwrap_err();
        assert!(failure.problem.detail.contains("does not have 32 bytes"), "{failure:?}");
        assert_eq!(fs::read(folder.path().join(NAME)).unwrap(), b"short");
    }
}
