//! The part that names context files: the manager all of them, a worker those that are meant for it. What they say is read
//! where they are.

use callboard_core::{
    agent::Agent,
    file::HeldFile,
    prompt::escape::escape,
    tool::file::{FIND_FILES, READ_FILE},
    view::View,
};

use crate::parts::{Changes, Gathered, Part, Source};

/// How many files are named: the newest.
const NAMED: usize = 20;

pub(crate) const PART: Part<'static> = Part { subjects, ..Part::new("files", Changes::Seldom, gather) };

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    Ok(files(from).and_then(|text| from.whole(text)))
}

fn subjects(view: &View<'_>, agent: &Agent) -> Vec<String> {
    let files = view.state.files.iter().filter(|held| is_named(held, view, agent));
    files.map(|held| format!("file:{}", held.file.path)).collect()
}

/// Whether a file is named to the reader. Others it can look for.
fn is_named(held: &HeldFile, view: &View<'_>, agent: &Agent) -> bool {
    view.is_in_charge() || held.file.is_for(&agent.name)
}

/// The files of the session as the reader is told of them; nothing where there are none. Those that are for others are told of
/// only where it can look for them.
fn files(from: &Source<'_>) -> Option<String> {
    let (view, agent) = (from.view, from.agent);
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
    let can_find = from.renderer.offers(FIND_FILES.name);
    let search = if can_find { format!(": call `{}`", FIND_FILES.name) } else { String::new() };
    let more = if more > 0 { format!("- {more} more{search}\n") } else { String::new() };
    let others = match others {
        others if others > 0 && can_find => format!("- {others} for others, which you may read too{search}\n"),
        _ => String::new(),
    };
    let head = match (view.is_in_charge(), named.is_empty()) {
        (true, _) => "Context files of this session: for whom each is, and its keywords.",
        (false, false) => "Context files meant for you, with their keywords.",
        (false, true) => "Context files of this session.",
    };
    let read = match from.renderer.offers(READ_FILE.name) && !named.is_empty() {
        true => format!(" Read those that you need with `{}`.", READ_FILE.name),
        false => String::new(),
    };
    let is_empty = lines.is_empty() && others.is_empty();
    (!is_empty).then(|| format!("<CONTEXT_FILES>\n{head}{read}\n{lines}{more}{others}</CONTEXT_FILES>\n"))
}
