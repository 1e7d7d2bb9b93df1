//! The manifest of a session: its files, their recipients, and the keywords by which they are found.

use callboard_core::{
    id::SessionId,
    json::{in_words, pointer_token},
    time::{BadTime, Timestamp},
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The manifest of a session. Dates stay as they were written, and unknown fields are kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Manifest {
    /// The session.
    pub session_id: String,
    /// When it was created.
    pub created_at: String,
    /// When it was used last.
    pub last_activity: String,
    /// Its files by their paths below the folder of the session, in the order in which they were added.
    pub context_files: IndexMap<String, Entry>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The entry of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was added.
    pub created: String,
    /// The agent it is for.
    #[serde(rename = "for", default)]
    pub recipient: String,
    /// The keywords by which it is found.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The files of each keyword: the exact inverse of the keywords of the entries.
pub(crate) type Index<'a> = IndexMap<&'a str, Vec<&'a str>>;

/// The field with the index. It is derived from the entries, so it is never read.
const INDEX: &str = "context_index";

/// A manifest as it is written.
#[derive(Serialize)]
struct Written<'a> {
    session_id: &'a str,
    created_at: &'a str,
    last_activity: &'a str,
    context_files: &'a IndexMap<String, Entry>,
    context_index: Index<'a>,
    #[serde(flatten)]
    unknown: &'a Map<String, Value>,
}

impl Manifest {
    /// The manifest of a new session.
    pub fn new(id: &SessionId, now: Timestamp) -> Self {
        let (session_id, created_at, last_activity) = (id.to_string(), stamp(now), stamp(now));
        Self { session_id, created_at, last_activity, ..Self::default() }
    }

    /// Reads a manifest; the error says what is wrong and where.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.trim_ascii().is_empty() {
            return Err("it is empty".to_owned());
        }
        let mut manifest: Self = serde_json::from_slice(bytes).map_err(|error| in_words(&error.to_string()))?;
        manifest.unknown.shift_remove(INDEX);
        Ok(manifest)
    }

    /// The manifest as it is written, with its index.
    pub fn to_json(&self) -> Vec<u8> {
        let written = Written {
            session_id: &self.session_id,
            created_at: &self.created_at,
            last_activity: &self.last_activity,
            context_files: &self.context_files,
            context_index: self.index(),
            unknown: &self.unknown,
        };
        let mut json = Vec::with_capacity(512 + self.context_files.len() * 300);
        // Maps with keys of text and values of JSON can always be written into memory.
        let _ = serde_json::to_writer_pretty(&mut json, &written);
        json.push(b'\n');
        json
    }

    /// The files of each keyword.
    pub fn index(&self) -> IndexMap<&str, Vec<&str>> {
        let mut index = Index::new();
        for (path, entry) in &self.context_files {
            for keyword in &entry.keywords {
                let paths = index.entry(keyword).or_default();
                // All keywords of a file come in a row, so a path that is there already is the last one.
                if paths.last() != Some(&path.as_str()) {
                    paths.push(path);
                }
            }
        }
        index
    }

    /// The first invalid date, with its JSON pointer.
    pub(crate) fn bad_date(&self) -> Option<(String, BadTime)> {
        let own = [("/created_at", &self.created_at), ("/last_activity", &self.last_activity)];
        let own = own.into_iter().map(|(pointer, date)| (pointer.to_owned(), date));
        let pointer = |path: &str| format!("/context_files/{}/created", pointer_token(path));
        let entries = self.context_files.iter().map(|(path, entry)| (pointer(path), &entry.created));
        own.chain(entries).find_map(|(pointer, date)| date.parse::<Timestamp>().err().map(|wrong| (pointer, wrong)))
    }

    /// How many whole seconds ago the session was used last.
    pub(crate) fn idle_seconds(&self, now: Timestamp) -> Result<i64, BadTime> {
        let last: Timestamp = self.last_activity.parse()?;
        Ok(now.as_millis().div_euclid(1000) - last.as_millis().div_euclid(1000))
    }
}

/// A time in the form of manifests, in whole seconds.
pub(crate) fn stamp(time: Timestamp) -> String {
    let text = time.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manifest of the documentation, and two fields more.
    const EXAMPLE: &str = r#"{
  "session_id": "20250118-143022-a4f2",
  "created_at": "2025-01-18T14:30:22Z",
  "last_activity": "2025-01-18T14:35:10Z",
  "context_files": {
    "features/user-auth-context.md": {
      "created": "2025-01-18T14:30:22Z",
      "for": "@subagents/core/task-manager",
      "keywords": ["user-auth", "authentication", "features"],
      "priority": 1.50
    },
    "tasks/user-auth-tasks.md": {
      "created": "2025-01-18T14:32:15Z",
      "for": "@subagents/core/task-manager",
      "keywords": ["user-auth", "tasks"]
    }
  },
  "context_index": {"a word": ["that leads astray"]},
  "owner": {"name": "me"}
}"#;

    #[test]
    fn a_manifest_is_written_with_its_index_and_what_is_not_known() {
        let manifest = Manifest::parse(EXAMPLE.as_bytes()).unwrap();
        insta::assert_snapshot!(String::from_utf8(manifest.to_json()).unwrap(), @r#"
        {
          "session_id": "20250118-143022-a4f2",
          "created_at": "2025-01-18T14:30:22Z",
          "last_activity": "2025-01-18T14:35:10Z",
          "context_files": {
            "features/user-auth-context.md": {
              "created": "2025-01-18T14:30:22Z",
              "for": "@subagents/core/task-manager",
              "keywords": [
                "user-auth",
                "authentication",
                "features"
              ],
              "priority": 1.5
            },
            "tasks/user-auth-tasks.md": {
              "created": "2025-01-18T14:32:15Z",
              "for": "@subagents/core/task-manager",
              "keywords": [
                "user-auth",
                "tasks"
              ]
            }
          },
          "context_index": {
            "user-auth": [
              "features/user-auth-context.md",
              "tasks/user-auth-tasks.md"
            ],
            "authentication": [
              "features/user-auth-context.md"
            ],
            "features": [
              "features/user-auth-context.md"
            ],
            "tasks": [
              "tasks/user-auth-tasks.md"
            ]
          },
          "owner": {
            "name": "me"
          }
        }
        "#);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let manifest = Manifest::parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(Manifest::parse(&manifest.to_json()).unwrap(), manifest);
    }

    #[test]
    fn what_is_no_manifest_says_what_is_wrong() {
        let wrong = |text: &str| Manifest::parse(text.as_bytes()).unwrap_err();
        assert_eq!(wrong(" \n"), "it is empty");
        assert!(
            wrong("{").contains("it ends in the middle of an object") && wrong("[]").contains("expected an object")
        );
        assert!(wrong("{}").contains("session_id"));
    }

    #[test]
    fn a_session_is_idle_to_the_second() {
        let manifest = Manifest::parse(EXAMPLE.as_bytes()).unwrap();
        let idle = |now: &str| manifest.idle_seconds(now.parse().unwrap()).unwrap();
        assert_eq!(idle("2025-01-19T14:35:10.999Z"), 86_400);
        assert_eq!(idle("2025-01-19T14:35:11Z"), 86_401);
        assert_eq!(idle("2025-01-18T14:35:09Z"), -1);
    }

    #[test]
    fn a_bad_date_is_named() {
        let manifest = Manifest::parse(EXAMPLE.replace("2025-01-18T14:32:15Z", "soon").as_bytes()).unwrap();
        assert_eq!(manifest.bad_date().unwrap().0, "/context_files/tasks~1user-auth-tasks.md/created");
    }
}
