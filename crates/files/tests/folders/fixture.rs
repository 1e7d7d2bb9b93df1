//! A project in a folder of its own, at a time that the test sets.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use callboard_core::{id::SessionId, time::Timestamp};
use callboard_files::{Category, Cleaned, ContextPath, Error, Keyword, NewFile, Project, Session};
use serde_json::Value;
use tempfile::TempDir;

/// The day that most tests play on.
pub const NOW: &str = "2025-01-18T14:30:22Z";

pub const ID: &str = "20250118-143022-a4f2";

pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    /// A place with a session in it.
    pub fn with_session() -> Self {
        let place = Self::new();
        place.project().create_as(&id(ID), now()).unwrap();
        place
    }

    /// A place with a session that has two files.
    pub fn with_files() -> Self {
        let place = Self::with_session();
        place.add(Category::Features, "user-auth", "user-auth,features").unwrap();
        place.add(Category::Tasks, "user-auth", "user-auth").unwrap();
        place
    }

    pub fn project(&self) -> Project {
        Project::at(&self.folder.path().join("project")).unwrap()
    }

    pub fn session(&self) -> Session {
        self.project().session(&id(ID)).unwrap()
    }

    /// A path in the folder of the session.
    pub fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("project/.tmp/sessions").join(ID).join(path)
    }

    pub fn add(&self, category: Category, name: &str, keywords: &str) -> Result<ContextPath, Error> {
        self.session().add(&file(category, name, keywords), now())
    }

    pub fn manifest(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path(".manifest.json")).unwrap()).unwrap()
    }

    /// Writes the manifest as somebody else might.
    pub fn set_manifest(&self, manifest: &Value) {
        fs::write(self.path(".manifest.json"), serde_json::to_vec(manifest).unwrap()).unwrap();
    }

    /// Cleans up a day and a second later.
    pub fn clean(&self) -> Cleaned {
        self.project().clean(DAY, now().plus_seconds(86_401), false).unwrap()
    }

    /// All that there is, with what stands in files and where links lead to.
    pub fn all(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        walk(self.folder.path(), "", &mut all);
        all
    }
}

pub const DAY: Duration = Duration::from_secs(86_400);

pub fn now() -> Timestamp {
    NOW.parse().unwrap()
}

pub fn id(id: &str) -> SessionId {
    id.parse().unwrap()
}

pub fn words(words: &str) -> Vec<Keyword> {
    words.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
}

pub fn file(category: Category, name: &str, keywords: &str) -> NewFile {
    NewFile {
        category,
        name: name.parse().unwrap(),
        recipient: "@coder".parse().unwrap(),
        keywords: words(keywords),
        request: format!("Do {name}."),
        background: None,
        expected: None,
        constraints: None,
    }
}

fn walk(folder: &Path, before: &str, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{before}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.insert(path.clone(), "folder".to_owned());
            walk(&entry.path(), &format!("{path}/"), all);
        } else if kind.is_symlink() {
            all.insert(path, format!("link to {}", fs::read_link(entry.path()).unwrap().display()));
        } else if kind.is_file() {
            all.insert(path, format!("file {}", String::from_utf8_lossy(&fs::read(entry.path()).unwrap())));
        } else {
            all.insert(path, "something else".to_owned());
        }
    }
}
