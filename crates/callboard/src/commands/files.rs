//! `callboard files`: context files in a project's folder, without a server or a store.

mod add;
mod args;

use std::{env, path::Path, process::ExitCode, time::Duration};

use callboard_engine::core::{
    id::{BadName, SessionId},
    time::Timestamp,
};
use callboard_files::{
    Cleaned, FileQuery, FolderProblem, FoundFile, INSTRUCTIONS, Keyword, Project, Recipient, Task, message,
    should_create,
};
use callboard_store::{Clock as _, SystemClock};
use serde_json::json;

pub(super) use self::args::Files;
use self::args::{FilesCommand, FilesQuery, FilesSession};
use crate::{
    config,
    failure::Failure,
    output::{Output, Style},
    terminal,
};

pub(crate) fn execute(files: Files, output: Output) -> Result<ExitCode, Failure> {
    let Files { root, command } = files;
    let project = || project(root.as_deref(), output);
    match command {
        FilesCommand::New { session, no_clean } => new(&project()?, session.as_deref(), !no_clean, output)?,
        FilesCommand::Sessions => sessions(&project()?, output)?,
        FilesCommand::Add(args) => add::add(&project()?, args, output)?,
        FilesCommand::List { session, query } => {
            let mut session = project()?.session(&session.id()?)?;
            session.touch(now())?;
            let files = session.list(&query.parse()?);
            output.answer(&json!({ "files": files }), |output| table(&files, output));
        }
        FilesCommand::Search { session, query, all_sessions } => {
            let project = project()?;
            let session = if all_sessions { None } else { Some(FilesSession { session }.id()?) };
            return search(&project, session.as_ref(), &query, output);
        }
        FilesCommand::Delegate { session, to, task, query } => {
            delegate(&project()?, &session.id()?, &to, &terminal::text(&task)?, &query, output)?;
        }
        FilesCommand::Remove { session, path } => {
            let mut session = project()?.session(&session.id()?)?;
            let path = session.meant(&path)?;
            session.remove(&path, now())?;
            let (path, id) = (session.shown(path.as_str()), session.id());
            output.answer(&json!({"removed": path, "session_id": id}), |output| output.line(format!("removed {path}")));
        }
        FilesCommand::Touch(session) => {
            let mut session = project()?.session(&session.id()?)?;
            session.touch(now())?;
            let (id, last) = (session.id(), &session.manifest().last_activity);
            let json = json!({"session_id": id, "last_activity": last});
            output.answer(&json, |output| output.line(format!("touched {id} at {last}")));
        }
        FilesCommand::End(session) => {
            let (project, id) = (project()?, session.id()?);
            // A session that is not there may be one that was spelled wrongly.
            project.session(&id).map(drop)?;
            let ended = project.end(&id, now())?;
            return Ok(cleaned(&ended, "deleted", output));
        }
        FilesCommand::Clean { older_than, dry_run } => return clean(&project()?, older_than, dry_run, output),
        FilesCommand::Check { session, repair } => return check(&project()?, session.as_deref(), repair, output),
        FilesCommand::ShouldCreate { sentences, delegating, risk } => {
            advise(Task { sentences, delegating, risk }, output);
        }
        FilesCommand::Instructions => {
            output.answer(&json!({ "instructions": INSTRUCTIONS }), |output| output.write(INSTRUCTIONS));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The project of the named folder, else of the nearest one with sessions, from the current folder upwards, else of the
/// current folder. Paths are below it, so it is told where it is another one.
fn project(named: Option<&Path>, output: Output) -> Result<Project, Failure> {
    if let Some(root) = named {
        return Ok(Project::at(root)?.named());
    }
    let here = env::current_dir().unwrap_or_default();
    let Some(root) = Project::nearest(&here).filter(|root| *root != here.as_path()) else {
        return Ok(Project::at(Path::new("."))?);
    };
    output.note(format!("project {}", root.display()));
    Ok(Project::at(root)?)
}

/// After how long a session is stale: more than 24 hours.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// Creates a session, after stale ones were cleaned up. What could not be cleaned up is no reason to create none.
fn new(project: &Project, name: Option<&str>, cleans: bool, output: Output) -> Result<(), Failure> {
    let name = name.map(self::name::<SessionId>).transpose()?;
    let cleaned = if cleans { project.clean(STALE, now(), false) } else { Ok(Cleaned::default()) };
    let session = match name {
        Some(name) => project.create_as(&name, now())?,
        None => project.create(now(), random)?,
    };
    let (deleted, kept) = match cleaned {
        Ok(cleaned) => (cleaned.deleted, cleaned.kept),
        Err(error) => {
            output.note(format!("nothing was cleaned up: {error}"));
            Default::default()
        }
    };
    let (id, path) = (session.id(), session.path());
    output.answer(&json!({"session_id": id, "path": path, "deleted": deleted, "kept": kept}), |output| {
        output.line(format!("session    {id}"));
        output.line(format!("folder     {path}"));
        deleted.iter().for_each(|path| output.line(format!("deleted    {path}")));
        kept.iter().for_each(|kept| output.note(format!("kept {}: {}", kept.path, kept.reason)));
    });
    Ok(())
}

/// Lists the sessions. To be listed is no use of a session.
fn sessions(project: &Project, output: Output) -> Result<(), Failure> {
    let mut sessions = Vec::new();
    for id in project.ids()? {
        match project.look(&id) {
            Ok(Some(session)) => {
                sessions.push((session.manifest().last_activity.clone(), id, session.manifest().context_files.len()))
            }
            Ok(None) => {}
            Err(error) => output.note(format!("skipped: {error}")),
        }
    }
    sessions.sort_by(|one, other| other.cmp(one));
    let json = |(last, id, files): &(String, SessionId, usize)| json!({"session_id": id, "last_activity": last, "files": files});
    let listed: Vec<_> = sessions.iter().map(json).collect();
    output.answer(&json!({ "sessions": listed }), |output| {
        let row = |(last, id, files): &(String, SessionId, usize)| {
            vec![id.to_string(), shown_time(last, output), files.to_string()]
        };
        output.list(&["SESSION", "LAST USED", "FILES"], sessions.iter().map(row), "sessions");
    });
    Ok(())
}

/// Searches a session, or all of them.
fn search(
    project: &Project,
    session: Option<&SessionId>,
    query: &FilesQuery,
    output: Output,
) -> Result<ExitCode, Failure> {
    let query = query.parse()?;
    let files = match session {
        None => {
            let found = project.search(&query)?;
            output.answer(&found, |output| hits(&found.files, output));
            for skipped in &found.skipped {
                output.note(format!("skipped: {}", skipped.reason));
            }
            found.files
        }
        Some(id) => {
            let mut session = project.session(id)?;
            session.touch(now())?;
            let files = session.search(&query);
            output.answer(&json!({ "files": files }), |output| hits(&files, output));
            files
        }
    };
    if files.is_empty() {
        output.note("nothing was found");
    }
    Ok(status(!files.is_empty()))
}

/// Prints what was found, if anything was.
fn hits(files: &[FoundFile], output: Output) {
    if !files.is_empty() {
        table(files, output);
    }
}

fn delegate(
    project: &Project,
    id: &SessionId,
    to: &str,
    task: &str,
    query: &FilesQuery,
    output: Output,
) -> Result<(), Failure> {
    let to: Recipient = name(to)?;
    if task.trim().is_empty() {
        return Err(Failure::failed("invalid", "the task is empty: give a text"));
    }
    let mut session = project.session(id)?;
    session.touch(now())?;
    let files: Vec<_> = session.related(&to, task, &query.parse()?).into_iter().map(|file| file.path).collect();
    let message = message(to.as_str(), task, &files);
    output.answer(&json!({"message": message, "files": files}), |output| output.line(&message));
    if files.is_empty() {
        output.note(
            "no file of this session matches; `callboard files list` lists all, `callboard files add` writes one",
        );
    }
    Ok(())
}

fn clean(project: &Project, older_than: Duration, dry_run: bool, output: Output) -> Result<ExitCode, Failure> {
    let done = project.clean(older_than, now(), dry_run)?;
    Ok(cleaned(&done, if dry_run { "would delete" } else { "deleted" }, output))
}

/// Prints what was deleted and what was kept. Anything kept is a failure.
fn cleaned(done: &Cleaned, word: &str, output: Output) -> ExitCode {
    output.answer(done, |output| {
        done.deleted.iter().for_each(|path| output.line(format!("{word} {path}")));
        for kept in &done.kept {
            output.line(format!("{} {}: {}", output.paint(Style::Bad, "kept"), kept.path, kept.reason));
        }
        if done.deleted.is_empty() && done.kept.is_empty() {
            output.line("nothing to clean up");
        }
    });
    status(done.kept.is_empty())
}

fn check(project: &Project, session: Option<&str>, repair: bool, output: Output) -> Result<ExitCode, Failure> {
    let id = session.map(name::<SessionId>).transpose()?;
    let problems = project.check(id.as_ref(), repair.then(now))?;
    output.answer(&json!({ "problems": problems }), |output| {
        problems.iter().for_each(|problem| output.line(told(problem, output)));
        if problems.is_empty() {
            output.line("no problems found");
        }
    });
    Ok(status(problems.iter().all(|problem| problem.repaired)))
}

fn told(problem: &FolderProblem, output: Output) -> String {
    let word = match problem.repaired {
        true => output.paint(Style::Good, "repaired"),
        false => output.paint(Style::Bad, "wrong"),
    };
    format!("{word} {}: {}", problem.path, problem.detail)
}

fn advise(task: Task, output: Output) {
    let advice = should_create(task);
    output.answer(&json!({"should_create": advice.create, "reason": advice.reason}), |output| {
        output.line(format!("{}: {}", if advice.create { "yes" } else { "no" }, advice.reason));
    });
}

fn table(files: &[FoundFile], output: Output) {
    let row = |file: &FoundFile| {
        let created = shown_time(&file.created, output);
        vec![file.path.clone(), file.recipient.clone(), file.keywords.join(", "), created]
    };
    output.list(&["FILE", "FOR", "KEYWORDS", "CREATED"], files.iter().map(row), "context files");
}

/// A time as a manifest has it, which people may have written.
fn shown_time(written: &str, output: Output) -> String {
    written.parse::<Timestamp>().map_or_else(|_| written.to_owned(), |at| output.time_as(at, written))
}

impl FilesSession {
    /// The session that is named: by the option, else by CALLBOARD_SESSION.
    fn named(&self) -> Result<Option<SessionId>, Failure> {
        match &self.session {
            Some(session) => name(session).map(Some),
            None => config::session(),
        }
    }

    /// The same for a command that needs one.
    fn id(&self) -> Result<SessionId, Failure> {
        self.named()?.ok_or_else(|| {
            Failure::usage("which_session", "no session is named")
                .hint("name one with --session ID or in CALLBOARD_SESSION; `callboard files sessions` lists them")
        })
    }
}

impl FilesQuery {
    fn parse(&self) -> Result<FileQuery, Failure> {
        Ok(FileQuery {
            keywords: words(self.keywords.as_deref())?,
            matching: self.matching,
            category: self.category.as_deref().map(name).transpose()?,
            recipient: self.recipient.as_deref().map(name).transpose()?,
            text: self.text.clone(),
        })
    }
}

fn words(words: Option<&str>) -> Result<Vec<Keyword>, Failure> {
    let words = words.unwrap_or_default().split(',').filter(|word| !word.trim().is_empty());
    words.map(name).collect()
}

/// Parses a name.
fn name<T: std::str::FromStr<Err = BadName>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: BadName| callboard_files::Error::from(error).into())
}

fn status(is_good: bool) -> ExitCode {
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn now() -> Timestamp {
    SystemClock.now()
}

fn random() -> u32 {
    getrandom::u32().unwrap_or_default()
}
