//! A page in short.

use serde::{Deserialize, Serialize};

use crate::{Browser, BrowserError};

/// What one asks first about a page. Texts, values and addresses in it have no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// The address that the tab shows.
    pub url: String,
    /// The title.
    pub title: String,
    /// How many elements are visible.
    pub elements: usize,
    /// The first 20 headings.
    pub headings: Vec<String>,
    /// The first ten forms; the last may be fields that are in none.
    pub forms: Vec<PageForm>,
    /// The first 20 buttons outside of forms.
    pub buttons: Vec<Control>,
    /// How many links there are.
    pub links: usize,
    /// What open dialogs within the page are about.
    pub dialogs: Vec<String>,
    /// Messages that the page marks as alerts.
    pub alerts: Vec<String>,
    /// What kind of page it seems to be.
    #[serde(alias = "looksLike")]
    pub looks_like: Option<LooksLike>,
    /// The browser had ended, and was started again for this.
    pub restarted: bool,
}

/// A form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageForm {
    /// What it is called, if anything.
    pub name: String,
    /// Its selector; empty for fields that are in no form.
    pub selector: String,
    /// Its fields.
    pub fields: Vec<Control>,
    /// Its buttons.
    pub buttons: Vec<Control>,
}

/// A field or button.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Control {
    /// Its role, such as `textbox`.
    pub role: String,
    /// What it is called.
    pub name: String,
    /// A selector that finds it alone.
    pub selector: String,
    /// Such as `disabled`, `required`, `password`.
    pub states: Vec<String>,
    /// What stands in it; `[hidden]` for passwords and secrets.
    pub value: Option<String>,
}

/// What a page seems to be, by its fields and headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LooksLike {
    /// It asks who one is.
    Login,
    /// It asks for a second proof, such as a code.
    SecondFactor,
}

const LONGEST: usize = 200;

impl Browser {
    /// Looks at a page in short.
    pub async fn look(&self, name: &str) -> Result<Look, BrowserError> {
        let (live, restarted) = self.live().await?;
        let target = self.target(name)?;
        let mut look: Look = live.run(&target, "look", &()).await?;
        let mask = &self.inner.shared.mask;
        let text = |text: &mut String| *text = mask.text(text).chars().take(LONGEST).collect();
        look.url = mask.url(&look.url);
        text(&mut look.title);
        look.headings.iter_mut().chain(&mut look.dialogs).chain(&mut look.alerts).for_each(text);
        for form in &mut look.forms {
            text(&mut form.name);
            text(&mut form.selector);
        }
        let of_forms = look.forms.iter_mut().flat_map(|form| form.fields.iter_mut().chain(&mut form.buttons));
        for control in of_forms.chain(&mut look.buttons) {
            text(&mut control.name);
            text(&mut control.selector);
            control.value.iter_mut().for_each(text);
        }
        look.restarted = restarted;
        Ok(look)
    }
}
