//! Hiding secrets in what comes out of the browser.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use percent_encoding::percent_decode_str;

type HasSecrets = dyn Fn() -> bool + Send + Sync;
type FindSecrets = dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync;

/// Finds the secrets that the caller knows.
#[derive(Clone)]
pub struct MaskFn {
    any: Arc<HasSecrets>,
    find: Arc<FindSecrets>,
}

impl MaskFn {
    /// From two functions: whether there are any secrets, and where they stand in a text, as ranges of its bytes.
    pub fn new(
        any: impl Fn() -> bool + Send + Sync + 'static,
        find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static,
    ) -> Self {
        Self { any: Arc::new(any), find: Arc::new(find) }
    }
}

impl fmt::Debug for MaskFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MaskFn")
    }
}

/// The caller's mask, and the secrets that were typed in this browser: those are hidden even if the caller forgets them.
pub(crate) struct Mask {
    given: Option<MaskFn>,
    typed: Mutex<Vec<String>>,
}

/// What stands in the place of a secret.
const HIDDEN: &str = "[hidden]";

/// A shorter value turns up by chance, and hiding it would tell what it is.
const SHORTEST: usize = 4;

impl Mask {
    pub(crate) fn new(given: Option<MaskFn>) -> Self {
        Self { given, typed: Mutex::default() }
    }

    /// Notes that a secret is about to be typed.
    pub(crate) fn add(&self, value: &str) {
        let mut typed = self.typed();
        if value.chars().count() >= SHORTEST && !typed.iter().any(|known| known == value) {
            typed.push(value.to_owned());
        }
    }

    fn typed(&self) -> MutexGuard<'_, Vec<String>> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no secret to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.typed().is_empty() && !self.given.as_ref().is_some_and(|given| (given.any)())
    }

    /// Where secrets stand in a text, in order. Those that overlap are one place.
    pub(crate) fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.given.as_ref().map_or_else(Vec::new, |given| (given.find)(text));
        for known in self.typed().iter() {
            found.extend(text.match_indices(known.as_str()).map(|(start, _)| start..start + known.len()));
        }
        found.sort_unstable_by_key(|place| place.start);
        let mut places: Vec<Range<usize>> = Vec::new();
        for place in found {
            match places.last_mut() {
                Some(last) if place.start < last.end => last.end = last.end.max(place.end),
                _ => places.push(place),
            }
        }
        places
    }

    /// The text without secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        self.hidden(text).unwrap_or_else(|| text.to_owned())
    }

    /// The address without secrets, also where they stand percent-encoded.
    pub(crate) fn url(&self, url: &str) -> String {
        let shown = self.text(url);
        match self.hidden(&decoded(&shown)) {
            Some(hidden) => hidden,
            None => shown,
        }
    }

    fn hidden(&self, text: &str) -> Option<String> {
        let found = self.found(text);
        if found.is_empty() {
            return None;
        }
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for place in found {
            shown.push_str(text.get(end..place.start).unwrap_or_default());
            shown.push_str(HIDDEN);
            end = place.end;
        }
        shown.push_str(text.get(end..).unwrap_or_default());
        Some(shown)
    }
}

/// Percent-encoding and `+` for a space undone; what is not valid stays.
fn decoded(url: &str) -> String {
    percent_decode_str(&url.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_what_was_typed_also_in_encoded_addresses() {
        let mask = Mask::new(None);
        mask.add("p@ss word");
        mask.add("abc");
        assert_eq!(mask.text("it is p@ss word!"), "it is [hidden]!");
        assert_eq!(mask.url("http://a/?p=p%40ss+word&x=1"), "http://a/?p=[hidden]&x=1");
        assert_eq!(mask.url("http://a/%41?q=a+b"), "http://a/%41?q=a+b");
        assert_eq!(mask.text("abc"), "abc");
    }

    #[test]
    fn asks_the_mask_of_the_caller_too() {
        let find =
            |text: &str| text.match_indices("key-1").map(|(start, key)| start..start + key.len()).collect::<Vec<_>>();
        let mask = Mask::new(Some(MaskFn::new(|| true, find)));
        mask.add("123456");
        mask.add("1 and");
        assert_eq!(mask.text("key-1, 123456"), "[hidden], [hidden]");
        assert_eq!(mask.text("key-1 and 123456"), "[hidden] [hidden]", "no part is left of those that overlap");
        assert_eq!(mask.text("nothing"), "nothing");
        assert!(!mask.is_empty());
    }

    #[test]
    fn is_empty_until_there_is_a_secret() {
        let mask = Mask::new(Some(MaskFn::new(|| false, |_| Vec::new())));
        assert!(mask.is_empty());
        mask.add("123456");
        assert!(!mask.is_empty());
    }
}
