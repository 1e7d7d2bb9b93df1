//! How a variable is shown in a line: short values in full, long ones by their beginning.

use serde_json::Value;

use crate::id::is_control;

/// How many characters of a value are shown.
const SHOWN: usize = 100;

/// What a secret is shown as.
pub const HIDDEN: &str = "[hidden]";

/// `value` in one line. It is written only as far as it is shown, so a long value takes no longer than a short one.
///
/// An object is `{key: "text", n: 1}`, with keys that are no identifiers in quotes. The elements of an array are JSON.
/// A value of up to 100 characters is shown in full. Of a longer array the number of its elements and the beginning of
/// the first are shown; of anything else the first 100 characters, and of a text those between the quotes. What is cut
/// ends with `...`. Control characters are escaped. A value that is a secret as a whole is [`HIDDEN`] without quotes.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) if is_placeholder(text) => HIDDEN.to_owned(),
        Value::String(text) => display_text(text),
        Value::Array(all) if all.is_empty() => "[] (empty)".to_owned(),
        Value::Object(fields) if fields.is_empty() => "{} (empty)".to_owned(),
        value => {
            let mut whole = Line::default();
            match (whole.json(value, true), value) {
                (Ok(()), _) => whole.text,
                (Err(Full), Value::Array(all)) => display_array(all),
                (Err(Full), _) => whole.text + "...",
            }
        }
    }
}

/// Whether what is [displayed](display()) is only the beginning of a value.
pub fn is_cut(display: &str) -> bool {
    display.ends_with("...")
}

/// Whether a text is what stands in the place of a secret.
pub fn is_placeholder(text: &str) -> bool {
    text == HIDDEN
}

fn display_text(text: &str) -> String {
    let mut shown = String::from("\"");
    let (beginning, end) = match text.char_indices().nth(SHOWN) {
        Some((at, _)) => (text.get(..at).unwrap_or_default(), "..."),
        None => (text, "\""),
    };
    beginning.chars().for_each(|c| shown.push_str(&escaped(c)));
    shown + end
}

fn display_array(all: &[Value]) -> String {
    let mut line = Line::default();
    // What does not fit is cut.
    let _ = line
        .add(&format!("[Array of {} results - first: ", all.len()))
        .and_then(|()| all.first().map_or(Ok(()), |first| line.json(first, false)));
    line.text + "..."
}

/// A line that takes [`SHOWN`] characters.
#[derive(Default)]
struct Line {
    text: String,
    length: usize,
}

/// That the line takes no more.
struct Full;

impl Line {
    /// Writes the whole of `text`, or as many characters as fit.
    fn add(&mut self, text: &str) -> Result<(), Full> {
        for c in text.chars() {
            self.whole(c.encode_utf8(&mut [0; 4]))?;
        }
        Ok(())
    }

    /// Writes `text` whole, or nothing of it.
    fn whole(&mut self, text: &str) -> Result<(), Full> {
        let length = self.length + text.chars().count();
        if length > SHOWN {
            self.length = SHOWN;
            return Err(Full);
        }
        self.length = length;
        self.text.push_str(text);
        Ok(())
    }

    /// Writes a value as JSON; where `is_bare`, keys that need no quotes have none, but within lists.
    fn json(&mut self, value: &Value, is_bare: bool) -> Result<(), Full> {
        match value {
            Value::Object(fields) => {
                self.add("{")?;
                for (at, (key, inner)) in fields.iter().enumerate() {
                    self.add(if at == 0 { "" } else { ", " })?;
                    if is_bare && is_identifier(key) {
                        self.add(key)?
                    } else {
                        self.quoted(key)?
                    }
                    self.add(": ")?;
                    self.json(inner, is_bare)?;
                }
                self.add("}")
            }
            Value::Array(all) => {
                self.add("[")?;
                for (at, inner) in all.iter().enumerate() {
                    self.add(if at == 0 { "" } else { ", " })?;
                    self.json(inner, false)?;
                }
                self.add("]")
            }
            Value::String(text) => self.quoted(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.add(&value.to_string()),
        }
    }

    fn quoted(&mut self, text: &str) -> Result<(), Full> {
        self.add("\"")?;
        text.chars().try_for_each(|c| self.whole(&escaped(c)))?;
        self.add("\"")
    }
}

/// Whether `key` can stand without quotes.
fn is_identifier(key: &str) -> bool {
    let may_begin = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    key.starts_with(may_begin) && key.chars().all(|c| may_begin(c) || c.is_numeric())
}

/// A character as it stands between quotes.
fn escaped(c: char) -> String {
    match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        // They all are below U+10000.
        c if is_control(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}
