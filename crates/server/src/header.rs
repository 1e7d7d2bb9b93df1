//! Headers that a request has once.

use axum::http::HeaderMap;

/// What a header says, if it is there. It is an error where it is there twice, or no text.
pub(crate) fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => first.map(|value| value.to_str().map_err(drop)).transpose(),
        _ => Err(()),
    }
}
