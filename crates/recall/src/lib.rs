//! Recall: finds the passages of journals that answer a question.
//!
//! An [`Index`] has the passages of one journal and where each term stands; [`Indexes`] keeps those of all journals, in
//! memory and in a file. [`search`] scores what one viewer sees of one or
//! several of them: nothing of a result depends on what is hidden from the viewer. No model is needed.

mod database;
mod dates;
mod dense;
mod english;
mod error;
mod file;
mod index;
mod indexes;
mod passage;
mod postings;
mod score;
mod sight;
mod signals;
mod terms;
mod texts;
mod vector_file;
mod vectors;
mod window;

pub use self::{
    dense::MissingVector,
    error::Error,
    index::{Index, add_shared, lock},
    indexes::Indexes,
    passage::{Passage, passages},
    score::{Hit, HitWhy, IndexQuery, Scope, is_blank, search},
    texts::{Class, Item, Kind, Role},
    vector_file::VectorFile,
    vectors::Vector,
};
