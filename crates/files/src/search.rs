//! Finding files.

use std::cmp::Reverse;

use callboard_core::id::SessionId;
use serde::{Deserialize, Serialize};

use crate::{
    Category, ContextPath, Entry, Error, FileQuery, FoundFile, Keyword, Match, Project, Recipient, Session,
    disk::EntryKind,
};

/// What was found in all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundAnywhere {
    /// The files.
    pub files: Vec<FoundFile>,
    /// The sessions that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A session that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name.
    pub session_id: SessionId,
    /// What is wrong with it.
    pub reason: String,
}

/// How well a file matches: by matching keywords, then by occurrences of the text.
type Rank = Reverse<(usize, usize)>;

impl Session {
    /// The matching files, in the order in which they were added.
    pub fn list(&self, query: &FileQuery) -> Vec<FoundFile> {
        self.ranked(query).map(|(_, file)| file).collect()
    }

    /// The matching files, the best match first; among equal matches the newest first.
    pub fn search(&self, query: &FileQuery) -> Vec<FoundFile> {
        best_first(self.ranked(query).collect())
    }

    /// The existing files that are related to a task of the agent `to`. If `query` has no keywords, these are files with a
    /// keyword that occurs in the task, and files for that agent.
    pub fn related(&self, to: &Recipient, task: &str, query: &FileQuery) -> Vec<FoundFile> {
        let there = |file: &FoundFile| {
            let path = self.meant(&file.path);
            path.is_ok_and(|path| matches!(self.kind(&path), Ok(EntryKind::File)))
        };
        if !query.keywords.is_empty() || query.category.is_some() || query.text.is_some() {
            return self.search(query).into_iter().filter(there).collect();
        }
        let task = task.to_lowercase();
        let keywords = self.manifest.index().into_keys().filter(|word| occurs(&word.to_lowercase(), &task));
        let keywords: Vec<Keyword> = keywords.filter_map(|word| word.parse().ok()).collect();
        let mut files = Vec::new();
        if !keywords.is_empty() {
            files = self.search(&FileQuery { keywords, ..query.clone() });
        }
        let meant = self.search(&FileQuery { recipient: Some(to.clone()), ..query.clone() });
        let more: Vec<_> =
            meant.into_iter().filter(|file| !files.iter().any(|known| known.path == file.path)).collect();
        files.into_iter().chain(more).filter(there).collect()
    }

    fn ranked<'a>(&'a self, query: &'a FileQuery) -> impl Iterator<Item = (Rank, FoundFile)> {
        let wanted: Vec<String> = query.keywords.iter().map(Keyword::folded).collect();
        let text = query.text.as_ref().map(|text| text.to_lowercase());
        self.manifest.context_files.iter().filter_map(move |(path, entry)| {
            let category = query.category.is_none_or(|category| is_in(path, category));
            let recipient = query.recipient.as_ref().is_none_or(|recipient| recipient.is(&entry.recipient));
            if !category || !recipient {
                return None;
            }
            let fitting = wanted.iter().filter(|word| entry.keywords.iter().any(|keyword| is_word(keyword, word)));
            let fitting = fitting.count();
            let needed = if query.matching == Match::All { wanted.len() } else { wanted.len().min(1) };
            let places = text.as_ref().map_or(Some(0), |text| self.places(path, text)).filter(|_| fitting >= needed)?;
            Some((Reverse((fitting, places)), self.found(path, entry)))
        })
    }

    /// How often a text occurs in a file; `None` if it does not.
    fn places(&self, path: &str, text: &str) -> Option<usize> {
        let path: ContextPath = path.parse().ok()?;
        let document = self.read(&path).ok().flatten()?;
        Some(document.to_lowercase().matches(text).count()).filter(|places| *places > 0)
    }

    fn found(&self, path: &str, entry: &Entry) -> FoundFile {
        FoundFile {
            path: self.shown(path),
            recipient: entry.recipient.clone(),
            keywords: entry.keywords.clone(),
            created: entry.created.clone(),
            session_id: self.id.clone(),
            content: None,
        }
    }
}

impl Project {
    /// Searches all sessions. This does not count as using them.
    pub fn search(&self, query: &FileQuery) -> Result<FoundAnywhere, Error> {
        let (mut ranked, mut skipped) = (Vec::new(), Vec::new());
        for session_id in self.ids()? {
            match self.look(&session_id) {
                Ok(None) => {}
                Ok(Some(session)) => ranked.extend(session.ranked(query)),
                Err(error) => skipped.push(Skipped { session_id, reason: error.to_string() }),
            }
        }
        Ok(FoundAnywhere { files: best_first(ranked), skipped })
    }
}

/// The best match first; among equal matches the newest first.
fn best_first(mut ranked: Vec<(Rank, FoundFile)>) -> Vec<FoundFile> {
    ranked.sort_by(|(rank, file), (other_rank, other)| {
        rank.cmp(other_rank).then_with(|| other.created.cmp(&file.created)).then_with(|| file.path.cmp(&other.path))
    });
    ranked.into_iter().map(|(_, file)| file).collect()
}

fn is_in(path: &str, category: Category) -> bool {
    path.strip_prefix(category.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a keyword is a word that was folded.
fn is_word(keyword: &str, word: &str) -> bool {
    keyword == word || (keyword.len() == word.len() || !keyword.is_ascii()) && keyword.to_lowercase() == word
}

/// Whether a word stands in a text, not as a part of another one.
fn occurs(word: &str, text: &str) -> bool {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + word.len()..));
        apart(before.and_then(|text| text.chars().next_back())) && apart(after.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_occurs_where_it_stands_alone() {
        assert!(occurs("auth", "do auth!") && occurs("user-auth", "the user-auth part") && occurs("é", "é"));
        assert!(!occurs("auth", "authentication") && !occurs("auth", "oauth") && !occurs("x", ""));
    }

    #[test]
    fn words_are_compared_without_case() {
        assert!(is_word("User-Auth", "user-auth") && is_word("Über", "über") && !is_word("auth", "user-auth"));
    }
}
