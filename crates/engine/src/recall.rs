//! Recall: finding what was said in a session, as one viewer may see it. An index follows each journal that is asked. It is
//! derived, one for every store, beside the node's data.

pub(crate) mod answer;
mod ask;
pub(crate) mod background;
mod blocking;
pub(crate) mod corpus;
mod elsewhere;
pub(crate) mod fill;
mod follow;
mod indices;
mod query;
mod readings;
mod search;
mod settings;
mod sight;
mod vectors;

pub(crate) use self::indices::Indices;
pub use self::{
    answer::{RecallAnswer, RecallHit, Why},
    elsewhere::{Embedder, ForeignPassage, FromElsewhere, NoVectors, PassageSource},
    query::RecallQuery,
    settings::RecallSettings,
};
