//! Recall: finding what was said in a session, as one viewer may see it. An index follows each journal that is asked. It is
//! derived, one for every store, beside the node's data.

pub(crate) mod background;
mod blocking;
mod elsewhere;
pub(crate) mod fill;
mod follow;
mod indices;
mod query;
mod search;
mod settings;
mod vectors;

pub(crate) use self::indices::Indices;
pub use self::{
    elsewhere::{Embedder, ForeignPassage, FromElsewhere, NoVectors, PassageSource},
    query::{RecallAnswer, RecallHit, RecallQuery, Why},
    settings::RecallSettings,
};
