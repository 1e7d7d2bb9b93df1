//! The master key, under which the keys of sessions are stored: in a file that only its owner may read, or in the
//! environment.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use callboard_engine::{MasterKey, MasterKeys};

use crate::{atomic, config, failure::Failure};

/// The variable with master keys: 64 hexadecimal digits each, separated by commas, the newest first.
pub(crate) const VARIABLE: &str = "CALLBOARD_MASTER_KEY";

/// The name of the file.
const NAME: &str = "callboard-secrets.key";

/// What stands at the beginning of the file.
const COMMENT: &str =
    "# The master key of Callboard's secrets. Without it they are lost: keep a copy in a safe place.\n";

/// Where the master keys of a store are: in the environment, else in `folder`, the one of `--data` or of the SQLite file.
/// A store in memory has a key of its own.
pub(crate) fn of(store_url: &str, folder: Option<&Path>) -> Arc<dyn MasterKeys> {
    match config::data_folder(store_url, folder) {
        _ if is_given() => Arc::new(FromEnvironment),
        Some(folder) => Arc::new(KeyFile(folder.join(NAME))),
        None if store_url == "memory:" => match MasterKey::random() {
            Some(key) => Arc::new(vec![key]),
            None => Arc::new(Missing("this machine has no randomness for a key")),
        },
        None => Arc::new(Missing(
            "there is no master key: set CALLBOARD_MASTER_KEY, or name a folder for it with `serve --data`",
        )),
    }
}

/// The keys that are there already, and where, for people.
pub(crate) fn known(store_url: &str, folder: Option<&Path>) -> Result<Option<(Vec<MasterKey>, String)>, String> {
    match file_of(store_url, folder) {
        Some(file) => Ok(file.read()?.map(|keys| (keys, file.shown()))),
        None if is_given() => Ok(Some((FromEnvironment.keys()?, format!("in {VARIABLE}")))),
        None => Ok(None),
    }
}

/// Whether they are in the environment.
fn is_given() -> bool {
    env::var_os(VARIABLE).is_some_and(|keys| !keys.is_empty())
}

/// The file of a store's master keys, if they are in one.
pub(crate) fn file_of(store_url: &str, folder: Option<&Path>) -> Option<KeyFile> {
    let folder = config::data_folder(store_url, folder).filter(|_| !is_given())?;
    Some(KeyFile(folder.join(NAME)))
}

/// Keys in the environment.
#[derive(Clone, Copy, Debug)]
struct FromEnvironment;

impl MasterKeys for FromEnvironment {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        let text = env::var(VARIABLE).map_err(|_| format!("{VARIABLE} is not a text"))?;
        let keys: Option<Vec<_>> = text.split(',').map(|key| parse(key.trim())).collect();
        keys.ok_or_else(|| format!("{VARIABLE} is not a list of keys: give each as 64 hexadecimal digits"))
    }
}

/// There are no keys, for this reason.
#[derive(Clone, Copy, Debug)]
struct Missing(&'static str);

impl MasterKeys for Missing {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        Err(self.0.to_owned())
    }
}

/// Keys in a file: a line each, the newest first. It is read each time, since a rotation changes it.
#[derive(Clone, Debug)]
pub(crate) struct KeyFile(PathBuf);

impl MasterKeys for KeyFile {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        self.read()?.ok_or_else(|| format!("the master key is missing: {} is not there; put it back", self.shown()))
    }

    fn keys_or_make(&self) -> Result<Vec<MasterKey>, String> {
        if let Some(keys) = self.read()? {
            return Ok(keys);
        }
        let key = MasterKey::random().ok_or("this machine has no randomness for a key")?;
        self.write(&[key], false)?;
        let file = self.shown();
        tracing::warn!(
            file,
            "made a new master key: keep a copy of it; secrets that another key sealed still need that key"
        );
        self.keys()
    }
}

impl KeyFile {
    /// The path of the file, for people.
    fn shown(&self) -> String {
        self.0.display().to_string()
    }

    /// The keys in the file, if it is there.
    ///
    /// # Errors
    /// Others may read the file, or it holds something else.
    pub(crate) fn read(&self) -> Result<Option<Vec<MasterKey>>, String> {
        let metadata = match fs::metadata(&self.0) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("the master key cannot be read from {}: {error}", self.shown())),
        };
        self.check_mode(&metadata)?;
        let text = fs::read_to_string(&self.0);
        let text = text.map_err(|error| format!("the master key cannot be read from {}: {error}", self.shown()))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Option<Vec<_>> = lines.map(parse).collect();
        let keys = keys.filter(|keys| !keys.is_empty());
        keys.map(Some).ok_or_else(|| format!("{} holds no master key: put the right file back", self.shown()))
    }

    fn check_mode(&self, metadata: &fs::Metadata) -> Result<(), String> {
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 == 0 {
            return Ok(());
        }
        let file = self.shown();
        Err(format!("others may read the master key in {file} (its mode is {mode:03o}): run `chmod 600 {file}`"))
    }

    /// Writes the file at once. Only the owner can read it from the beginning. Without `replace`, one that is there stays.
    pub(crate) fn write(&self, keys: &[MasterKey], replace: bool) -> Result<(), String> {
        let lines: String = keys.iter().map(|key| hex(key) + "\n").collect();
        atomic::write(&self.0, format!("{COMMENT}{lines}").as_bytes(), replace)
            .map_err(|error| format!("the master key cannot be written to {}: {error}", self.shown()))
    }
}

fn hex(key: &MasterKey) -> String {
    key.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse(text: &str) -> Option<MasterKey> {
    let mut key = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(MasterKey::new(key))
}

/// A failure over master keys.
pub(crate) fn failure(problem: String) -> Failure {
    Failure::failed("sealed", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, KeyFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile(folder.path().join("new").join(NAME));
        (folder, file)
    }

    #[test]
    fn a_key_is_made_when_it_is_needed_first_for_its_owner_alone() {
        let (_folder, file) = file();
        assert!(file.keys().unwrap_err().contains("is not there"));
        let made = file.keys_or_make().unwrap();
        assert_eq!(made.len(), 1);
        assert_eq!(file.keys_or_make().unwrap()[0].bytes(), made[0].bytes());
        assert_eq!(fs::metadata(&file.0).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = file.keys().unwrap_err();
        assert!(refused.contains("others may read") && refused.contains("chmod 600"), "{refused}");
    }

    #[test]
    fn the_newest_key_is_the_first_and_what_is_no_key_is_refused() {
        let (_folder, file) = file();
        let keys = [MasterKey::new([1; 32]), MasterKey::new([2; 32])];
        file.write(&keys, true).unwrap();
        let read = file.keys().unwrap();
        assert_eq!(read.iter().map(|key| key.bytes()[0]).collect::<Vec<_>>(), [1, 2]);
        for wrong in ["", "# nothing", "abc", &"g".repeat(64), &"0".repeat(63)] {
            fs::write(&file.0, wrong).unwrap();
            assert!(file.keys().unwrap_err().contains("holds no master key"), "{wrong}");
        }
    }
}
