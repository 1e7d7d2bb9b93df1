//! A session: a folder with files and their manifest. It is locked while it is open.

use std::path::PathBuf;

use callboard_core::{id::SessionId, time::Timestamp};
use serde_json::Map;

use crate::{
    ContextPath, Entry, Error, Keyword, Manifest, NewFile, Recipient, Template,
    disk::{EntryKind, Folder},
    manifest::stamp,
    path::{MANIFEST, NEW_DOCUMENT, NEW_MANIFEST},
    project,
};

/// A session.
#[derive(Debug)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) folder: Folder,
    pub(crate) manifest: Manifest,
    pub(crate) roots: [PathBuf; 2],
}

impl Session {
    /// Creates a session in an empty folder.
    pub(crate) fn begin(id: SessionId, folder: Folder, roots: [PathBuf; 2], now: Timestamp) -> Result<Self, Error> {
        let session = Self { manifest: Manifest::new(&id, now), id, folder, roots };
        session.write()?;
        Ok(session)
    }

    pub(crate) fn open(id: SessionId, folder: Folder, roots: [PathBuf; 2]) -> Result<Self, Error> {
        let path = folder.shown(MANIFEST);
        let bytes = folder.read(MANIFEST)?.ok_or_else(|| Error::NoManifest { path: path.clone() })?;
        let manifest = Manifest::parse(&bytes).map_err(|why| Error::Damaged { path: path.clone(), why })?;
        if manifest.session_id != id.as_str() {
            return Err(Error::OfAnother { path, found: manifest.session_id });
        }
        Ok(Self { id, folder, manifest, roots })
    }

    /// Its name.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its folder, as a path below the project.
    pub fn path(&self) -> String {
        project::shown(&self.id, "").trim_end_matches('/').to_owned()
    }

    /// The path of one of its files, below the project.
    pub fn shown(&self, path: &str) -> String {
        project::shown(&self.id, path)
    }

    /// Notes that it is in use.
    pub fn touch(&mut self, now: Timestamp) -> Result<(), Error> {
        self.manifest.last_activity = stamp(now);
        self.write()
    }

    /// Writes a new file.
    pub fn add(&mut self, file: &NewFile, now: Timestamp) -> Result<ContextPath, Error> {
        self.add_by(&Template::default(), file, now)
    }

    /// The same by a template for its text.
    pub fn add_by(&mut self, template: &Template, file: &NewFile, now: Timestamp) -> Result<ContextPath, Error> {
        let path = ContextPath::new(file.category, &file.name);
        let there = self.kind(&path)?;
        match (there, self.manifest.context_files.contains_key(path.as_str())) {
            // An entry without a file comes from an interrupted process, or the file was deleted by hand.
            (EntryKind::Nothing, _) => {}
            (EntryKind::File, true) => return Err(Error::FileExists { path: self.shown(path.as_str()) }),
            (EntryKind::File, false) => return Err(Error::NotOurs { path: self.shown(path.as_str()) }),
            (found, _) => return Err(self.misplaced(&path, found)),
        }
        let text = template.document(&self.id, file)?;
        self.folder.write(NEW_DOCUMENT, text.as_bytes())?;
        let entry = entry(&path, &file.recipient, &file.keywords, now);
        let placed = self.place(&path, entry, now);
        if placed.is_err() {
            let _ = self.folder.remove(NEW_DOCUMENT);
        }
        placed.map(|()| path)
    }

    /// The path of a file, if it exists exactly as [`Self::add`] would write it.
    pub fn has(&self, file: &NewFile) -> Result<Option<ContextPath>, Error> {
        let path = ContextPath::new(file.category, &file.name);
        let Some(there) = self.manifest.context_files.get(path.as_str()) else { return Ok(None) };
        let meant = entry(&path, &file.recipient, &file.keywords, Timestamp::default());
        let is_listed = there.recipient == meant.recipient && there.keywords == meant.keywords;
        let document = Template::default().document(&self.id, file);
        let is_it = is_listed && self.read(&path)?.is_some_and(|text| document.is_ok_and(|own| own == text));
        Ok(is_it.then_some(path))
    }

    /// Adds a file that is in the folder already to the manifest.
    pub fn track(
        &mut self,
        path: &ContextPath,
        recipient: &Recipient,
        keywords: &[Keyword],
        now: Timestamp,
    ) -> Result<(), Error> {
        path.category()?;
        if self.manifest.context_files.contains_key(path.as_str()) {
            return Err(Error::FileExists { path: self.shown(path.as_str()) });
        }
        match self.kind(path)? {
            EntryKind::File => {}
            EntryKind::Nothing => return Err(Error::NoFile { path: self.shown(path.as_str()) }),
            found => return Err(self.misplaced(path, found)),
        }
        self.enter(path, entry(path, recipient, keywords, now), now)
    }

