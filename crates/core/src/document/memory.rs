//! Memories: documents that an agent keeps for itself, as the files of a folder. It reads and changes them by the
//! commands of Anthropic's memory tool, and is told what that tool tells.
//!
//! The file `/memories/NAME` of an agent is the document `memories/AGENT/NAME`, which the agent and the manager see.
//! That of the user is the document `memories/NAME`. A worker needs no grant for them. What somebody else gave others to
//! see below its folder, it changes as other documents: only where that is granted.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;

use super::{
    DocumentView, MediaType, PutDocument,
    facts::{Added, Removed},
};
use crate::{
    audience::Audience,
    command::{Command, DecisionBuilder, Undecided},
    entry::Actor,
    error::Error,
    fact,
    id::{DocumentName, Seq},
    text::{INLINE_BYTES, Text},
};

/// The folder of all memories, as models write it.
const FOLDER: &str = "/memories";

/// So many files an agent has at the most.
const MOST_FILES: usize = 200;

/// What is done with memories, in the words of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields, expecting = "an object")]
pub(crate) enum MemoryCommand {
    /// Lists a folder, or shows a file, or these of its lines; -1 is the last one.
    View { path: String, view_range: Option<(i64, i64)> },
    /// Makes a file.
    Create { path: String, file_text: String },
    /// Replaces a text that stands in a file once.
    StrReplace {
        path: String,
        old_str: String,
        #[serde(default)]
        new_str: String,
    },
    /// Puts a text behind this line; 0 is the beginning.
    Insert { path: String, insert_line: usize, insert_text: String },
    /// Deletes a file, or a folder with all that is in it.
    Delete { path: String },
    /// Gives a file or a folder another path.
    Rename { old_path: String, new_path: String },
}

/// A file of the one who asks.
struct File {
    name: DocumentName,
    /// The entry with its text; none where it is hidden from who asks.
    seq: Option<Seq>,
    size: u64,
}

/// The memories of the one who asks.
struct Memories {
    /// What the names of their documents begin with, without the slash behind it.
    root: String,
    files: Vec<File>,
    /// Who sees those that are made.
    visible_to: Audience,
}

impl MemoryCommand {
    /// Does it, and says what came of it.
    pub(crate) fn perform(&self, decision: &mut DecisionBuilder<'_>) -> Result<String, Undecided> {
        let memories = Memories::of(decision)?;
        match self {
            Self::View { path, view_range } => memories.view(decision, path, *view_range),
            Self::Create { path, file_text } => {
                let name = memories.free(decision, path, "/path", &format!("File {path} already exists"))?;
                if matches!(decision.by, Actor::Agent(_)) && memories.files.len() >= MOST_FILES {
                    let told = format!("you have {MOST_FILES} files, which is the most: delete some, or add to one");
                    return Err(Error::invalid("/path", told).into());
                }
                keep(decision, name, file_text, memories.visible_to.clone(), MediaType::plain(), "/file_text")?;
                Ok(format!("File created successfully at: {path}"))
            }
            Self::StrReplace { path, old_str: old, new_str: new } => {
                let file = memories.file(path)?;
                let text = file.text(decision, path, "/path")?;
                let at = only_place(&text, old, path)?;
                let (before, found) = text.split_at(at);
                let behind = found.strip_prefix(old.as_str()).unwrap_or_default();
                let changed = format!("{before}{new}{behind}");
                let is_left = !before.trim().is_empty() || !behind.trim().is_empty();
                memories.change(decision, file, &changed, "/new_str", is_left)?;
                decision.quoted.extend(decision.state.documents.get(&file.name).map(|held| held.seq));
                let line = before.matches('\n').count();
                let last = line + new.matches('\n').count();
                let snippet = numbered(&changed, line.saturating_sub(2), last + 3);
                Ok(format!("The memory file has been edited. Here is what stands there now:\n{snippet}"))
            }
            Self::Insert { path, insert_line, insert_text } => {
                let file = memories.file(path)?;
                let changed = with_inserted(&file.text(decision, path, "/path")?, *insert_line, insert_text)?;
                memories.change(decision, file, &changed, "/insert_text", true)?;
                Ok(format!("The file {path} has been edited."))
            }
            Self::Delete { path } => {
                if memories.place(path, "/path")? == memories.root {
                    return Err(Error::invalid("/path", format!("{FOLDER} itself stays: delete what is in it")).into());
                }
                let found = memories.below(path, "/path")?;
                if found.is_empty() {
                    return Err(missing("/path", path).into());
                }
                found.iter().try_for_each(|(file, _)| memories.check_own(decision, file))?;
                found.into_iter().for_each(|(file, _)| decision.record(Removed { name: file.name.clone() }));
                Ok(format!("Successfully deleted {path}"))
            }
            Self::Rename { old_path, new_path } => memories.rename(decision, old_path, new_path),
        }
    }
}

