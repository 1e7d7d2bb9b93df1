//! Keys as callers name them: `Enter`, `a`, `Control+Shift+ArrowLeft`.

use chromiumoxide::keys::{KeyDefinition, USKEYBOARD_LAYOUT};
use serde_json::{Value, json};

use crate::BrowserError;

/// A key with the keys that are held down with it.
#[derive(Debug)]
pub(crate) struct Key {
    definition: &'static KeyDefinition,
    modifiers: u8,
}

const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

impl Key {
    pub(crate) fn parse(name: &str) -> Result<Self, BrowserError> {
        let bad = || BrowserError::BadKey { key: name.to_owned() };
        // The last plus of `Control++` is the key itself.
        let (held, key) = match name.strip_suffix("++") {
            Some(held) => (held, "+"),
            None => name.rsplit_once('+').filter(|(_, key)| !key.is_empty()).unwrap_or(("", name)),
        };
        let mut modifiers = 0;
        for modifier in held.split('+').filter(|part| !part.is_empty()) {
            modifiers |= match modifier.to_lowercase().as_str() {
                "alt" => ALT,
                "control" | "ctrl" => CONTROL,
                "meta" | "cmd" | "command" => META,
                "shift" => SHIFT,
                _ => return Err(bad()),
            };
        }
        let key = match key.to_lowercase().as_str() {
            "esc" => "Escape",
            "return" => "Enter",
            "space" => " ",
            "up" => "ArrowUp",
            "down" => "ArrowDown",
            "left" => "ArrowLeft",
            "right" => "ArrowRight",
            _ => key,
        };
        let exact = USKEYBOARD_LAYOUT.iter().find(|definition| definition.key == key);
        let near = || {
            USKEYBOARD_LAYOUT.iter().find(|known| known.key.chars().count() > 1 && known.key.eq_ignore_ascii_case(key))
        };
        let definition = exact.or_else(near).ok_or_else(bad)?;
        Ok(Self { definition, modifiers })
    }

    /// The key that types a character, if there is one on a usual keyboard.
    pub(crate) fn for_char(c: char) -> Option<Self> {
        if c == '\n' {
            return Self::parse("Enter").ok();
        }
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        let definition = USKEYBOARD_LAYOUT.iter().find(|definition| definition.key == text)?;
        Some(Self { definition, modifiers: 0 })
    }

    /// The events of pressing it and letting it go.
    pub(crate) fn events(&self) -> [Value; 2] {
        let KeyDefinition { key, key_code, code, text } = *self.definition;
        // With Control, Alt or Meta a key types nothing.
        let types = self.modifiers & !SHIFT == 0;
        let text = text.or((key.chars().count() == 1).then_some(key)).filter(|_| types);
        let event = |kind: &str, text: Option<&str>| {
            let mut event = json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": key_code,
                "nativeVirtualKeyCode": key_code, "modifiers": self.modifiers});
            if let (Some(text), Some(fields)) = (text, event.as_object_mut()) {
                fields.insert("text".into(), text.into());
            }
            event
        };
        [event(if text.is_some() { "keyDown" } else { "rawKeyDown" }, text), event("keyUp", None)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        for (name, key, modifiers) in [
            ("Enter", "Enter", 0),
            ("enter", "Enter", 0),
            ("a", "a", 0),
            ("A", "A", 0),
            ("Control+a", "a", CONTROL),
            ("ctrl+Shift+Left", "ArrowLeft", CONTROL | SHIFT),
            ("+", "+", 0),
            ("Control++", "+", CONTROL),
            ("Space", " ", 0),
        ] {
            let found = Key::parse(name).unwrap();
            assert_eq!((found.definition.key, found.modifiers), (key, modifiers), "{name}");
        }
        for bad in ["", "Entr", "Hyper+a", "ab"] {
            assert_eq!(Key::parse(bad).unwrap_err().code(), "bad_key", "{bad}");
        }
    }
}
