//! Context files.

use callboard_api as api;
use callboard_core::time::Timestamp;
use callboard_files::{Error, Found, Keyword, NewFile, Parts, Project, Query, Session, Template, message};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    rights::{ReadFiles, WriteFiles},
};
use crate::{
    app::App,
    files::{self, Files},
};

fn without_content(found: Found) -> api::ContextFile {
    let Found { path, recipient, keywords, created, session_id } = found;
    api::ContextFile { path, recipient, keywords, created, session_id, content: None }
}

fn parse(query: api::FilesQuery) -> Result<Query, CallError> {
    let api::FilesQuery { keywords, matching, category, recipient, text } = query;
    let keywords = api::words(keywords.as_deref()).map(str::parse).collect::<Result<Vec<Keyword>, _>>()?;
    Ok(Query { keywords, matching, category, recipient, text })
}

/// The folder of the project, if the server has one.
fn files(app: &App) -> Result<&Files, CallError> {
    app.files.as_deref().ok_or_else(|| {
        CallError::new("no_project", "this server has no project folder").hint("start it with `--project DIR`")
    })
}

/// Whether an error means that there is no such file. An invalid path is the path of no file.
fn is_nothing(error: &CallError) -> bool {
    ["not_found", "invalid", "outside"].contains(&error.code)
}

fn absent(path: &str) -> CallError {
    CallError::not_found(format!("there is no context file {path}"))
}

impl<R> Authorized<R> {
    /// Works with the folder of the session, which counts as using it, and then records what is in it. `otherwise` gives the
    /// result if there is no folder.
    async fn in_folder<T: Send + 'static>(
        &self,
        otherwise: impl FnOnce(Error) -> Result<T, Error> + Send + 'static,
        work: impl FnOnce(&mut Session, Timestamp) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, CallError> {
        let files = files(&self.app)?;
        let (id, now) = (self.session.id().clone(), files::now(&self.app.board).await?);
        let work = move |project: &Project| match project.session(&id) {
            Ok(mut session) => {
                session.touch(now)?;
                work(&mut session, now)
            }
            Err(error @ Error::NoSession { .. }) => otherwise(error),
            Err(error) => Err(error),
        };
        let done = files.with(work).await?;
        files.observe(&self.session).await?;
        Ok(done)
    }
}

/// Writes a file. In a repeated request, a file with this content may be the one that the first attempt wrote.
async fn write(
    caller: &Authorized<WriteFiles>,
    file: NewFile,
    is_repeat: bool,
) -> Result<api::ContextFileAdded, CallError> {
    let (files, id) = (files(&caller.app)?, caller.session.id().clone());
    let now = files::now(&caller.app.board).await?;
    let add = move |project: &Project| {
        let mut session = project.session_or_new(&id, now)?;
        let written = if is_repeat { session.has(&file)? } else { None };
        let path = written.map_or_else(|| session.add(&file, now), Ok)?;
        Ok(api::ContextFileAdded { path: session.shown(path.as_str()), session_id: id })
    };
    let added = files.with(add).await?;
    files.observe(&caller.session).await?;
    Ok(added)
}

impl Authorized<ReadFiles> {
    pub(crate) async fn list_files(&self, query: api::FilesQuery) -> Result<Answer<api::ContextFileList>, CallError> {
        let query = parse(query)?;
        let found = self.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.list(&query))).await?;
        Ok(Answer::ok(api::ContextFileList { files: found.into_iter().map(without_content).collect() }))
    }

    pub(crate) async fn search_files(&self, query: api::FilesQuery) -> Result<Answer<api::ContextFileList>, CallError> {
        let query = parse(query)?;
        let found = self.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.search(&query))).await?;
        Ok(Answer::ok(api::ContextFileList { files: found.into_iter().map(without_content).collect() }))
    }

    pub(crate) async fn read_file(&self, path: String) -> Result<Answer<api::ContextFile>, CallError> {
        let absent = || absent(&path);
        let meant = path.clone();
        let read = move |session: &mut Session, _| {
            let path = session.meant(&meant)?;
            let shown = session.shown(path.as_str());
            let found = session.list(&Query::default()).into_iter().find(|file| file.path == shown);
            let found = found.ok_or(Error::NotTracked { path: shown.clone() })?;
            let content = session.read(&path)?.ok_or(Error::NoFile { path: shown })?;
            Ok((found, content))
        };
        let (found, content) = match self.in_folder(Err, read).await {
            Err(error) if is_nothing(&error) => return Err(absent()),
            done => done?,
        };
        // What a file says comes from outside of the journal.
        let content = self.session.mask().await?.mask(&content).unwrap_or(content);
        Ok(Answer::ok(api::ContextFile { content: Some(content), ..without_content(found) }))
    }
}

impl Authorized<WriteFiles> {
    pub(crate) async fn add_file(
        &self,
        body: api::NewContextFile,
        options: WriteOptions,
    ) -> Result<Answer<api::ContextFileAdded>, CallError> {
        let api::NewContextFile { category, name, recipient, keywords, request, background, expected, constraints } =
            body;
        let mask = self.session.mask().await?;
        self.session.check_name("/name", &name.to_string()).await?;
        for (at, keyword) in keywords.iter().enumerate() {
            self.session.check_name(&format!("/keywords/{at}"), &keyword.to_string()).await?;
        }
        let hide = |text: String| mask.mask(&text).unwrap_or(text);
        let (background, expected) = (background.map(hide), expected.map(hide));
        let parts = Parts { request: hide(request), background, expected, constraints: constraints.map(hide) };
        let file = NewFile { category, name, recipient, keywords, parts, template: Template::default() };
        let added = self.idempotent(&options, async |is_repeat| write(self, file, is_repeat).await).await?;
        Ok(Answer::ok(added))
    }

    pub(crate) async fn delegate_with_files(
        &self,
        body: api::Delegation,
    ) -> Result<Answer<api::DelegationMessage>, CallError> {
        let api::Delegation { to, task, keywords, category } = body;
        if task.trim().is_empty() {
            return Err(CallError::invalid("/task", "say what the agent has to do"));
        }
        let task = self.session.mask().await?.mask(&task).unwrap_or(task);
        let query = Query { keywords, category, ..Query::default() };
        let (reader, words) = (to.clone(), task.clone());
        let related = move |session: &mut Session, _| Ok(session.related(&reader, &words, &query));
        let found = self.in_folder(|_| Ok(Vec::new()), related).await?;
        let files: Vec<String> = found.into_iter().map(|file| file.path).collect();
        Ok(Answer::ok(api::DelegationMessage { message: message(to.as_str(), &task, &files), files }))
    }

    pub(crate) async fn remove_file(&self, path: String, options: WriteOptions) -> Result<(), CallError> {
        self.idempotent(&options, async |is_repeat| erase(self, &path, is_repeat).await).await?;
        Ok(())
    }
}

/// Removes a file. In a repeated request, a missing file was removed by the first attempt.
async fn erase(caller: &Authorized<WriteFiles>, path: &str, is_repeat: bool) -> Result<(), CallError> {
    let meant = path.to_owned();
    let remove = move |session: &mut Session, now| {
        let path = session.meant(&meant)?;
        session.remove(&path, now)
    };
    match caller.in_folder(Err, remove).await {
        Ok(()) => Ok(()),
        Err(error) if is_nothing(&error) && is_repeat => Ok(()),
        Err(error) if is_nothing(&error) => Err(absent(path)),
        Err(error) => Err(error),
    }
}
