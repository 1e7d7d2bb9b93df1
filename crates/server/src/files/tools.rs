//! What agents do with context files through tools.

use callboard_core::{
    error::Error as Refusal,
    tool::{
        FileCall,
        file::{Delegate, ReadFile},
    },
};
use callboard_engine::{ContextFiles, Error, Session};
use callboard_files::{FileQuery, FoundFile, Session as Folder};
use futures::future::BoxFuture;
use serde_json::json;

use super::{Files, masked};
use crate::call_error::CallError;

/// How many files are named to a model at most.
const FOUND: usize = 100;

impl ContextFiles for Files {
    fn call<'a>(&'a self, session: &'a Session, call: FileCall) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let (id, now) = (session.id(), session.now().await?);
            let done = match call {
                FileCall::Find(query) => {
                    let search = move |folder: &mut Folder| Ok(folder.search(&query));
                    found(&self.in_folder(id, now, search).await.map_err(refused)?.unwrap_or_default())
                }
                FileCall::Read(ReadFile { path }) => {
                    let read = self.read(id, now, path.clone()).await.map_err(refused)?;
                    let (_, content) = read.ok_or_else(|| Refusal::not_found("context file", &path))?;
                    // What a file says comes from outside of the journal.
                    session.mask().await?.mask(&content).unwrap_or(content)
                }
                FileCall::Add(file) => {
                    let (file, id) = (masked(session, file, "/arguments").await?, id.clone());
                    let added = self.with(move |project| {
                        let mut folder = project.session_or_new(&id, now)?;
                        let path = folder.add(&file, now)?;
                        Ok(folder.shown(path.as_str()))
                    });
                    format!("Context file added: {}", added.await.map_err(refused)?)
                }
                FileCall::Delegate(Delegate { to, task, keywords }) => {
                    let task = session.mask().await?.mask(&task).unwrap_or(task);
                    let query = FileQuery { keywords, ..FileQuery::default() };
                    self.delegate(id, now, to, task, query).await.map_err(refused)?.0
                }
            };
            self.observe(session).await.map_err(refused)?;
            Ok(done)
        })
    }
}

/// What a model is told of files that were found.
fn found(found: &[FoundFile]) -> String {
    let file = |file: &FoundFile| json!({"path": file.path, "for": file.recipient, "keywords": file.keywords});
    let files: Vec<_> = found.iter().take(FOUND).map(file).collect();
    match found.len().saturating_sub(FOUND) {
        0 => json!({ "files": files }),
        more => json!({"files": files, "note": format!("{more} more: say more exactly which are meant")}),
    }
    .to_string()
}

/// What a model is told of an error with files.
fn refused(error: CallError) -> Error {
    if error.code == "closed" { Error::Closed } else { Refusal::invalid("", error.detail).into() }
}
