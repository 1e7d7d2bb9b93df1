//! Live Callboard sessions: open, decide, append, publish, read.
//!
//! A [`Board`] keeps sessions in a store. A [`Session`] takes commands, whose entries are on disk before they are
//! answered, and gives prompts, histories and streams, each through the eyes of one viewer. A whole program:
//!
//! ```
//! use callboard_engine::{Board, NewBoardSession, PromptSpec, Settings, core, store};
//! use core::{context_set::PutSet, conversation::{NewMessage, Role}, id::ThreadId, viewer::Viewer};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let store = store::open("memory:", store::Settings::default()).await?;
//!     let board = Board::new(store, Settings::default());
//!     let team = serde_json::from_str(r#"[{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]"#)?;
//!     let session = board.create(NewBoardSession { agents: team, ..Default::default() }).await?;
//!
//!     let brief = PutSet::new("Brief".parse()?, "One page on tides.").for_agents(["lead".parse()?]);
//!     session.execute(Viewer::User, brief).await?;
//!     session.say(Viewer::User, &ThreadId::main(), NewMessage::text(Role::User, "Begin, please.")).await?;
//!
//!     let prompt = |agent: &str| PromptSpec { agent: agent.parse().ok(), ..Default::default() };
//!     let [lead, writer] = [session.prompt(&prompt("lead")).await?, session.prompt(&prompt("writer")).await?];
//!     assert!(lead.text().contains("One page on tides.") && !writer.text().contains("tides"));
//!     assert!(writer.text().contains("Begin, please.") && writer.tokens <= writer.budget);
//!     Ok(())
//! }
//! ```

mod append_surely;
mod asker;
mod background;
mod blocking;
mod board;
mod collection;
mod compress;
mod connection;
mod erase;
mod error;
mod expired;
mod export;
mod idempotency;
mod journal;
mod last;
mod live;
mod lock;
mod master_keys;
mod outside;
mod prompt_memory;
mod read;
mod recall;
mod record;
mod restore;
mod seal;
mod secrets;
mod session;
mod session_cache;
mod session_info;
mod settings;
mod sizes;
mod texts;
mod tools;
mod transfer;
mod upkeep;

pub use board::Board;
pub use error::Error;
pub use export::Export;
pub use idempotency::record::{Claim, KeyedRequest};
pub use live::job::{Ephemeral, Receipt};
pub use outside::{Browsers, ContextFiles, Outside, Workflows};
pub use prompt_memory::PromptMemory;
pub use read::{
    entries::JournalQuery,
    filter::Filter,
    message::{MessageCursor, MessageJson, MessagePage, MessageQuery},
    recall::answer::{HitWhy, RecallAnswer, RecallHit},
    results::NodeResult,
    sessions::{SessionChange, SessionChanges},
    subscribe::Subscription,
    turns::SentPrompt,
};
pub use recall::{Embedder, ForeignPassage, FromElsewhere, NoVectors, PassageSource, RecallQuery, RecallSettings};
pub use seal::{
    keys::{MasterKey, MasterKeys, NoMasterKeys},
    mask::Mask,
    stream::MaskedStream,
};
pub use secrets::SecretForPages;
pub use session::{Listener, Session};
pub use session_info::SessionInfo;
pub use settings::{Random, Settings, SystemRandom};
pub use sizes::{DEFAULT_WINDOW, Measure, sizes, window_of};
pub use transfer::{
    create::NewBoardSession,
    store_copy::{check_copy, copy},
};
pub use upkeep::{
    archive::{Archive, BeforeAll},
    check::check,
    lease::LEASE,
    survey::{Progress, Survey},
};

pub use callboard_core::{self as core, prompt::PromptSpec};
pub use callboard_prompt as prompt;
pub use callboard_store as store;
pub use callboard_tasks as tasks;

/// The example of the documentation, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
mod documentation {}
