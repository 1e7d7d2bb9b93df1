//! Finding the files that are to be added, without following links or opening anything but files.

use std::{
    collections::BTreeMap,
    fs::{self, FileType},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use callboard_convert::{MAX_BYTES, Refusal};
use callboard_engine::core::id::DocumentName;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The files by the names of their documents.
    pub(super) files: BTreeMap<DocumentName, Source>,
    /// What is left out on purpose, with the reason.
    pub(super) left_out: Vec<(String, String)>,
    /// What cannot be added, with the reason.
    pub(super) failed: Vec<(String, String)>,
}

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The path of the file; `-` is the standard input.
    pub(super) path: PathBuf,
    /// Whether it was named itself, and not a folder around it.
    pub(super) is_named: bool,
}

/// A path as it is shown: control characters are escaped, since names may hold any.
fn shown(path: &Path) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    path.display().to_string().chars().map(escape).collect()
}

impl Gathered {
    /// Finds the files of a path that was named. They are called by their paths below it.
    pub(super) fn take(&mut self, path: &Path, name: Option<&DocumentName>) {
        let kind = match fs::symlink_metadata(path) {
            Ok(found) => found.file_type(),
            Err(error) => return self.fail(path, reason(&error)),
        };
        if kind.is_dir() {
            if !self.folder(path, "") {
                self.fail(path, "it is a folder without files");
            }
            return;
        }
        if !kind.is_file() {
            return self.fail(path, format!("it is {}: name a file or a folder", what(kind)));
        }
        let own = || path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.map_or_else(own, ToString::to_string);
        self.file(path, &name, true);
    }

    /// Finds the files in a folder, sorted by name; their names begin with `before`. Says whether there is anything to tell of.
    fn folder(&mut self, folder: &Path, before: &str) -> bool {
        let mut has_any = false;
        // Folders in folders are taken from a list, so that no nesting is too deep.
        let mut folders = vec![(folder.to_owned(), before.to_owned())];
        while let Some((folder, before)) = folders.pop() {
            let entries = fs::read_dir(&folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
            let mut entries = match entries {
                Ok(entries) => entries,
                Err(error) => {
                    self.fail(&folder, reason(&error));
                    has_any = true;
                    continue;
                }
            };
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                let name = format!("{before}{}", entry.file_name().to_string_lossy());
                let kind = entry.file_type();
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                has_any |= is_hidden || !kind.as_ref().is_ok_and(FileType::is_dir);
                match kind {
                    _ if is_hidden => self.leave_out(&path, "it is hidden"),
                    Ok(kind) if kind.is_dir() => folders.push((path, format!("{name}/"))),
                    Ok(kind) if kind.is_file() => self.file(&path, &name, false),
                    Ok(kind) => self.leave_out(&path, format!("it is {}", what(kind))),
                    Err(error) => self.fail(&path, reason(&error)),
                }
            }
        }
        has_any
    }

    fn file(&mut self, path: &Path, name: &str, is_named: bool) {
        let name: DocumentName = match name.parse() {
            Ok(name) => name,
            Err(error) => return self.fail(path, format!("{error}")),
        };
        match self.files.get(&name) {
            Some(other) if other.path == path => {}
            Some(other) => {
                let reason = format!("{} has the same name, {name}: add one of them with --name", shown(&other.path));
                self.fail(path, reason);
            }
            None => drop(self.files.insert(name, Source { path: path.to_owned(), is_named })),
        }
    }

    pub(super) fn leave_out(&mut self, path: &Path, reason: impl Into<String>) {
        self.left_out.push((shown(path), reason.into()));
    }

    pub(super) fn fail(&mut self, path: &Path, reason: impl Into<String>) {
        self.failed.push((shown(path), reason.into()));
    }
}

/// The bytes of a file, or of the standard input. What is too large is not read to its end.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    let read = if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        // It may be another thing by now than when it was found.
        let found = fs::symlink_metadata(path).map_err(|error| reason(&error))?;
        if !found.is_file() {
            return Err(format!("it is {}", what(found.file_type())));
        }
        if found.len() > MAX_BYTES as u64 {
            return Err(Refusal::TooLarge { size_bytes: found.len() }.to_string());
        }
        fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|error| reason(&error))?;
    Ok(bytes)
}

/// What a thing is that is no file and no folder.
fn what(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        kind if kind.is_symlink() => "a link, which is not followed",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_dir() => "a folder",
        _ => "a device",
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => format!("it cannot be read: {error}"),
    }
}
