//! Recall: the index in which is found what was said. It follows each journal that is asked, and is derived: one for every
//! store, beside the node's data. Who may see what of it, `read::recall` says.

pub(crate) mod elsewhere;
mod fill;
mod follow;
mod indices;
pub(crate) mod query;
mod readings;
mod settings;
pub(crate) mod vectors;

pub(crate) use self::indices::Indices;
pub use self::{
    elsewhere::{Embedder, ForeignPassage, FromElsewhere, NoVectors, PassageSource},
    query::RecallQuery,
    settings::RecallSettings,
};
