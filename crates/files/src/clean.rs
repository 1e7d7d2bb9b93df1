//! Cleaning up: ending a session, and removing sessions that were not used for long.
//!
//! Only what the manifest lists is deleted. Each entry is judged alone. Anything that is not plainly a file in the session's
//! folder stays and is reported. Folders are removed when they are empty.

use std::{collections::HashSet, time::Duration};

use callboard_core::{id::SessionId, time::Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    ContextPath, Error, Project, Session,
    disk::{EntryKind, Folder, Lock},
    path::{MANIFEST, NEW_DOCUMENT, NEW_MANIFEST},
    project::{is_blank, locked, shown},
};

/// The deepest level of folders that is searched.
const DEEPEST: usize = 32;

/// The result of cleaning up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaned {
    /// The deleted files and folders of sessions, as paths below the project.
    pub deleted: Vec<String>,
    /// What had to stay.
    pub kept: Vec<Kept>,
}

/// Something that had to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its path below the project.
    pub path: String,
    /// Why it had to stay.
    pub reason: String,
}

impl Project {
    /// Ends a session: deletes the files in its manifest. A session that does not exist counts as ended.
    pub fn end(&self, id: &SessionId, now: Timestamp) -> Result<Cleaned, Error> {
        let mut cleaned = Cleaned::default();
        let Some(sessions) = self.sessions()? else { return Ok(cleaned) };
        let Some(folder) = locked(&sessions, id, Lock::Exclusive)? else { return Ok(cleaned) };
        let mut session = Session::open(id.clone(), folder, self.paths.clone())?;
        refuse_bad_dates(&session)?;
        session.clear(&sessions, false, Some(now), &mut cleaned)?;
        Ok(cleaned)
    }

    /// Cleans up sessions that were not used for more than `older_than`, in whole seconds. A session with any problem stays
    /// and is reported. A dry run only reports what would be deleted.
    pub fn clean(&self, older_than: Duration, now: Timestamp, is_dry: bool) -> Result<Cleaned, Error> {
        self.clean_these(self.ids()?, older_than, now, is_dry)
    }

    /// The same for these sessions alone.
    pub fn clean_these(
        &self,
        ids: Vec<SessionId>,
        older_than: Duration,
        now: Timestamp,
        is_dry: bool,
    ) -> Result<Cleaned, Error> {
        let mut cleaned = Cleaned::default();
        let Some(sessions) = self.sessions()? else { return Ok(cleaned) };
        for id in ids {
            if let Err(error) = self.clean_one(&sessions, &id, older_than, now, is_dry, &mut cleaned) {
                let path = shown(&id, "").trim_end_matches('/').to_owned();
                cleaned.kept.push(Kept { path, reason: error.to_string() });
            }
        }
        Ok(cleaned)
    }

    fn clean_one(
        &self,
        sessions: &Folder,
        id: &SessionId,
        older_than: Duration,
        now: Timestamp,
        is_dry: bool,
        cleaned: &mut Cleaned,
    ) -> Result<(), Error> {
        let Some(mut folder) = locked(sessions, id, Lock::Exclusive)? else { return Ok(()) };
        if folder.kind(MANIFEST)? == EntryKind::Nothing && is_blank(&folder)? {
            // Another process may be creating it. That process holds the lock on the folder of sessions until it has locked
            // this one.
            drop(folder);
            sessions.again()?.lock(Lock::Exclusive)?;
            let Some(again) = locked(sessions, id, Lock::Exclusive)? else { return Ok(()) };
            folder = again;
        }
        let mut session = Session::open(id.clone(), folder, self.paths.clone())?;
        refuse_bad_dates(&session)?;
        let idle = session.manifest.idle_seconds(now).unwrap_or_default();
        if u64::try_from(idle).is_ok_and(|idle| idle > older_than.as_secs()) {
            session.clear(sessions, is_dry, None, cleaned)?;
        }
        Ok(())
    }
}

/// Refuses to clean up a session with an invalid date.
fn refuse_bad_dates(session: &Session) -> Result<(), Error> {
    match session.manifest.bad_date() {
        Some((pointer, wrong)) => {
            Err(Error::Damaged { path: session.shown(MANIFEST), why: format!("{pointer}: {wrong}") })
        }
        None => Ok(()),
    }
}

/// What happens to an entry.
enum Fate {
    /// Its file is deleted.
    Goes(ContextPath),
    /// There is no file.
    IsGone,
    /// It stays.
    Stays(String),
}

