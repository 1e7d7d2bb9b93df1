//! The part that names the context files which are meant for the reader. What they say is read where they are.

use super::{Changes, Content, Part, Source};
use crate::{
    agent::Agent,
    file::Held,
    prompt::{Lacking, escape::escape},
    view::View,
};

/// How many files are named: the newest.
const NAMED: usize = 20;

pub(in crate::prompt) struct Files;

impl Part for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn tags(&self) -> &'static [&'static str] {
        &["CONTEXT_FILES"]
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, view: &View<'_>, agent: &Agent) -> Vec<String> {
        let files = view.state.files.iter().filter(|held| held.file.is_for(&agent.name));
        files.map(|held| format!("file:{}", held.file.path)).collect()
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        Ok(files(from.view, from.agent).and_then(|text| from.whole(text)))
    }
}

/// The files that are meant for the reader; nothing where there are none.
fn files(view: &View<'_>, agent: &Agent) -> Option<String> {
    let mut files: Vec<&Held> = view.state.files.iter().filter(|held| held.file.is_for(&agent.name)).collect();
    files.sort_by_key(|held| held.seq);
    let more = files.len().saturating_sub(NAMED);
    let line = |held: &&Held| {
        let keywords = held.file.keywords.iter().map(|word| escape(word)).collect::<Vec<_>>().join(", ");
        format!("- {} ({keywords})\n", escape(&held.file.path))
    };
    let lines: String = files.iter().skip(more).map(line).collect();
    let rest = match more {
        0 => String::new(),
        more => format!("- {more} more: `callboard files list --session {}`\n", view.state.session.id.as_ref()?),
    };
    let head = "Context files meant for you, with their keywords. Read those that your task needs.";
    (!files.is_empty()).then(|| format!("<CONTEXT_FILES>\n{head}\n{lines}{rest}</CONTEXT_FILES>\n"))
}