impl Memories {
    fn of(decision: &DecisionBuilder<'_>) -> Result<Self, Error> {
        let (root, visible_to) = match &decision.by {
            Actor::Agent(name) => {
                let agent = &decision.state.team.agent(name)?.name;
                // A slash would make a folder of another agent of it.
                let root = format!("memories/{}", agent.as_str().replace('/', ":"));
                (root, decision.state.team.managers().or(&Audience::of([agent.clone()])))
            }
            Actor::User | Actor::System => {
                ("memories".to_owned(), decision.state.session.settings.default_visibility.clone())
            }
        };
        let view = decision.view()?;
        let file = |seen: DocumentView<'_>| {
            let held = seen.held();
            let is_whole = matches!(seen, DocumentView::Whole(_));
            below(held.name.as_str(), &root)?;
            Some(File { name: held.name.clone(), seq: is_whole.then_some(held.seq), size: held.size_bytes })
        };
        let files = view.documents().filter_map(file).collect();
        Ok(Self { root, files, visible_to })
    }

    /// What a path would be called as a document.
    fn place(&self, path: &str, pointer: &str) -> Result<String, Error> {
        let within = path.trim().strip_prefix(FOLDER).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let within = within.ok_or_else(|| Error::invalid(pointer, format!("{path} is not below {FOLDER}")))?;
        let within = within.trim_matches('/');
        if within.is_empty() {
            return Ok(self.root.clone());
        }
        let name: DocumentName = format!("{}/{within}", self.root).parse().map_err(|_| {
            Error::invalid(pointer, format!("{path} is no path of a file: use one such as {FOLDER}/a.md"))
        })?;
        Ok(name.as_str().to_owned())
    }

    /// The files at or below a path, each with its path from there.
    fn below(&self, path: &str, pointer: &str) -> Result<Vec<(&File, &str)>, Error> {
        let place = self.place(path, pointer)?;
        let within = |file| Some((file, below(File::name(file), &place)?));
        Ok(self.files.iter().filter_map(within).collect())
    }

    /// The file at this path.
    fn file(&self, path: &str) -> Result<&File, Error> {
        let place = self.place(path, "/path")?;
        self.files.iter().find(|file| file.name.as_str() == place).ok_or_else(|| missing("/path", path))
    }

    /// The name of a file that is not there yet; `taken` says that it is.
    fn free(
        &self,
        decision: &DecisionBuilder<'_>,
        path: &str,
        pointer: &str,
        taken: &str,
    ) -> Result<DocumentName, Error> {
        let place = self.place(path, pointer)?;
        if place == self.root || self.files.iter().any(|file| below(file.name(), &place).is_some()) {
            return Err(Error::invalid(pointer, taken));
        }
        if let Some(file) = self.files.iter().find(|file| below(&place, file.name()).is_some()) {
            return Err(Error::invalid(pointer, format!("{path} is within a file: {}", file.name)));
        }
        let name: DocumentName =
            place.parse().map_err(|_| Error::invalid(pointer, format!("{path} is no path of a file")))?;
        check_free(decision, &name, pointer, taken)?;
        Ok(name)
    }

    fn view(
        &self,
        decision: &mut DecisionBuilder<'_>,
        path: &str,
        lines: Option<(i64, i64)>,
    ) -> Result<String, Undecided> {
        let found = self.below(path, "/path")?;
        if let Some((file, _)) = found.iter().find(|(_, within)| within.is_empty()) {
            let text = file.text(decision, path, "/path")?;
            decision.quoted.extend(file.seq);
            let count = text.lines().count();
            let (skipped, last) = lines.map_or(Ok((0, count)), |range| range_of(range, count))?;
            let shown = numbered(&text, skipped, last);
            return Ok(format!("Here's the content of {path} with line numbers:\n{shown}"));
        }
        if found.is_empty() && self.place(path, "/path")? != self.root {
            return Err(missing("/path", path).into());
        }
        let (mut total, mut sizes) = (0, BTreeMap::<String, u64>::new());
        for (file, within) in found {
            let parts: Vec<&str> = within.split('/').collect();
            if parts.iter().any(|part| part.starts_with('.') || *part == "node_modules") {
                continue;
            }
            total += file.size;
            for depth in 1..=parts.len().min(2) {
                let folder = if depth < parts.len() { "/" } else { "" };
                let name = parts.get(..depth).unwrap_or_default().join("/") + folder;
                *sizes.entry(name).or_default() += file.size;
            }
        }
        let path = path.trim_end_matches('/');
        let mut told = format!(
            "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and \
             node_modules:\n{}\t{path}",
            in_units(total)
        );
        for (name, size) in sizes {
            told += &format!("\n{}\t{path}/{name}", in_units(size));
        }
        Ok(told)
    }

    fn rename(&self, decision: &mut DecisionBuilder<'_>, old: &str, new: &str) -> Result<String, Undecided> {
        let place = self.place(old, "/old_path")?;
        let taken = format!("The destination {new} already exists");
        let to = self.free(decision, new, "/new_path", &taken)?;
        let found = self.below(old, "/old_path")?;
        if found.is_empty() {
            return Err(missing("/old_path", old).into());
        }
        if below(to.as_str(), &place).is_some() {
            return Err(Error::invalid("/new_path", format!("{new} is within {old}")).into());
        }
        let mut moved = Vec::new();
        for (file, within) in found {
            let name = if within.is_empty() { to.clone() } else { joined(&to, within)? };
            check_free(decision, &name, "/new_path", &taken)?;
            self.check_own(decision, file)?;
            moved.push((file, name, file.text(decision, old, "/old_path")?));
        }
        for (file, name, text) in moved {
            let visible_to = file.visible_to(decision).unwrap_or_else(|| self.visible_to.clone());
            let media_type = file.media_type(decision);
            decision.record(Removed { name: file.name.clone() });
            let from = file.seq.into_iter().collect();
            let kept =
                |decision: &mut DecisionBuilder<'_>| keep(decision, name, &text, visible_to, media_type, "/new_path");
            decision.copying(from, kept)?;
        }
        Ok(format!("Successfully renamed {old} to {new}"))
    }

    /// Refuses to let a worker change what others than it and the manager see, unless that is granted.
    fn check_own(&self, decision: &DecisionBuilder<'_>, file: &File) -> Result<(), Error> {
        match file.visible_to(decision) {
            Some(audience) if !self.visible_to.covers(&audience) => decision.allow(PutDocument::RIGHT),
            _ => Ok(()),
        }
    }

    /// Gives a file another text, in which something of the old one is left, or nothing.
    fn change(
        &self,
        decision: &mut DecisionBuilder<'_>,
        file: &File,
        text: &str,
        pointer: &str,
        is_left: bool,
    ) -> Result<(), Undecided> {
        self.check_own(decision, file)?;
        let visible_to = file.visible_to(decision).unwrap_or_else(|| self.visible_to.clone());
        let media_type = file.media_type(decision);
        let from = file.seq.filter(|_| is_left).into_iter().collect();
        decision.copying(from, |decision| keep(decision, file.name.clone(), text, visible_to, media_type, pointer))
    }
}

