//! The collections that a session names.

use crate::{error::Error, id::CollectionName, input::InputVisitor};

/// How many a session may name.
const MOST: usize = 100;

/// Refuses a list of collections that names one twice, or too many.
pub(crate) fn check(names: &[CollectionName]) -> Result<(), Error> {
    if names.len() > MOST {
        return Err(Error::invalid("/collections", format!("name at most {MOST}")));
    }
    for (at, name) in names.iter().enumerate() {
        if names.iter().take(at).any(|before| before == name) {
            return Err(Error::invalid(format!("/collections/{at}"), format!("{name} is named twice: name it once")));
        }
    }
    Ok(())
}

/// Shows the names of collections.
pub(crate) fn input(names: Option<&[CollectionName]>, visitor: &mut dyn InputVisitor) {
    for (at, name) in names.into_iter().flatten().enumerate() {
        visitor.name(format_args!("/collections/{at}"), name.as_str());
    }
}
