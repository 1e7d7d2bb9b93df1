//! What nodes do and read in the browser.

use std::sync::Arc;

use serde_json::Value;

use super::read::Open;
use crate::{
    browser::{Action, ActionKind, BrowserStep, Extract, Take, Typed},
    reader::{Object, Reader},
};

/// The type `browser_action`: something is done in a tab, in order until something fails.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserAction {
    /// The tab. If absent: the active one, or a new one where none is open.
    pub tab_name: Option<Arc<str>>,
    /// What is done.
    pub steps: Vec<BrowserStep>,
}

/// The type `browser_query`: values are read from a page, and may be checked.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserQuery {
    /// The tab. If absent: the active one.
    pub tab_name: Option<Arc<str>>,
    /// What is read.
    pub fields: Vec<(Arc<str>, Extract)>,
    /// An expression that must be true of what was read. It names the fields.
    pub expect: Option<Arc<str>>,
}

/// The fields of an action.
const ACTION: [&str; 5] = ["action", "selector", "value", "text", "url"];

impl Reader<Open> {
    pub(super) fn browser_action(&mut self, config: &Value, at: &str) -> Option<BrowserAction> {
        let known = ["action", "selector", "value", "text", "url", "actions", "tab_name", "tabName"];
        let object = self.object(config, at, "the configuration of `browser_action`", &known, &[])?;
        let tab_name = self.tab(&object);
        let several = self.optional(&object, "actions", |reader, value, at| reader.list(value, at, Self::one_action));
        let is_one = ACTION.iter().any(|name| object.get(name).is_some());
        let steps = match (object.get("actions").is_some(), is_one) {
            (true, true) => {
                self.fault(object.at("actions"), "give one action or several, not both".to_owned());
                return None;
            }
            (true, false) => several?,
            (false, _) => vec![self.step(&object)?],
        };
        if steps.is_empty() {
            self.fault(object.at("actions"), "say what is to be done".to_owned());
        }
        Some(BrowserAction { tab_name, steps })
    }

    fn one_action(&mut self, value: &Value, at: &str) -> Option<BrowserStep> {
        let object = self.object(value, at, "an action", &ACTION, &[])?;
        self.step(&object)
    }

    fn step(&mut self, object: &Object<'_>) -> Option<BrowserStep> {
        let url = self.optional(object, "url", Self::said);
        let action = match self.optional(object, "action", Self::text) {
            None if url.is_some() => "navigate".into(),
            None => return self.required(object, "action", |_, _, _| None),
            Some(action) => action,
        };
        let (navigates, closes) = (&*action == "navigate", &*action == "close");
        let selector = self.optional(object, "selector", Self::said);
        let value = self.optional(object, "value", Self::typed).or_else(|| self.optional(object, "text", Self::typed));
        if url.is_some() && !navigates {
            self.fault(object.at("url"), "only the action `navigate` takes it".to_owned());
        }
        if navigates {
            if url.is_none() {
                self.lacks(object.at("url"), "say which page, with http:// or https://");
            }
            return Some(BrowserStep::Navigate { url: url.unwrap_or_default() });
        }
        if closes {
            return Some(BrowserStep::Close);
        }
        let kind = serde_json::from_value::<ActionKind>(Value::from(&*action)).ok();
        let Some(kind) = kind else {
            let all = "navigate, click, type, press, select, wait, scroll, close";
            self.fault(object.at("action"), format!("use one of {all}"));
            return None;
        };
        let needs_selector = matches!(kind, ActionKind::Click | ActionKind::Type | ActionKind::Select);
        let needs_value = matches!(kind, ActionKind::Type | ActionKind::Press | ActionKind::Select);
        if needs_selector && selector.is_none() {
            self.lacks(object.at("selector"), "say where, with a selector");
        }
        if needs_value && value.is_none() {
            self.lacks(object.at("value"), "say what is typed, pressed or chosen");
        }
        if kind == ActionKind::Wait && selector.is_none() && value.is_none() {
            let problem = "say what is waited for: a text or milliseconds, or an element by a `selector`";
            self.lacks(object.at("value"), problem);
        }
        let [selector, value] = [selector, value].map(|text| text.map(|text| text.to_string()));
        Some(BrowserStep::Act(Action { action: kind, selector, value }))
    }

    pub(super) fn browser_query(&mut self, config: &Value, at: &str) -> Option<BrowserQuery> {
        let known = ["fields", "expect", "tab_name", "tabName"];
        let object = self.object(config, at, "the configuration of `browser_query`", &known, &[])?;
        let tab_name = self.tab(&object);
        let fields = self.required(&object, "fields", |reader, value, at| reader.named(value, at, Self::extract));
        let expect = self.optional(&object, "expect", Self::text);
        Some(BrowserQuery { tab_name, fields: fields?, expect })
    }

    fn extract(&mut self, value: &Value, at: &str) -> Option<Extract> {
        let known = ["selector", "take", "attribute", "type", "all", "each", "optional", "page"];
        let object = self.object(value, at, "a field", &known, &[])?;
        if let Some(page) = self.optional(&object, "page", Self::text) {
            return match &*page {
                "url" => Some(Extract::Url),
                "title" => Some(Extract::Title),
                _ => {
                    self.fault(object.at("page"), "use url or title".to_owned());
                    None
                }
            };
        }
        let selector = self.required(&object, "selector", Self::said);
        let take = self.optional(&object, "take", Self::word::<Take>);
        let attribute = self.optional(&object, "attribute", Self::said);
        let typed = self.optional(&object, "type", Self::word::<Typed>).unwrap_or_default();
        let all = self.optional(&object, "all", Self::truth).unwrap_or_default();
        let optional = self.optional(&object, "optional", Self::truth).unwrap_or_default();
        let each = self.optional(&object, "each", |reader, value, at| reader.named(value, at, Self::extract));
        if let Some(fields) = each {
            if take.is_some() || attribute.is_some() {
                self.fault(object.at("each"), "give `each`, or what is taken of the element, not both".to_owned());
            }
            return Some(Extract::Each { selector: selector?, fields });
        }
        let take = match (take, attribute) {
            (None, None) => Take::Text,
            (Some(take), None) => take,
            (None, Some(name)) => Take::Attribute(name),
            (Some(_), Some(_)) => {
                self.fault(object.at("attribute"), "give `take` or `attribute`, not both".to_owned());
                return None;
            }
        };
        Some(Extract::Element { selector: selector?, take, typed, all, optional })
    }

    /// One of the words of `T`.
    fn word<T: serde::de::DeserializeOwned>(&mut self, value: &Value, at: &str) -> Option<T> {
        match serde_json::from_value(value.clone()) {
            Ok(word) => Some(word),
            Err(error) => {
                self.fault(at, error.to_string());
                None
            }
        }
    }
}