impl File {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn visible_to(&self, decision: &DecisionBuilder<'_>) -> Option<Audience> {
        decision.state.documents.get(&self.name).map(|held| held.sight.audience.clone())
    }

    fn media_type(&self, decision: &DecisionBuilder<'_>) -> MediaType {
        let held = decision.state.documents.get(&self.name);
        held.map_or_else(MediaType::plain, |held| held.media_type.clone())
    }

    /// What it says. A long one, which only others can have put there, is read by another tool. `pointer` says where the path
    /// was given.
    fn text(&self, decision: &DecisionBuilder<'_>, path: &str, pointer: &str) -> Result<Arc<str>, Undecided> {
        let hidden = || Error::invalid(pointer, format!("{path} is hidden from you"));
        let seq = self.seq.ok_or_else(hidden)?;
        let entry = decision.entry(seq)?.ok_or_else(|| Error::not_found("entry", seq))?;
        match fact::read::<Added>(&entry)?.text {
            Text::Inline(text) => Ok(text),
            Text::Stored(_) => {
                let told = format!("{path} is too long: read it with read_document, by the name {}", self.name);
                Err(Error::invalid(pointer, told).into())
            }
        }
    }
}

/// Records what a file says from now on.
fn keep(
    decision: &mut DecisionBuilder<'_>,
    name: DocumentName,
    text: &str,
    visible_to: Audience,
    media_type: MediaType,
    pointer: &str,
) -> Result<(), Undecided> {
    if text.trim().is_empty() {
        return Err(Error::invalid(pointer, "the file would be blank: delete it, or write something").into());
    }
    if text.len() > INLINE_BYTES {
        let told = format!("the file would have {} bytes, and {INLINE_BYTES} is the most: use several", text.len());
        return Err(Error::invalid(pointer, told).into());
    }
    let known = decision.state.documents.get(&name);
    let tokens = decision.context.count.count(text);
    let added = Added { name, text: Text::Inline(text.into()), visible_to, media_type, tokens };
    if !known.is_some_and(|held| added.is(held)) {
        decision.record(added);
    }
    Ok(())
}