    /// Removes a file, and its entry.
    pub fn remove(&mut self, path: &ContextPath, now: Timestamp) -> Result<(), Error> {
        if !self.manifest.context_files.contains_key(path.as_str()) {
            return Err(Error::NotTracked { path: self.shown(path.as_str()) });
        }
        if let Some(folder) = self.reach(path)? {
            match folder.kind(path.split().1)? {
                EntryKind::File => {
                    folder.remove(path.split().1)?;
                    folder.flush()?;
                }
                EntryKind::Nothing => {}
                found => return Err(self.misplaced(path, found)),
            }
        }
        self.manifest.context_files.shift_remove(path.as_str());
        self.touch(now)
    }

    /// The text of a file, if it exists.
    pub fn read(&self, path: &ContextPath) -> Result<Option<String>, Error> {
        let Some(folder) = self.reach(path)? else { return Ok(None) };
        let bytes = folder.read(path.split().1)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Resolves a user's name for a file: a path in the manifest, below the project, or from the root.
    pub fn meant(&self, text: &str) -> Result<ContextPath, Error> {
        project::meant(&self.id, &self.roots, text)
    }

    /// The kind of the item at a path.
    pub(crate) fn kind(&self, path: &ContextPath) -> Result<EntryKind, Error> {
        let folder = self.reach(path)?;
        folder.map_or(Ok(EntryKind::Nothing), |folder| folder.kind(path.split().1))
    }

    /// Opens the folder that a file is in, if there is one. A link in the path is an error.
    pub(crate) fn reach(&self, path: &ContextPath) -> Result<Option<Folder>, Error> {
        let mut folder = None;
        for name in path.split().0 {
            let above = folder.as_ref().unwrap_or(&self.folder);
            match above.folder(name)? {
                Some(below) => folder = Some(below),
                None => return Ok(None),
            }
        }
        match folder {
            Some(folder) => Ok(Some(folder)),
            None => self.folder.again().map(Some),
        }
    }

    /// Writes the manifest, with its index.
    pub(crate) fn write(&self) -> Result<(), Error> {
        self.folder.write(NEW_MANIFEST, &self.manifest.to_json())?;
        self.folder.replace(NEW_MANIFEST, MANIFEST)?;
        self.folder.flush()
    }

    /// Lists a document in the manifest, and then moves it to its place.
    fn place(&mut self, path: &ContextPath, entry: Entry, now: Timestamp) -> Result<(), Error> {
        for name in path.split().0.take(1) {
            self.folder.make(name)?;
        }
        let folder = self.reach(path)?.ok_or_else(|| Error::NoFile { path: self.shown(path.as_str()) })?;
        self.enter(path, entry, now)?;
        let moved = self.folder.move_to(NEW_DOCUMENT, &folder, path.split().1).and_then(|()| folder.flush());
        if moved.is_err() {
            self.manifest.context_files.shift_remove(path.as_str());
            let _ = self.write();
        }
        moved
    }

    fn enter(&mut self, path: &ContextPath, entry: Entry, now: Timestamp) -> Result<(), Error> {
        let before = self.manifest.context_files.insert(path.to_string(), entry);
        let listed = self.touch(now);
        if listed.is_err() {
            match before {
                Some(entry) => drop(self.manifest.context_files.insert(path.to_string(), entry)),
                None => drop(self.manifest.context_files.shift_remove(path.as_str())),
            }
        }
        listed
    }

    fn misplaced(&self, path: &ContextPath, found: EntryKind) -> Error {
        Error::Misplaced { path: self.shown(path.as_str()), found: found.words(), expected: EntryKind::File.words() }
    }
}

fn entry(path: &ContextPath, recipient: &Recipient, keywords: &[Keyword], now: Timestamp) -> Entry {
    let mut words: Vec<String> = Vec::with_capacity(keywords.len());
    for keyword in keywords {
        if !words.iter().any(|word| word == keyword.as_str()) {
            words.push(keyword.to_string());
        }
    }
    if words.is_empty() {
        words.push(path.name().to_owned());
    }
    Entry { created: stamp(now), recipient: recipient.to_string(), keywords: words, unknown: Map::new() }
}
