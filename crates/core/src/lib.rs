//! The rules of Callboard, the context engine for teams of AI agents.
//!
//! A session is a *journal*: numbered [entries](entry), only ever appended. What is true now is the fold of its
//! entries, the [`State`](state::State). A change is a [`Command`](command::Command): it is *decided* against the
//! state, which gives the entries that it leads to, and these are *applied*. What one reads, one reads through a
//! [`View`](view::View) of one's own: what is hidden from a viewer is not in it. And what an agent is shown is a
//! [`Prompt`](prompt::Prompt), built from the journal within an exact budget.
//!
//! ```
//! use callboard_core::{
//!     command::*, context_set::PutSet, count::*, entry::{Actor, Entry}, prompt::*, session::*, state::State, tail::Tail,
//!     text::Values, time::Timestamp, view::View, viewer::Viewer, secret::SealedInput,
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
//! // The writer's prompt holds the set; of the manager's it is not known to be more than that it is there.
//! let prompt_of = |agent: &str| -> Result<String, Box<dyn std::error::Error>> {
//!     let view = View::new(&state, &Viewer::Agent(agent.parse()?), &AnyVocabulary)?;
//!     let task = Some("Write a poem.".to_owned());
//!     let spec = ResolvedSpec::new(agent.parse()?, "main".parse()?, Tokens(2000), &AnyVocabulary);
//!     let spec = ResolvedSpec { task, ..spec };
//!     let nothing_said = Tail { complete: true, ..Tail::default() };
//!     match prompt(&view, &spec, &nothing_said, &Values::new(), &AnyVocabulary)?.body {
//!         Body::Text(text) => Ok(text),
//!         Body::Messages(_) | Body::Responses { .. } | Body::Anthropic { .. } => unreachable!("text was asked for"),
//!     }
//! };
//! assert!(prompt_of("writer")?.contains("Four lines"));
//! assert!(prompt_of("lead")?.contains("hidden from you") && !prompt_of("lead")?.contains("Four lines"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no input or output: no async, clock, randomness or environment. It can neither fail half-way nor
//! differ between runs. An engine around it keeps the journal, tells the time, looks up what a decision
//! [needs](command::Undecided::MissingEntry), and reads older entries and long texts when a prompt
//! [lacks](prompt::Lacking) them.

// What a journal is made of.
pub mod audience;
pub mod entry;
pub mod id;
pub mod text;
pub mod time;

// How it grows: a command is decided against the state, and gives facts.
pub mod command;
mod decision;
pub mod error;
pub mod event;
pub mod fact;
pub mod state;

pub mod idempotency;
pub mod input;
mod json;
pub mod number;
mod reader;
pub mod rights;

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
pub mod form;
pub mod plan;
pub mod run;
pub mod secret;
pub mod step;
pub mod tool;
pub mod variable;
pub mod workflow;

// The words of all of these.
pub mod api_words;

// Who sees what of it, and what an agent is shown.
pub mod view;
pub mod viewer;

pub mod calibration;
pub mod count;
pub mod prompt;
pub mod recall;
pub mod sentence;
pub mod tail;
pub mod why;

#[cfg(feature = "schema")]
pub mod schema;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