/// Refuses the name of a document that is there, also of one that is hidden from who asks.
fn check_free(decision: &DecisionBuilder<'_>, name: &DocumentName, pointer: &str, taken: &str) -> Result<(), Error> {
    if decision.state.documents.get(name).is_some() { Err(Error::invalid(pointer, taken)) } else { Ok(()) }
}

/// The rest of `name` at or below `place`.
fn below<'a>(name: &'a str, place: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(place)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn joined(folder: &DocumentName, within: &str) -> Result<DocumentName, Error> {
    let too_long = |_| Error::invalid("/new_path", format!("the path of {within} would be too long there"));
    format!("{folder}/{within}").parse().map_err(too_long)
}

fn missing(pointer: &str, path: &str) -> Error {
    Error::invalid(pointer, format!("The path {path} does not exist. Please provide a valid path."))
}

/// Where `old` stands in a text, which has to have it once.
fn only_place(text: &str, old: &str, path: &str) -> Result<usize, Error> {
    let refused = |told: String| Error::invalid("/old_str", format!("No replacement was performed{told}"));
    let places: Vec<usize> =
        if old.is_empty() { Vec::new() } else { text.match_indices(old).map(|(at, _)| at).collect() };
    match places.as_slice() {
        [at] => Ok(*at),
        [] => Err(refused(format!(", old_str `{old}` did not appear verbatim in {path}."))),
        _ => {
            let line = |at: &usize| (text.get(..*at).unwrap_or_default().matches('\n').count() + 1).to_string();
            let lines = places.iter().map(line).collect::<Vec<_>>().join(", ");
            Err(refused(format!(
                ". Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            )))
        }
    }
}

/// A text with another one behind this of its lines.
fn with_inserted(text: &str, line: usize, inserted: &str) -> Result<String, Error> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (Some(before), Some(behind)) = (lines.get(..line), lines.get(line..)) else {
        let range = format!("It should be within the range of lines of the file: [0, {}].", lines.len());
        return Err(Error::invalid("/insert_line", format!("Invalid `insert_line` parameter: {line}. {range}")));
    };
    let mut changed = before.concat();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push('\n');
    }
    changed += inserted;
    if !changed.ends_with('\n') {
        changed.push('\n');
    }
    Ok(changed + &behind.concat())
}

/// How many lines are not shown before this range of them, and the last one that is; there are `count`.
fn range_of((first, last): (i64, i64), count: usize) -> Result<(usize, usize), Error> {
    let skipped = first.checked_sub(1).and_then(|before| usize::try_from(before).ok()).filter(|before| *before < count);
    let outside = || {
        let range = format!("should be within the range of lines of the file: [1, {count}]");
        let told = format!("Invalid `view_range`: [{first}, {last}]. Its first element `{first}` {range}");
        Error::invalid("/view_range", told)
    };
    Ok((skipped.ok_or_else(outside)?, usize::try_from(last).unwrap_or(count)))
}

/// The lines of a text behind the first `skipped` ones and through the line `last`, with their numbers.
fn numbered(text: &str, skipped: usize, last: usize) -> String {
    let lines = text.lines().enumerate().take(last).skip(skipped);
    lines.map(|(at, line)| format!("{:6}\t{line}", at + 1)).collect::<Vec<_>>().join("\n")
}

/// A size as people read it.
fn in_units(bytes: u64) -> String {
    const KIB: u64 = 1024;
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..KIB => format!("{bytes}B"),
        KIB..1_048_576 => format!("{}K", tenths(KIB)),
        _ => format!("{}M", tenths(KIB * KIB)),
    }
}
