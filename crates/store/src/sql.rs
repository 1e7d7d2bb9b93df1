//! What SQLite and Postgres store alike.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    entry::Hash,
    id::{BadName, Seq},
    json::text_of,
};

use crate::Order;

/// An entry's number as databases store it. A number beyond their range becomes its greatest.
pub(crate) fn number(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// A limit as databases take it.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The first half of a text's SHA-256, which is enough to tell texts apart.
pub(crate) fn short_hash(text: &str) -> [u8; 16] {
    Hash::of(text.as_bytes()).0.first_chunk().copied().unwrap_or_default()
}

/// An order in SQL.
pub(crate) fn direction(order: Order) -> &'static str {
    match order {
        Order::Forward => "ASC",
        Order::Backward => "DESC",
    }
}

/// Keys as a column stores them: a JSON array, or null for none.
pub(crate) fn keys_text(keys: &[Arc<str>]) -> Option<String> {
    (!keys.is_empty()).then(|| text_of(keys))
}

/// An audience as a column stores it; null for `all`, which is by far the most frequent.
pub(crate) fn audience_text(audience: &Audience) -> Option<String> {
    match audience {
        Audience::All => None,
        Audience::None | Audience::Agents(_) => Some(audience.to_string()),
    }
}

/// Parses an audience as `Display` writes it. No agent's name contains a comma or is `all` or `none`.
pub(crate) fn audience(text: &str) -> Result<Audience, BadName> {
    match text {
        "all" => Ok(Audience::All),
        "none" => Ok(Audience::None),
        names => names.split(", ").map(str::parse).collect::<Result<_, _>>().map(Audience::Agents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audience_reads_as_it_is_kept() {
        let agents = ["b c", "@a/d.e", "z-9"].map(|name| name.parse().unwrap());
        for written in [Audience::All, Audience::None, Audience::of(agents)] {
            let kept = audience_text(&written);
            assert_eq!(kept.as_deref().map_or(Ok(Audience::All), audience).unwrap(), written);
            assert_eq!(audience(&written.to_string()).unwrap(), written);
        }
    }
}
