//! What callers name elements by: CSS, `text=…`, `role=NAME[name="…"]`, each with ` >> nth=N` behind it where several match.

use serde::Serialize;

use crate::BrowserError;

/// A selector as the scripts in the page take it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Selector {
    #[serde(flatten)]
    kind: Kind,
    nth: Option<i32>,
    #[serde(skip)]
    source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Css { css: String },
    Text { text: String, exact: bool },
    Role { role: String, name: Option<String> },
}

impl Selector {
    pub(crate) fn parse(source: &str) -> Result<Self, BrowserError> {
        let bad = |reason: &str| BrowserError::BadSelector { selector: source.to_owned(), reason: reason.to_owned() };
        let (body, nth) = match source.rsplit_once(">> nth=") {
            None => (source.trim(), None),
            Some((body, number)) => {
                let nth = number.trim().parse().map_err(|_| bad("behind nth= stands a number, the first is 0"))?;
                (body.trim(), Some(nth))
            }
        };
        if body.is_empty() {
            return Err(bad("it is empty"));
        }
        let kind = if let Some(text) = body.strip_prefix("text=") {
            let (text, exact) = unquoted(text.trim());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.is_empty() {
                return Err(bad("the text is empty"));
            }
            Kind::Text { text, exact }
        } else if let Some(role) = body.strip_prefix("role=") {
            parse_role(role.trim()).ok_or_else(|| bad("a role is written role=button or role=button[name=\"Send\"]"))?
        } else {
            Kind::Css { css: body.strip_prefix("css=").unwrap_or(body).to_owned() }
        };
        Ok(Self { kind, nth, source: source.to_owned() })
    }

    /// As the caller wrote it.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

fn parse_role(text: &str) -> Option<Kind> {
    let Some((role, rest)) = text.split_once('[') else {
        return is_word(text).then(|| Kind::Role { role: text.to_lowercase(), name: None });
    };
    let value = rest.strip_suffix(']')?.trim().strip_prefix("name")?.trim_start().strip_prefix('=')?.trim();
    let (name, _) = unquoted(value);
    (is_word(role) && !name.is_empty()).then(|| Kind::Role {
        role: role.trim().to_lowercase(),
        name: Some(name.split_whitespace().collect::<Vec<_>>().join(" ")),
    })
}

fn is_word(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Without its quotes and their escapes, and whether there were any.
fn unquoted(text: &str) -> (String, bool) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            let mut plain = String::with_capacity(inner.len());
            let mut chars = inner.chars();
            while let Some(c) = chars.next() {
                plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
            }
            return (plain, true);
        }
    }
    (text.to_owned(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let found = match Selector::parse(source) {
            Ok(selector) => serde_json::to_string(&selector).unwrap(),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn reads_every_kind() {
        check("#next", r##"{"kind":"css","css":"#next","nth":null}"##);
        check("css=a b", r#"{"kind":"css","css":"a b","nth":null}"#);
        check("li >> nth=2", r#"{"kind":"css","css":"li","nth":2}"#);
        check("text=Sign  in", r#"{"kind":"text","text":"Sign in","exact":false,"nth":null}"#);
        check("text=\"Sign in\"", r#"{"kind":"text","text":"Sign in","exact":true,"nth":null}"#);
        check("role=Button", r#"{"kind":"role","role":"button","name":null,"nth":null}"#);
        check(
            r#"role=link[name="Say \"hi\" [1]"] >> nth=-1"#,
            r#"{"kind":"role","role":"link","name":"Say \"hi\" [1]","nth":-1}"#,
        );
    }

    #[test]
    fn refuses_what_is_none() {
        for source in ["", "  ", "text=", "role=", "role=a b", "role=button[title=\"x\"]", "a >> nth=x"] {
            check(source, "bad_selector");
        }
    }
}
