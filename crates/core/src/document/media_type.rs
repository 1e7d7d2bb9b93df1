//! Media types: what the text of a document is.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::id::{BadName, name};

name! {
    /// A media type without its parameters, in lower case: `text/markdown`.
    MediaType, parse;
}

impl MediaType {
    /// Plain text.
    pub fn plain() -> Self {
        Self("text/plain".into())
    }
}

fn parse(text: &str) -> Result<String, BadName> {
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    match essence.split_once('/') {
        Some((kind, subtype)) if essence.len() <= 127 && is_token(kind) && is_token(subtype) => Ok(essence),
        _ => Err(BadName::new("media type", text, "use for instance text/plain, text/markdown or text/html")),
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use super::MediaType;
    use crate::text_schema;

    const MEDIA_TYPE: &str = "^[A-Za-z0-9!#$&^_.+-]{1,63}/[A-Za-z0-9!#$&^_.+-]{1,63}$";

    text_schema! {
        /// A media type. Its parameters are ignored.
        MediaType as "MediaType", |text| text.pattern(Some(MEDIA_TYPE)).examples(["text/markdown"]);
    }
}
