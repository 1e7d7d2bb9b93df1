//! Running our scripts in a page, in a world of their own beside the page's scripts.

use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    BrowserError,
    browser::{Live, Target},
    mask::Mask,
    selectors::Selector,
    watch::WORLD,
};

const SCRIPTS: [&str; 7] = [
    include_str!("page/tree.js"),
    include_str!("page/find.js"),
    include_str!("page/snapshot.js"),
    include_str!("page/look.js"),
    include_str!("page/act.js"),
    include_str!("page/query.js"),
    include_str!("page/cover.js"),
];
const TRIES: usize = 10;
const BETWEEN: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
struct World {
    #[serde(rename = "executionContextId")]
    context: i64,
}

#[derive(Deserialize)]
struct Evaluated {
    result: Returned,
    #[serde(rename = "exceptionDetails")]
    exception: Option<Value>,
}

#[derive(Deserialize)]
struct Returned {
    value: Option<String>,
}

impl Live {
    /// Calls one of our functions in the page.
    pub(crate) async fn run<T: DeserializeOwned>(
        &self,
        target: &Target,
        function: &str,
        argument: &impl Serialize,
    ) -> Result<T, BrowserError> {
        let unreadable = |reason: String| BrowserError::Unreadable { reason };
        let argument = serde_json::to_string(argument).map_err(|error| unreadable(error.to_string()))?;
        let scripts = SCRIPTS.concat();
        let expression =
            format!("(() => {{ 'use strict';\n{scripts}\nreturn JSON.stringify({function}({argument})); }})()");
        let mut last = String::new();
        for _ in 0..TRIES {
            match self.evaluate(target, &expression).await {
                Ok(text) => return serde_json::from_str(&text).map_err(|error| unreadable(error.to_string())),
                // The page was just left: there is another one in a moment.
                Err(BrowserError::Refused { reason, .. }) => last = reason,
                Err(error) => return Err(error),
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Err(unreadable(last))
    }

    async fn evaluate(&self, target: &Target, expression: &str) -> Result<String, BrowserError> {
        let session = Some(target.session.as_str());
        let world = json!({"frameId": target.id, "worldName": WORLD});
        let world: World = self.devtools.call(session, "Page.createIsolatedWorld", world).await?;
        let params = json!({"expression": expression, "contextId": world.context, "returnByValue": true});
        let evaluated: Evaluated = self.devtools.call(session, "Runtime.evaluate", params).await?;
        match (evaluated.exception, evaluated.result.value) {
            (Some(exception), _) => {
                let described = exception.pointer("/exception/description").and_then(Value::as_str);
                Err(BrowserError::Unreadable {
                    reason: described.unwrap_or("a script failed").chars().take(300).collect(),
                })
            }
            (None, Some(text)) => Ok(text),
            (None, None) => Err(BrowserError::Unreadable { reason: "a script returned nothing".into() }),
        }
    }
}

/// What a tab shows, by its own word.
#[derive(Deserialize)]
pub(crate) struct TabPage {
    pub(crate) url: String,
    pub(crate) title: String,
}

/// What the scripts say about an element. Which fields there are depends on what was found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FoundElement {
    bad: Option<String>,
    count: Option<usize>,
    examples: Vec<String>,
    nearest: Vec<String>,
    unusable: Option<String>,
    missing: Option<String>,
    options: Vec<String>,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) origin: String,
}

impl FoundElement {
    /// Whether another moment could help.
    pub(crate) fn may_change(&self) -> bool {
        self.count == Some(0) || self.unusable.is_some() || self.missing.is_some()
    }

    /// The element, or why there is none that can be used.
    pub(crate) fn into_element(self, selector: &Selector, mask: &Mask) -> Result<Self, BrowserError> {
        let masked = |texts: &[String]| texts.iter().map(|text| mask.text(text)).collect();
        let selector = selector.source().to_owned();
        if let Some(reason) = self.bad {
            return Err(BrowserError::BadSelector { selector, reason });
        }
        match self.count {
            Some(0) => return Err(BrowserError::NothingMatches { selector, nearest: masked(&self.nearest) }),
            Some(count) => {
                return Err(BrowserError::SeveralMatch { selector, count, examples: masked(&self.examples) });
            }
            None => {}
        }
        if let Some(reason) = self.unusable {
            return Err(BrowserError::NotUsable { selector, reason: mask.text(&reason) });
        }
        if let Some(option) = self.missing {
            return Err(BrowserError::NoOption { selector, option, options: masked(&self.options) });
        }
        Ok(self)
    }
}
