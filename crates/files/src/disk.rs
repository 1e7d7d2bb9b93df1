//! Open folders and their contents. Only this module calls the file system.
//!
//! A folder is opened by its name within its parent and held by its descriptor, and no symbolic link is followed. So a
//! change affects the very folder that was checked, whatever others rename meanwhile.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::Path,
};

use rustix::{
    fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat},
    io::{Errno, retry_on_intr},
};

use crate::Error;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    /// Its path below the project, for messages.
    shown: String,
}

/// The kind of an item in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Nothing,
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Identifies a version of a file. It differs after the file was replaced or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    seconds: i64,
    nanoseconds: u64,
}

/// Whether there is something at a path that the user gave, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The mode of a lock on a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Shared with other readers.
    Shared,
    /// Not shared.
    Exclusive,
}

impl EntryKind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "missing",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Other => "a pipe, a socket or a device",
        }
    }

    fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Folder {
    /// Opens the folder at a path that the user gave. Links in this path are followed.
    pub(crate) fn at(path: &Path) -> Result<Self, Error> {
        let opened = retry_on_intr(|| fs::open(path, FOLDER, Mode::empty()));
        let fd = opened.map_err(|errno| Error::io("open the folder", path.display().to_string(), errno))?;
        Ok(Self { fd, shown: String::new() })
    }

    /// The path of an item in this folder, for messages.
    pub(crate) fn shown(&self, name: &str) -> String {
        if self.shown.is_empty() { name.to_owned() } else { format!("{}/{name}", self.shown) }
    }

    /// The folder with this name, if there is one.
    pub(crate) fn folder(&self, name: &str) -> Result<Option<Self>, Error> {
        match retry_on_intr(|| fs::openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())) {
            Ok(fd) => Ok(Some(Self { fd, shown: self.shown(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno @ (Errno::NOTDIR | Errno::LOOP | Errno::MLINK)) => {
                Err(self.misplaced(name, EntryKind::Folder, errno))
            }
            Err(errno) => Err(Error::io("open the folder", self.shown(name), errno)),
        }
    }

    /// Opens the same folder again, without the lock.
    pub(crate) fn again(&self) -> Result<Self, Error> {
        let opened = retry_on_intr(|| fs::openat(&self.fd, ".", FOLDER, Mode::empty()));
        let fd = opened.map_err(|errno| Error::io("open the folder", self.shown.clone(), errno))?;
        Ok(Self { fd, shown: self.shown.clone() })
    }

    /// Creates a folder. Returns whether it is new.
    pub(crate) fn make(&self, name: &str) -> Result<bool, Error> {
        match fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(Error::io("make the folder", self.shown(name), errno)),
        }
    }

    /// The kind of the item with this name.
    pub(crate) fn kind(&self, name: &str) -> Result<EntryKind, Error> {
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(EntryKind::of(&stat)),
            Err(Errno::NOENT) => Ok(EntryKind::Nothing),
            Err(errno) => Err(Error::io("look at", self.shown(name), errno)),
        }
    }

    /// When the file with this name was changed last, in seconds since 1970.
    pub(crate) fn changed_at(&self, name: &str) -> Option<i64> {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_mtime)
    }

    /// The stamp of the file with this name.
    pub(crate) fn stamp(&self, name: &str) -> Option<Stamp> {
        let stat = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp { inode: stat.st_ino, seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec })
    }

    /// The names of all items, in order. In a name that is not UTF-8, the invalid bytes are replaced.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        let failed = |errno| Error::io("list the folder", self.shown.clone(), errno);
        let entries = fs::Dir::read_from(&self.fd).map_err(failed)?;
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?;
            names.push(std::ffi::OsStr::from_bytes(name.file_name().to_bytes()).to_string_lossy().into_owned());
        }
        names.retain(|name| name != "." && name != "..");
        names.sort_unstable();
        Ok(names)
    }

    /// The contents of a file, if there is one.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        // Opening a pipe must not wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let failed = |errno| Error::io("read", self.shown(name), errno);
        let fd = match retry_on_intr(|| fs::openat(&self.fd, name, flags, Mode::empty())) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno @ (Errno::LOOP | Errno::MLINK | Errno::NXIO)) => {
                return Err(self.misplaced(name, EntryKind::File, errno));
            }
            Err(errno) => return Err(failed(errno)),
        };
        let kind = EntryKind::of(&fs::fstat(&fd).map_err(failed)?);
        if kind != EntryKind::File {
            return Err(Error::Misplaced { path: self.shown(name), found: kind.words(), expected: "a file" });
        }
        let mut bytes = Vec::new();
        let read = File::from(fd).read_to_end(&mut bytes);
        read.map_err(|source| Error::Io { doing: "read", path: self.shown(name), source })?;
        Ok(Some(bytes))
    }

    /// Writes and flushes a new file. It first removes a file of this name, which an interrupted process left. If writing
    /// fails, no file is left.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.remove(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o666));
        let mut file = File::from(opened.map_err(|errno| Error::io("write", self.shown(name), errno))?);
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|source| {
            let _ = self.remove(name);
            match source.raw_os_error() {
                Some(code) => Error::io("write", self.shown(name), Errno::from_raw_os_error(code)),
                None => Error::Io { doing: "write", path: self.shown(name), source },
            }
        })
    }

    /// Renames a file, and replaces the file that had the new name.
    pub(crate) fn replace(&self, name: &str, new: &str) -> Result<(), Error> {
        fs::renameat(&self.fd, name, &self.fd, new).map_err(|errno| Error::io("write", self.shown(new), errno))
    }

    /// Moves a file to a name that is free.
    pub(crate) fn move_to(&self, name: &str, folder: &Self, new: &str) -> Result<(), Error> {
        let failed = |errno| match errno {
            Errno::EXIST => Error::NotOurs { path: folder.shown(new) },
            errno => Error::io("write", folder.shown(new), errno),
        };
        match fs::renameat_with(&self.fd, name, &folder.fd, new, RenameFlags::NOREPLACE) {
            // Some file systems cannot guarantee this by themselves.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match folder.kind(new)? {
                EntryKind::Nothing => fs::renameat(&self.fd, name, &folder.fd, new).map_err(failed),
                _ => Err(failed(Errno::EXIST)),
            },
            moved => moved.map_err(failed),
        }
    }

    /// Removes a file. Returns whether there was one. For a link it removes the link itself.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, Error> {
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(Error::io("remove", self.shown(name), errno)),
        }
    }

    /// Removes a folder if it is empty. Returns whether it is gone.
    pub(crate) fn remove_empty(&self, name: &str) -> Result<bool, Error> {
        match fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(errno) => Err(Error::io("remove the folder", self.shown(name), errno)),
        }
    }

    /// Flushes the folder, so that its names survive a loss of power.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        match fs::fsync(&self.fd) {
            // Some file systems cannot flush folders.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(Error::io("flush the folder", self.shown.clone(), errno)),
        }
    }

    /// Waits for the lock, and holds it until this is dropped or the process ends.
    pub(crate) fn lock(&self, lock: Lock) -> Result<(), Error> {
        let operation = match lock {
            Lock::Shared => FlockOperation::LockShared,
            Lock::Exclusive => FlockOperation::LockExclusive,
        };
        let locked = retry_on_intr(|| fs::flock(&self.fd, operation));
        locked.map_err(|errno| Error::io("lock the folder", self.shown.clone(), errno))
    }

    /// Whether this is still the folder with this name in `above`, and not one that replaced it.
    pub(crate) fn is_still(&self, above: &Self, name: &str) -> bool {
        let place = |stat: Stat| (stat.st_dev, stat.st_ino);
        let there = fs::statat(&above.fd, name, AtFlags::SYMLINK_NOFOLLOW).map(place);
        matches!((fs::fstat(&self.fd).map(place), there), (Ok(here), Ok(there)) if here == there)
    }

    fn misplaced(&self, name: &str, expected: EntryKind, errno: Errno) -> Error {
        match self.kind(name) {
            Ok(found) if found != expected && found != EntryKind::Nothing => {
                Error::Misplaced { path: self.shown(name), found: found.words(), expected: expected.words() }
            }
            _ => Error::io("open", self.shown(name), errno),
        }
    }
}
