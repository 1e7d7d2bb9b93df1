//! The rules of Callboard, the context engine for teams of AI agents.
//!
//! A session is a *journal*: numbered [entries](entry), only ever appended. What is true now is the fold of its
//! entries, the [`State`](state::State). A change is a [`Command`](command::Command): it is *decided* against the
//! state, which gives the entries that it leads to, and these are *applied*. What one reads, one reads through a
//! [`View`](view::View) of one's own: what is hidden from a viewer is not in it. What an agent is shown is in the crate
//! `callboard-prompt`.
//!
//! ```
//! use callboard_core::{
//!     command::*, context_set::{PutSet, SetView}, count::*, entry::{Actor, Entry}, session::*, state::State,
//!     time::Timestamp, view::View, viewer::Viewer, sealed::SealedInput,
//! };
//! # use callboard_core::testing::Words as AnyVocabulary;
//!
//! // A command is decided against a state, by somebody, at some time, with a vocabulary that sizes are counted in.
//! fn decided(state: &State, command: &impl Command) -> Result<(Vec<Entry>, State), Undecided> {
//!     let (by, at, count, lookups) = (&Actor::User, Timestamp::default(), &AnyVocabulary, &Lookups::default());
//!     let sealed = SealedInput::NOTHING;
//!     let decision = decide(state, command, DecisionContext { by, at, nonce: None, salt: None, count, lookups, sealed, hide: None })?;
//!     Ok((decision.entries, decision.state))
//! }
//!
//! let agents = r#"[{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]"#;
//! let agents = serde_json::from_str(agents)?;
//! let new = NewSession { id: "poems".parse()?, agents, sets: Vec::new(), settings: Settings::default(), salt: 7 };
//! let (mut journal, state) = decided(&State::default(), &new)?;
//!
//! let content = "Four lines, and they rhyme.".into();
//! let visible_to = serde_json::from_str(r#""writer""#)?;
//! let put = PutSet { name: "Brief".parse()?, content, visible_to: Some(visible_to), enabled: None };
//! let (entries, state) = decided(&state, &put)?;
//! journal.extend(entries);
//!
//! // Folding the same entries gives the same state.
//! assert_eq!(State::fold(&journal)?, state);
//!
//! // The writer sees what the set says, the manager that it is there.
//! let sees = |agent: &str| -> Result<SetView<'_>, Box<dyn std::error::Error>> {
//!     let view = View::new(&state, &Viewer::Agent(agent.parse()?), &AnyVocabulary)?;
//!     Ok(view.set(&"Brief".parse()?)?)
//! };
//! assert!(matches!(sees("writer")?, SetView::Whole(_)) && matches!(sees("lead")?, SetView::Outline(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no input or output: no async, clock, randomness or environment. It can neither fail half-way nor
//! differ between runs. An engine around it keeps the journal, tells the time, and looks up what a decision
//! [needs](command::Undecided::MissingEntry).

// What a journal is made of.
pub mod audience;
pub mod entry;
pub mod id;
pub mod role;
pub mod text;
pub mod time;

// How it grows: a command is decided against the state, and gives facts.
pub mod command;
mod decision;
pub mod error;
pub mod event;
pub mod fact;
pub mod state;

pub mod base64;
pub mod exact;
pub mod idempotency;
pub mod input;
pub mod json;
pub mod number;
mod reader;
pub mod rights;
pub mod sealed;
pub mod unique_keys;

// What it is about.
pub mod session;

pub mod access_token;
pub mod agent;
pub mod browser;
pub mod collection;
pub mod compression;
pub mod context_set;
pub mod conversation;
pub mod directive;
pub mod document;
pub mod erasure;
pub mod file;
pub mod limits;
pub mod plan;
pub mod run;
pub mod secret;
pub mod step;
pub mod tool;
pub mod variable;
pub mod workflow;

// What knows all of these.
pub mod api_words;
pub mod past_runs;
pub mod rewriting;

// Who sees what of it, and what prompts are made with.
pub mod view;
pub mod viewer;

pub mod calibration;
pub mod count;
pub mod overview;
pub mod prompt;
pub mod recall;
pub mod sentence;

#[cfg(feature = "schema")]
pub mod schema;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
