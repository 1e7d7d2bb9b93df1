//! The part that names context files: the manager all of them, a worker those that are meant for it. What they say is read
//! where they are.

use callboard_core::{
    agent::Agent,
    file::HeldFile,
    prompt::escape::escape,
    tool::file::{FIND_FILES, READ_FILE},
    view::View,
};

use crate::{
    Lacking,
    parts::{Changes, Content, Part, Source},
};

/// How many files are named: the newest.
const NAMED: usize = 20;

pub(crate) struct Files;

impl Part for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, view: &View<'_>, agent: &Agent) -> Vec<String> {
        let files = view.state.files.iter().filter(|held| is_named(held, view, agent));
        files.map(|held| format!("file:{}", held.file.path)).collect()
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        Ok(files(from).and_then(|text| from.whole(text)))
    }
}

/// Whether a file is named to the reader. Others it can look for.
fn is_named(held: &HeldFile, view: &View<'_>, agent: &Agent) -> bool {
    view.is_in_charge() || held.file.is_for(&agent.name)
}

/// The files of the session as the reader is told of them; nothing where there are none.
fn files(from: &Source<'_>) -> Option<String> {
    let (view, agent) = (from.view, from.agent);
    let offers = |name: &str| from.renderer.offered.iter().any(|tool| tool.bare_name() == name);
    let mut named: Vec<&HeldFile> = view.state.files.iter().filter(|held| is_named(held, view, agent)).collect();
    let others = view.state.files.iter().count() - named.len();
    named.sort_by_key(|held| held.seq);
    let more = named.len().saturating_sub(NAMED);
    let line = |held: &&HeldFile| {
        let keywords = held.file.keywords.iter().map(|word| escape(word)).collect::<Vec<_>>().join(", ");
        match view.is_in_charge() {
            true => format!("- {} (for {}: {keywords})\n", escape(&held.file.path), escape(&held.file.recipient)),
            false => format!("- {} ({keywords})\n", escape(&held.file.path)),
        }
    };
    let lines: String = named.iter().skip(more).map(line).collect();
    let search = match offers(FIND_FILES.name) {
        true => format!("call `{}`", FIND_FILES.name),
        false => format!("`callboard files list --session {}`", view.state.session.id.as_ref()?),
    };
    let more = if more > 0 { format!("- {more} more: {search}\n") } else { String::new() };
    let others = match others {
        0 => String::new(),
        others => format!("- {others} for others, which you may read too: {search}\n"),
    };
    let read = if offers(READ_FILE.name) { format!(" with `{}`", READ_FILE.name) } else { String::new() };
    let head = match view.is_in_charge() {
        true => format!(
            "Context files of this session: for whom each is, and its keywords. Read those that you need{read}."
        ),
        false => format!("Context files meant for you, with their keywords. Read those that your task needs{read}."),
    };
    let is_empty = lines.is_empty() && others.is_empty();
    (!is_empty).then(|| format!("<CONTEXT_FILES>\n{head}\n{lines}{more}{others}</CONTEXT_FILES>\n"))
}
