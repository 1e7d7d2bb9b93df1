//! What nodes of a workflow do in a browser, and read there.

use std::sync::Arc;

use callboard_browser::{Browser, QueryField, Taken, Wanted};
use callboard_core::{
    browser::{Action, BrowserStep, Extract, Take, Typed},
    error::Error as Refusal,
};
use callboard_engine::{Error, Session};
use serde_json::{Map, Number, Value};

use super::{
    Browsers, act,
    told::{self, refused},
};

/// The name of a tab that is opened where none is named.
const MAIN_TAB: &str = "Main Tab";

impl Browsers {
    /// Does, one after the other, what a node does in a tab.
    pub(super) async fn node_acts(
        &self,
        session: &Session,
        tab_name: Option<&str>,
        steps: &[BrowserStep],
    ) -> Result<Map<String, Value>, Error> {
        let is_one = steps.len() == 1;
        let place = |at: usize| if is_one { "/config".to_owned() } else { format!("/config/actions/{at}") };
        let mut shown = None;
        let mut done = String::new();
        for (at, step) in steps.iter().enumerate() {
            match self.node_act(session, tab_name, step, &place(at)).await {
                Ok(now) => shown = now,
                Err(error) => return Err(told::stopped(error, &done, &in_words(step), at, steps.len())),
            }
            done.push_str(&format!("{}. {}: done\n", at + 1, in_words(step)));
        }
        let fields = shown.into_iter().flat_map(|(url, title)| [("url", url), ("title", title)]);
        Ok(fields.map(|(name, text)| (name.to_owned(), text.into())).collect())
    }

    /// Does one step, and gives the address and the title that the tab shows then, if there still is one.
    async fn node_act(
        &self,
        session: &Session,
        tab_name: Option<&str>,
        step: &BrowserStep,
        pointer: &str,
    ) -> Result<Option<(String, String)>, Error> {
        match step {
            BrowserStep::Navigate { url } => {
                act::no_secret(url, &format!("{pointer}/url"))?;
                self.check(url)?;
                let page = match self.open_tab_of(session, tab_name).await? {
                    Some((browser, tab)) => browser.navigate(&tab, url).await.map_err(refused)?,
                    None => {
                        let browser = self.started(session).await?;
                        browser.open(url, tab_name.unwrap_or(MAIN_TAB)).await.map_err(refused)?
                    }
                };
                Ok(Some((page.url, page.title)))
            }
            BrowserStep::Close => {
                let (browser, tab) = self.tab(session, tab_name.map(str::to_owned)).await?;
                browser.close(&tab).await.map_err(refused)?;
                Ok(None)
            }
            BrowserStep::Act(action) => {
                let action = act::action(session, action, pointer).await?;
                let (browser, tab) = self.tab(session, tab_name.map(str::to_owned)).await?;
                let acted = browser.act(&tab, action).await.map_err(refused)?;
                Ok(Some((acted.url, acted.title)))
            }
        }
    }

    /// The tab that is meant, if it is open.
    async fn open_tab_of(&self, session: &Session, tab_name: Option<&str>) -> Result<Option<(Browser, String)>, Error> {
        let Some(browser) = self.running(session).await? else { return Ok(None) };
        let tabs = browser.tabs();
        let is_meant = |tab: &&callboard_browser::TabState| match tab_name {
            Some(name) => tab.name == name,
            None => tab.active,
        };
        let tab = tabs.iter().find(is_meant).or_else(|| tabs.first().filter(|_| tab_name.is_none()));
        Ok(tab.map(|tab| (browser.clone(), tab.name.clone())))
    }

    /// Reads from a page what a node asks for.
    pub(super) async fn node_reads(
        &self,
        session: &Session,
        tab_name: Option<&str>,
        fields: &[(Arc<str>, Extract)],
    ) -> Result<Map<String, Value>, Error> {
        let (browser, tab) = self.tab(session, tab_name.map(str::to_owned)).await?;
        let mut read = browser.query(&tab, &wanted(fields)).await.map_err(refused)?;
        for (name, extract) in fields {
            if let Some(value) = read.get_mut(&**name) {
                type_value(value, extract, &format!("/config/fields/{name}"))?;
            }
        }
        Ok(read)
    }
}

fn wanted(fields: &[(Arc<str>, Extract)]) -> Vec<QueryField> {
    let what = |extract: &Extract| match extract {
        Extract::Url => Wanted::Url,
        Extract::Title => Wanted::Title,
        Extract::Element { selector, take, all, optional, .. } => Wanted::Element {
            selector: selector.to_string(),
            take: match take {
                Take::Text => Taken::Text,
                Take::Value => Taken::Value,
                Take::Exists => Taken::Exists,
                Take::Count => Taken::Count,
                Take::Attribute(name) => Taken::Attribute(name.to_string()),
            },
            all: *all,
            optional: *optional,
        },
        Extract::Each { selector, fields } => Wanted::Each { selector: selector.to_string(), fields: wanted(fields) },
    };
    fields.iter().map(|(name, extract)| QueryField { name: name.to_string(), what: what(extract) }).collect()
}

/// Reads a text of a page as what the node says it is.
fn type_value(value: &mut Value, extract: &Extract, pointer: &str) -> Result<(), Refusal> {
    match (extract, value) {
        (Extract::Each { fields, .. }, Value::Array(all)) => {
            for value in all {
                for (name, extract) in fields {
                    if let Some(value) = value.get_mut(&**name) {
                        type_value(value, extract, &format!("{pointer}/each/{name}"))?;
                    }
                }
            }
        }
        (Extract::Element { typed: Typed::Number, .. }, value) => {
            let texts = match value {
                Value::Array(all) => all.iter_mut().collect(),
                value => vec![value],
            };
            for value in texts {
                if let Value::String(text) = value {
                    *value = number(text, pointer)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn number(text: &str, pointer: &str) -> Result<Value, Refusal> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let whole = digits.parse::<i64>().ok().map(Number::from);
    let number = whole.or_else(|| Number::from_f64(digits.parse().ok()?));
    number.map(Value::Number).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        Refusal::invalid(pointer, format!("the page says {shown:?} there, which is no number"))
    })
}

fn in_words(step: &BrowserStep) -> String {
    match step {
        BrowserStep::Navigate { url } => format!("navigate to {url}"),
        BrowserStep::Close => "close the tab".to_owned(),
        BrowserStep::Act(action) => act::in_words(action as &Action),
    }
}
