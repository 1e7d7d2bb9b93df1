//! What agents do with context files through tools.

use callboard_core::{
    error::Error as Refusal,
    tool::{
        FileCall,
        file::{AddFile, Delegate, ReadFile},
    },
};
use callboard_engine::{ContextFiles, Error, Session};
use callboard_files::{Error as FilesError, FileQuery, FoundFile, Session as Folder, message};
use futures::future::BoxFuture;
use serde_json::json;

use super::{Files, masked};

/// How many files are named to a model at most.
const FOUND: usize = 100;

impl ContextFiles for Files {
    fn call<'a>(&'a self, session: &'a Session, call: FileCall) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let done = match call {
                FileCall::Find(wanted) => self.find(session, wanted).await,
                FileCall::Read(file) => self.read(session, file).await,
                FileCall::Add(file) => self.add(session, file).await,
                FileCall::Delegate(wanted) => self.delegate(session, wanted).await,
            }?;
            self.observe(session).await.map_err(|error| Refusal::invalid("", error.detail))?;
            Ok(done)
        })
    }
}

impl Files {
    async fn find(&self, session: &Session, query: FileQuery) -> Result<String, Error> {
        let search = move |folder: &mut Folder| Ok(folder.search(&query));
        let found = self.in_folder(session, search).await?.unwrap_or_default();
        let more = found.len().saturating_sub(FOUND);
        let file = |file: &FoundFile| json!({"path": file.path, "for": file.recipient, "keywords": file.keywords});
        let files: Vec<_> = found.iter().take(FOUND).map(file).collect();
        Ok(match more {
            0 => json!({ "files": files }),
            more => json!({"files": files, "note": format!("{more} more: say more exactly which are meant")}),
        }
        .to_string())
    }

    async fn read(&self, session: &Session, ReadFile { path }: ReadFile) -> Result<String, Error> {
        let absent = || Error::from(Refusal::not_found("context file", &path));
        let meant = path.clone();
        let read = move |folder: &mut Folder| {
            let path = folder.meant(&meant)?;
            let shown = folder.shown(path.as_str());
            let is_tracked = folder.list(&FileQuery::default()).iter().any(|file| file.path == shown);
            if is_tracked { folder.read(&path) } else { Ok(None) }
        };
        let content = self.in_folder(session, read).await?.flatten().ok_or_else(absent)?;
        // What a file says comes from outside of the journal.
        Ok(session.mask().await?.mask(&content).unwrap_or(content))
    }

    async fn add(&self, session: &Session, file: AddFile) -> Result<String, Error> {
        let file = masked(session, file, "/arguments").await?;
        let (id, now) = (session.id().clone(), session.now().await?);
        let added = self.at_work(move |project| {
            let mut folder = project.session_or_new(&id, now)?;
            let path = folder.add(&file, now)?;
            Ok(folder.shown(path.as_str()))
        });
        Ok(format!("Context file added: {}", added.await?))
    }

    async fn delegate(&self, session: &Session, wanted: Delegate) -> Result<String, Error> {
        let Delegate { to, task, keywords } = wanted;
        let task = session.mask().await?.mask(&task).unwrap_or(task);
        let query = FileQuery { keywords, ..FileQuery::default() };
        let (reader, words) = (to.clone(), task.clone());
        let related = move |folder: &mut Folder| Ok(folder.related(&reader, &words, &query));
        let found = self.in_folder(session, related).await?.unwrap_or_default();
        let paths: Vec<_> = found.into_iter().map(|file| file.path).collect();
        Ok(message(to.as_str(), &task, &paths))
    }

    /// Works with the folder of a session, which counts as using it; `None` if there is no folder.
    async fn in_folder<T: Send + 'static>(
        &self,
        session: &Session,
        work: impl FnOnce(&mut Folder) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<Option<T>, Error> {
        let (id, now) = (session.id().clone(), session.now().await?);
        let work = move |project: &callboard_files::Project| match project.session(&id) {
            Ok(mut folder) => {
                folder.touch(now)?;
                work(&mut folder).map(Some)
            }
            Err(FilesError::NoSession { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        self.at_work(work).await
    }

    /// Works with the project on a thread of its own.
    async fn at_work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&callboard_files::Project) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<T, Error> {
        let project = self.project.clone();
        match tokio::task::spawn_blocking(move || work(&project)).await {
            Ok(done) => done.map_err(|error| refused(&error)),
            Err(_) => Err(Error::Closed),
        }
    }
}

/// What a model is told of an error with files.
fn refused(error: &FilesError) -> Error {
    Refusal::invalid("", error.to_string()).into()
}
