//! The key that signs the access tokens of sessions: 32 random bytes in a file that only its owner may read.

use std::{fs, io, path::Path};

use crate::{atomic, failure::Failure};

/// The name of the file.
const NAME: &str = "callboard-tokens.key";

/// The key in `folder`, created if missing. Processes that create it at the same time all get the same key.
pub(super) fn read_or_make(folder: &Path) -> Result<[u8; 32], Failure> {
    let path = folder.join(NAME);
    let failed = |error: io::Error| {
        Failure::failed("no_token_key", format!("cannot keep the key of tokens in {}: {error}", path.display()))
            .hint("give a folder for it with --data DIR")
    };
    let key = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path).and_then(|()| fs::read(&path)),
        read => read,
    };
    key.map_err(failed)?.try_into().map_err(|_| damaged(&path))
}

/// Creates the file, unless another process was faster.
fn make(path: &Path) -> io::Result<()> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    atomic::write(path, &key, false)
}

fn damaged(path: &Path) -> Failure {
    Failure::failed("no_token_key", format!("{} is not a token key: it does not have 32 bytes", path.display()))
        .hint("remove it to have a new one created; tokens that were given out stay valid")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

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
        let mode = fs::metadata(folder.join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
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