impl Session {
    /// Removes the files in the manifest, then empty folders, then the manifest and the folder of the session. If something
    /// has to stay, the manifest stays and lists it, with `touch` as the time of last use.
    fn clear(
        &mut self,
        sessions: &Folder,
        is_dry: bool,
        touch: Option<Timestamp>,
        cleaned: &mut Cleaned,
    ) -> Result<(), Error> {
        for name in [NEW_MANIFEST, NEW_DOCUMENT] {
            // There is no space to list what has to stay.
            if self.folder.kind(name)? == EntryKind::Folder {
                return Err(Error::Misplaced { path: self.shown(name), found: "a folder", expected: "no folder" });
            }
        }
        // All entries are judged before any is deleted, so that deleting one does not affect another.
        let paths: Vec<String> = self.manifest.context_files.keys().cloned().collect();
        let fates: Vec<Fate> = paths.iter().map(|path| self.fate(path)).collect();
        let (mut gone, mut stays) = (HashSet::new(), HashSet::new());
        for (path, fate) in paths.into_iter().zip(fates) {
            match self.meet(fate, is_dry) {
                Ok(true) => cleaned.deleted.push(self.shown(&path)),
                Ok(false) => {}
                Err(reason) => {
                    cleaned.kept.push(Kept { path: self.shown(&path), reason });
                    stays.insert(path);
                    continue;
                }
            }
            gone.insert(path);
        }
        let rest = Rest { is_dry, gone: &gone, stays: &stays };
        let is_empty = rest.clear(&self.folder, "", 0, &|path| self.shown(path), cleaned)? && stays.is_empty();
        if !is_dry {
            if is_empty && self.vanish(sessions)? {
                cleaned.deleted.push(self.path());
            } else {
                if is_empty {
                    let reason = "something was added during the cleanup".to_owned();
                    cleaned.kept.push(Kept { path: self.path(), reason });
                }
                self.manifest.context_files.retain(|path, _| stays.contains(path));
                match touch {
                    Some(now) => self.touch(now)?,
                    None => self.write()?,
                }
            }
        } else if is_empty {
            cleaned.deleted.push(self.path());
        }
        Ok(())
    }

    fn fate(&self, path: &str) -> Fate {
        let path: ContextPath = match path.parse() {
            Ok(path) => path,
            Err(error) => return Fate::Stays(format!("it is not in the folder of the session: {error}")),
        };
        match self.kind(&path) {
            Ok(EntryKind::File) => Fate::Goes(path),
            Ok(EntryKind::Nothing) => Fate::IsGone,
            Ok(found) => Fate::Stays(format!("it is {}, not a file", found.words())),
            Err(error) => Fate::Stays(format!("it cannot be reached: {error}")),
        }
    }

    /// Applies a fate. Returns whether a file was deleted, or why it stays.
    fn meet(&self, fate: Fate, is_dry: bool) -> Result<bool, String> {
        match fate {
            Fate::Stays(reason) => Err(reason),
            Fate::IsGone => Ok(false),
            Fate::Goes(_) if is_dry => Ok(true),
            Fate::Goes(path) => {
                let folder = self.reach(&path).map_err(|error| error.to_string())?;
                let removed = folder.map(|folder| folder.remove(path.split().1));
                removed.unwrap_or(Ok(false)).map_err(|error| error.to_string())
            }
        }
    }

    /// Removes the manifest and the folder of the session, and returns whether they are gone. If somebody has just put a file
    /// there, the manifest is written again.
    fn vanish(&self, sessions: &Folder) -> Result<bool, Error> {
        for name in [NEW_DOCUMENT, NEW_MANIFEST, MANIFEST] {
            self.folder.remove(name)?;
        }
        let gone = self.folder.is_still(sessions, self.id.as_str()) && sessions.remove_empty(self.id.as_str())?;
        sessions.flush()?;
        Ok(gone)
    }
}

/// The contents of a session's folder that the manifest does not list.
struct Rest<'a> {
    is_dry: bool,
    gone: &'a HashSet<String>,
    stays: &'a HashSet<String>,
}

impl Rest<'_> {
    /// Removes empty folders, reports everything else, and returns whether nothing is left.
    fn clear(
        &self,
        folder: &Folder,
        before: &str,
        depth: usize,
        shown: &dyn Fn(&str) -> String,
        cleaned: &mut Cleaned,
    ) -> Result<bool, Error> {
        let mut is_empty = true;
        for name in folder.names()? {
            let path = format!("{before}{name}");
            let is_ours = depth == 0 && [MANIFEST, NEW_MANIFEST, NEW_DOCUMENT].contains(&name.as_str());
            if is_ours || (self.is_dry && self.gone.contains(&path)) {
                continue;
            }
            let kind = folder.kind(&name)?;
            let below = if kind == EntryKind::Folder && depth < DEEPEST { folder.folder(&name)? } else { None };
            let goes = match below {
                Some(below) => {
                    self.clear(&below, &format!("{path}/"), depth + 1, shown, cleaned)?
                        && (self.is_dry || folder.remove_empty(&name)?)
                }
                // A name that is not UTF-8 cannot be asked for.
                None => kind == EntryKind::Nothing && !name.contains(char::REPLACEMENT_CHARACTER),
            };
            is_empty &= goes;
            if !goes && kind != EntryKind::Folder && !self.stays.contains(&path) {
                let reason = "it is not in the manifest".to_owned();
                cleaned.kept.push(Kept { path: shown(&path), reason });
            }
        }
        Ok(is_empty)
    }
}
