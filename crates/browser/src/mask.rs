//! Hiding secrets in what comes out of the browser.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

type HideSecrets = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Replaces the known secrets in a text; `None` where there are none.
#[derive(Clone)]
pub struct MaskFn(Arc<HideSecrets>);

impl MaskFn {
    /// From a function.
    pub fn new(mask: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(mask))
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
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if value.chars().count() >= SHORTEST && !typed.iter().any(|known| known == value) {
            typed.push(value.to_owned());
            // A secret that is part of another must not leave the rest of it behind.
            typed.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// The secrets that were typed, for painting over what shows them.
    pub(crate) fn typed_values(&self) -> Vec<String> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let masked = self.given.as_ref().and_then(|mask| (mask.0)(text));
        let mut shown = Cow::Borrowed(masked.as_deref().unwrap_or(text));
        for known in self.typed.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if shown.contains(known) {
                shown = Cow::Owned(shown.replace(known, HIDDEN));
            }
        }
        match shown {
            Cow::Owned(hidden) => Some(hidden),
            Cow::Borrowed(_) => masked,
        }
    }
}

/// Percent-encoding and `+` for a space undone; what is not valid stays.
fn decoded(url: &str) -> String {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let byte =
            code.and_then(|code| std::str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(if first == b'+' { b' ' } else { first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
        let mask =
            Mask::new(Some(MaskFn::new(|text| text.contains("key-1").then(|| text.replace("key-1", "[hidden]")))));
        mask.add("123456");
        assert_eq!(mask.text("key-1 and 123456"), "[hidden] and [hidden]");
        assert_eq!(mask.text("nothing"), "nothing");
    }
}
