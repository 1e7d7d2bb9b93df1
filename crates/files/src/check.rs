//! Checking sessions, and repairing them as far as possible.

use callboard_core::{
    id::SessionId,
    json::{in_words, value_of},
    time::Timestamp,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Category, ContextPath, Entry, Error, Manifest, Project, Session,
    disk::{EntryKind, Folder, Lock},
    manifest::stamp,
    path::{MANIFEST, NEW_DOCUMENT, NEW_MANIFEST, ending},
    project::{locked, shown},
};

/// The recipient of a file whose recipient is lost.
const UNKNOWN: &str = "unknown";

/// A problem that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderProblem {
    /// The session.
    pub session_id: SessionId,
    /// The path below the project.
    pub path: String,
    /// The stable name of the kind of problem.
    pub code: String,
    /// What is wrong, and what follows from it.
    pub detail: String,
    /// Whether it was repaired.
    pub repaired: bool,
}

impl Project {
    /// The problems of a session, or of all sessions. Where it is to repair, it repairs what it can by writing a corrected
    /// manifest as of the given time.
    pub fn check(&self, id: Option<&SessionId>, repair: Option<Timestamp>) -> Result<Vec<FolderProblem>, Error> {
        let ids = id.map_or_else(|| self.ids(), |id| Ok(vec![id.clone()]))?;
        let sessions = self.sessions()?;
        let mut problems = Vec::new();
        for one in ids {
            let lock = if repair.is_some() { Lock::Exclusive } else { Lock::Shared };
            let folder = sessions.as_ref().map_or(Ok(None), |sessions| locked(sessions, &one, lock));
            match folder {
                Ok(Some(folder)) => Examined::new(self, &one, folder).examine(repair, &mut problems),
                Ok(None) if id.is_some() => return Err(self.without(&one)),
                Ok(None) => {}
                Err(error) => problems.push(problem(&one, "", error.code(), error.to_string())),
            }
        }
        Ok(problems)
    }
}

fn problem(id: &SessionId, path: &str, code: &str, detail: String) -> FolderProblem {
    let path = shown(id, path).trim_end_matches('/').to_owned();
    FolderProblem { session_id: id.clone(), path, code: code.to_owned(), detail, repaired: false }
}

/// A session that is being checked: its corrected manifest, and the problems.
struct Examined {
    session: Session,
    problems: Vec<FolderProblem>,
    /// The problems that the corrected manifest does not solve.
    beyond_repair: Vec<FolderProblem>,
}

impl Examined {
    fn new(project: &Project, id: &SessionId, folder: Folder) -> Self {
        let manifest = Manifest { session_id: id.to_string(), ..Manifest::default() };
        let session = Session { id: id.clone(), folder, manifest, roots: project.paths.clone() };
        Self { session, problems: Vec::new(), beyond_repair: Vec::new() }
    }

    fn examine(mut self, repair: Option<Timestamp>, problems: &mut Vec<FolderProblem>) {
        let is_readable = match self.session.folder.read(MANIFEST) {
            Ok(bytes) => {
                self.manifest(bytes.as_deref());
                self.entries();
                self.dates(repair);
                self.strays();
                true
            }
            Err(error) => {
                self.beyond(MANIFEST, error.code(), error.to_string());
                false
            }
        };
        if repair.is_some() && is_readable && !self.problems.is_empty() {
            match self.session.write() {
                Ok(()) => self.problems.iter_mut().for_each(|problem| problem.repaired = true),
                Err(error) => self.beyond(MANIFEST, error.code(), error.to_string()),
            }
        }
        problems.append(&mut self.problems);
        problems.append(&mut self.beyond_repair);
    }

    fn wrong(&mut self, path: &str, code: &str, detail: impl Into<String>) {
        self.problems.push(problem(&self.session.id, path, code, detail.into()));
    }

    fn beyond(&mut self, path: &str, code: &str, detail: impl Into<String>) {
        self.beyond_repair.push(problem(&self.session.id, path, code, detail.into()));
    }

