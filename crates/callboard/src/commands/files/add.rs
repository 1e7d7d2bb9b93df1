//! `callboard files add`.

use std::path::Path;

use callboard_engine::core::id::SessionId;
use callboard_files::{
    Category, ContextPath, Keyword, NewFile, Parts, Project, Recipient, Session, TaskName, Template,
};
use serde_json::json;

use super::args::{FilesAdd, FilesSession};
use super::{name, now, random, words};
use crate::{failure::Failure, output::Output, terminal};

pub(super) fn add(project: &Project, args: FilesAdd, output: Output) -> Result<(), Failure> {
    let recipient: Recipient = name(&args.recipient)?;
    let keywords = words(args.keywords.as_deref())?;
    let category: Option<Category> = args.category.as_deref().map(name).transpose()?;
    let session = FilesSession { session: args.session.clone() };
    let named = session.named()?;
    let (path, session) = match &args.file {
        Some(file) => track(project, &session.id()?, file, category, &recipient, &keywords)?,
        None => {
            let name: TaskName = name(args.name.as_deref().unwrap_or_default())?;
            let Parts { request, background, expected, constraints } = parts(&args)?;
            let template = template(args.template.as_deref())?;
            let category = category.unwrap_or_default();
            let file = NewFile { category, name, recipient, keywords, request, background, expected, constraints };
            let mut session = match &named {
                Some(id) => project.session_or_new(id, now())?,
                None => project.create(now(), random)?,
            };
            (session.add_by(&template, &file, now())?, session)
        }
    };
    let (path, id) = (session.shown(path.as_str()), session.id());
    if named.is_none() {
        output.note(format!("session {id}"));
    }
    output.answer(&json!({"path": path, "session_id": id}), |output| output.line(format!("added {path}")));
    Ok(())
}

fn track(
    project: &Project,
    session: &SessionId,
    file: &str,
    category: Option<Category>,
    recipient: &Recipient,
    keywords: &[Keyword],
) -> Result<(ContextPath, Session), Failure> {
    let mut session = project.session(session)?;
    let path = session.meant(file)?;
    if let Some(category) = category.filter(|category| path.category() != Ok(*category)) {
        return Err(Failure::failed("invalid", format!("{path} is not in the folder {category}"))
            .hint("remove --category, or move the file there"));
    }
    session.track(&path, recipient, keywords, now())?;
    Ok((path, session))
}

/// The parts of the file: those of the options, and the rest from a text with headings.
fn parts(args: &FilesAdd) -> Result<Parts, Failure> {
    let texts = [&args.request, &args.background, &args.expected, &args.constraints];
    let is_input = |text: &&Option<String>| text.as_deref() == Some("-");
    if texts.into_iter().chain([&args.from]).filter(is_input).count() > 1 {
        return Err(Failure::usage("invalid", "only one text can be read from the standard input"));
    }
    let text = |text: &Option<String>| text.as_deref().map(terminal::text).transpose();
    let given = Parts {
        request: text(&args.request)?.unwrap_or_default(),
        background: text(&args.background)?,
        expected: text(&args.expected)?,
        constraints: text(&args.constraints)?,
    };
    let from = args.from.as_deref().map(|path| terminal::input(Path::new(path))).transpose()?.unwrap_or_default();
    Ok(given.or(Parts::parse(&from)))
}

fn template(path: Option<&Path>) -> Result<Template, Failure> {
    Ok(path.map(terminal::file).transpose()?.map(Template::new).unwrap_or_default())
}
