//! Values of a page, by selectors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use crate::{Browser, BrowserError, actions::BETWEEN, mask::Mask, page::FoundElement, selectors::Selector};

/// A value to read from a page.
#[derive(Clone, Debug)]
pub struct QueryField {
    /// What it is called in what is read.
    pub name: String,
    /// What it is.
    pub what: Wanted,
}

/// What is read.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// The address of the page.
    Url,
    /// The title of the page.
    Title,
    /// Something of the element that matches, or a list of it of all that do.
    Element {
        /// Which element.
        selector: String,
        /// What of it.
        take: Taken,
        /// All that match.
        all: bool,
        /// Whether nothing may match: then it is null.
        optional: bool,
    },
    /// A list with an object for each element that matches; its fields are looked for within the element.
    Each {
        /// Which elements.
        selector: String,
        /// The fields.
        fields: Vec<QueryField>,
    },
}

/// What is taken of an element.
#[derive(Clone, Debug)]
pub enum Taken {
    /// Its text.
    Text,
    /// What stands in a field.
    Value,
    /// Whether there is one.
    Exists,
    /// How many there are.
    Count,
    /// An attribute; null where it has none. Those with addresses are given whole.
    Attribute(String),
}

/// A field as the script takes it.
#[derive(Serialize)]
struct Asked<'a> {
    name: &'a str,
    page: Option<&'static str>,
    selector: Option<Selector>,
    take: Option<&'static str>,
    attribute: Option<&'a str>,
    all: bool,
    optional: bool,
    each: Option<Vec<Self>>,
}

#[derive(Deserialize)]
struct Read {
    values: Option<Map<String, Value>>,
    fault: Option<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    at: String,
    found: FoundElement,
}

impl Browser {
    /// Reads values from a page. What is not there yet is waited for, as long as [`crate::Timeouts::find`] says. Texts have no
    /// secrets.
    pub async fn query(&self, name: &str, fields: &[QueryField]) -> Result<Map<String, Value>, BrowserError> {
        let asked = asked(fields)?;
        let (live, _) = self.live().await?;
        let target = self.target(name)?;
        let shared = &self.inner.shared;
        let end = Instant::now() + shared.settings.timeouts.find;
        loop {
            let read: Read = live.run(&target, "query", &asked).await?;
            let Fault { at, found } = match read {
                Read { values: Some(mut values), .. } => {
                    values.values_mut().for_each(|value| hide(value, &shared.mask));
                    return Ok(values);
                }
                Read { fault: Some(fault), .. } => fault,
                Read { .. } => return Err(BrowserError::Unreadable { reason: "a script returned nothing".into() }),
            };
            if found.may_change() && Instant::now() < end {
                sleep(BETWEEN).await;
                continue;
            }
            let selector = selector_at(fields, &at).unwrap_or_default();
            found.into_element(&Selector::parse(&selector)?, &shared.mask)?;
            return Err(BrowserError::Unreadable { reason: format!("{at} cannot be read") });
        }
    }
}

fn asked(fields: &[QueryField]) -> Result<Vec<Asked<'_>>, BrowserError> {
    fields.iter().map(|field| Ok(Asked { name: &field.name, ..of(&field.what)? })).collect()
}

fn of(what: &Wanted) -> Result<Asked<'_>, BrowserError> {
    let (page, selector, take, attribute, each) = Default::default();
    let none = Asked { name: "", page, selector, take, attribute, all: false, optional: false, each };
    Ok(match what {
        Wanted::Url => Asked { page: Some("url"), ..none },
        Wanted::Title => Asked { page: Some("title"), ..none },
        Wanted::Element { selector, take, all, optional } => {
            let (take, attribute) = match take {
                Taken::Text => ("text", None),
                Taken::Value => ("value", None),
                Taken::Exists => ("exists", None),
                Taken::Count => ("count", None),
                Taken::Attribute(name) => ("attribute", Some(name.as_str())),
            };
            let selector = Some(Selector::parse(selector)?);
            Asked { selector, take: Some(take), attribute, all: *all, optional: *optional, ..none }
        }
        Wanted::Each { selector, fields } => {
            Asked { selector: Some(Selector::parse(selector)?), each: Some(asked(fields)?), ..none }
        }
    })
}

/// The selector of the field with this path: `/rows/name`.
fn selector_at(fields: &[QueryField], at: &str) -> Option<String> {
    let field = fields.iter().find(|field| {
        let rest = at.strip_prefix('/').and_then(|at| at.strip_prefix(field.name.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })?;
    let rest = at.get(field.name.len() + 1..).unwrap_or_default();
    match &field.what {
        Wanted::Each { selector, fields } => selector_at(fields, rest).or_else(|| Some(selector.clone())),
        Wanted::Element { selector, .. } => Some(selector.clone()),
        Wanted::Url | Wanted::Title => None,
    }
}

fn hide(value: &mut Value, mask: &Mask) {
    match value {
        // It may be an address.
        Value::String(text) => *text = mask.url(text),
        Value::Array(all) => all.iter_mut().for_each(|value| hide(value, mask)),
        Value::Object(fields) => fields.values_mut().for_each(|value| hide(value, mask)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