    /// Reads the usable parts of the manifest.
    fn manifest(&mut self, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else {
            self.wrong(MANIFEST, "manifest_missing", "the manifest is missing, so the session cannot be used");
            return self.documents();
        };
        let mut fields = match serde_json::from_slice::<Map<String, Value>>(bytes) {
            Ok(fields) => fields,
            Err(error) => {
                let what = if bytes.trim_ascii().is_empty() { "it is empty".to_owned() } else { error.to_string() };
                self.wrong(MANIFEST, "manifest_damaged", format!("the manifest cannot be read: {what}"));
                return self.documents();
            }
        };
        let found = fields.shift_remove("session_id");
        if found != Some(Value::from(self.session.id.as_str())) {
            let found = found.unwrap_or_default();
            let detail = format!("the manifest is that of another session: its session_id is {found}");
            self.wrong(MANIFEST, "manifest_of_another_session", detail);
        }
        let mut text =
            |field| fields.shift_remove(field).and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default();
        self.session.manifest.created_at = text("created_at");
        self.session.manifest.last_activity = text("last_activity");
        match fields.shift_remove("context_files") {
            Some(Value::Object(entries)) => entries.into_iter().for_each(|(path, entry)| self.entry(path, entry)),
            _ => {
                self.wrong(MANIFEST, "manifest_damaged", "context_files is not an object, so no file is listed");
                self.documents();
            }
        }
        let index = fields.shift_remove("context_index").unwrap_or_default();
        self.session.manifest.unknown = fields;
        self.index(&index);
    }

    fn entry(&mut self, path: String, value: Value) {
        let entry = serde_json::from_value::<Entry>(value).unwrap_or_else(|error| {
            let why = in_words(&error.to_string());
            self.wrong(&path, "entry_damaged", format!("the entry of the file cannot be read: {why}"));
            self.remade(&path)
        });
        self.session.manifest.context_files.insert(path, entry);
    }

    fn index(&mut self, found: &Value) {
        let should = value_of(&self.session.manifest.index());
        if !is_same_index(found, &should) {
            let detail = "context_index does not match the keywords, so searches miss files or find wrong ones";
            self.wrong(MANIFEST, "index_wrong", detail);
        }
    }

    /// Lists the documents that name this session.
    fn documents(&mut self) {
        for category in Category::ALL {
            let Ok(Some(folder)) = self.session.folder.folder(category.as_str()) else { continue };
            for name in folder.names().unwrap_or_default() {
                let path = format!("{category}/{name}");
                let is_ours = name.ends_with(ending(category)) && path.parse::<ContextPath>().is_ok();
                let text = if is_ours { folder.read(&name).ok().flatten().unwrap_or_default() } else { Vec::new() };
                let line = format!("Session: {}", self.session.id);
                if text.split(|byte| *byte == b'\n').take(5).any(|it| it.trim_ascii() == line.as_bytes()) {
                    let entry = self.remade(&path);
                    self.session.manifest.context_files.insert(path, entry);
                }
            }
        }
    }

    /// A new entry for a file whose entry is lost.
    fn remade(&self, path: &str) -> Entry {
        let name = path.parse::<ContextPath>().map_or_else(|_| path.to_owned(), |path| path.name().to_owned());
        let created = self.changed_at(path);
        Entry { created, recipient: UNKNOWN.to_owned(), keywords: vec![name], unknown: Map::new() }
    }

    /// When a file was changed, in the form of manifests; empty if there is no file.
    fn changed_at(&self, path: &str) -> String {
        let seconds = path.parse::<ContextPath>().ok().and_then(|path| {
            let folder = self.session.reach(&path).ok().flatten()?;
            folder.changed_at(path.split().1)
        });
        let time = seconds.and_then(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)).ok());
        time.map_or_else(String::new, stamp)
    }

    /// Drops invalid entries.
    fn entries(&mut self) {
        for path in self.session.manifest.context_files.keys().cloned().collect::<Vec<_>>() {
            let Some((code, detail)) = self.fault(&path) else { continue };
            self.wrong(&path, code, detail);
            self.session.manifest.context_files.shift_remove(&path);
        }
    }

    fn fault(&self, path: &str) -> Option<(&'static str, String)> {
        let path: ContextPath = match path.parse() {
            Ok(path) => path,
            Err(error) => return Some(("outside", format!("the entry names no file of the session: {error}"))),
        };
        match self.session.kind(&path) {
            Ok(EntryKind::File) => None,
            Ok(EntryKind::Nothing) => {
                Some(("file_missing", "the file is in the manifest, but does not exist".to_owned()))
            }
            Ok(found) => Some(("misplaced", format!("the entry names no file: it is {}", found.words()))),
            Err(error) => Some((error.code(), format!("the file cannot be reached: {error}"))),
        }
    }

    /// Replaces invalid dates by the time when the file was changed, or by now.
    fn dates(&mut self, now: Option<Timestamp>) {
        let paths: Vec<_> = self.session.manifest.context_files.keys().cloned().collect();
        for path in paths {
            let changed = self.changed_at(&path);
            let Some(entry) = self.session.manifest.context_files.get_mut(&path) else { continue };
            if entry.created.parse::<Timestamp>().is_err() {
                let was = std::mem::replace(&mut entry.created, changed);
                self.wrong(
                    &path,
                    "bad_date",
                    format!("created is {was:?}, which is not a time, so nothing is cleaned up"),
                );
            }
        }
        let now = now.map(stamp).unwrap_or_default();
        let Manifest { created_at, last_activity, .. } = &mut self.session.manifest;
        for (name, date) in [("created_at", created_at), ("last_activity", last_activity)] {
            if date.parse::<Timestamp>().is_err() {
                let was = std::mem::replace(date, now.clone());
                // A missing manifest has been reported as a whole.
                if self
                    .problems
                    .iter()
                    .any(|problem| problem.code == "manifest_missing" || problem.code == "manifest_damaged")
                {
                    continue;
                }
                let detail = format!("{name} is {was:?}, which is not a time, so nothing is cleaned up");
                self.problems.push(problem(&self.session.id, MANIFEST, "bad_date", detail));
            }
        }
    }

    /// Reports files that the manifest does not list. They are not touched, since their owner is unknown.
    fn strays(&mut self) {
        let mut strays = Vec::new();
        strays_in(&self.session.folder, "", 0, &self.session.manifest, &mut strays);
        for path in strays {
            let detail = "it is not in the manifest, so nobody finds it and it is never cleaned up: \
                          list it with `callboard files add --file`, or move it away";
            self.beyond(&path, "not_tracked", detail);
        }
    }
}

fn strays_in(folder: &Folder, before: &str, depth: usize, manifest: &Manifest, strays: &mut Vec<String>) {
    for name in folder.names().unwrap_or_default() {
        let path = format!("{before}{name}");
        let is_ours = depth == 0 && [MANIFEST, NEW_MANIFEST, NEW_DOCUMENT].contains(&name.as_str());
        if is_ours || manifest.context_files.contains_key(&path) {
            continue;
        }
        match folder.folder(&name) {
            Ok(Some(below)) if depth < 32 => strays_in(&below, &format!("{path}/"), depth + 1, manifest, strays),
            Ok(None) => {}
            _ => strays.push(path),
        }
    }
}

/// Whether two indexes are equal, in any order.
fn is_same_index(found: &Value, should: &Value) -> bool {
    let sorted = |index: &Value| {
        let mut words = IndexMap::<String, Vec<String>>::deserialize(index).ok()?;
        words.values_mut().for_each(|paths| paths.sort_unstable());
        Some(words)
    };
    sorted(found).is_some_and(|found| Some(found) == sorted(should))
}
