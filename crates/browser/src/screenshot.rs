//! Pictures of pages.

use std::{
    collections::BTreeSet,
    ops::{Range, RangeInclusive},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Browser, BrowserError,
    browser::{Live, Target},
    mask::Mask,
};

/// A picture of the visible part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screenshot {
    /// The bytes of a PNG file.
    pub png: Vec<u8>,
    /// How many places were painted over, since they show secrets or cannot be searched.
    pub covered: usize,
    /// The browser had ended, and was started again for this.
    pub restarted: bool,
}

impl Screenshot {
    /// Its bytes in base64.
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.png)
    }
}

/// The texts that a page shows.
#[derive(Deserialize)]
struct ShownTexts {
    flow: Vec<FlowText>,
    /// What elements show by themselves, such as the value of a field.
    alone: Vec<String>,
}

/// A text among those that follow one another on a page.
#[derive(Deserialize)]
struct FlowText {
    text: String,
    /// It begins a block.
    apart: bool,
}

/// Where a page shows secrets: by the numbers of its texts.
#[derive(Default, Serialize)]
struct SecretPlaces {
    flow: BTreeSet<usize>,
    alone: BTreeSet<usize>,
    /// What cannot be read may show some too.
    unread: bool,
}

#[derive(Deserialize)]
struct Covered {
    covered: usize,
    /// Of something it is not known where it is drawn.
    lost: bool,
}

#[derive(Deserialize)]
struct Uncovered {
    uncovered: usize,
}

#[derive(Deserialize)]
struct Captured {
    data: String,
}

/// How often a picture is taken again where the page has changed meanwhile.
const TRIES: usize = 5;

impl Browser {
    /// Takes a picture of a tab, and brings it to the front for that. All texts and fields that show known secrets are
    /// painted over, and so are fields in which secrets were typed. Where there are secrets, frames that cannot be read
    /// are, too.
    pub async fn screenshot(&self, name: &str) -> Result<Screenshot, BrowserError> {
        let (live, restarted) = self.live().await?;
        let target = self.target(name)?;
        let _front = self.inner.front.lock().await;
        self.inner.bring_to_front(&live, &target).await?;
        let pictured = pictured(&live, &target, &self.inner.shared.mask).await;
        let uncovered = live.run::<Value>(&target, "uncover", &()).await;
        let (png, covered) = pictured?;
        uncovered?;
        Ok(Screenshot { png, covered, restarted })
    }
}

/// The bytes of a picture that shows no secrets, and how many places are painted over in it.
async fn pictured(live: &Live, target: &Target, mask: &Mask) -> Result<(Vec<u8>, usize), BrowserError> {
    for _ in 0..TRIES {
        let places = shown_secrets(live, target, mask).await?;
        let Covered { covered, lost } = live.run(target, "cover", &places).await?;
        if lost {
            return Err(BrowserError::NotCovered {
                reason: "styles of the page put one where it cannot be found".into(),
            });
        }
        let params = json!({"format": "png"});
        let captured: Captured = live.devtools.call(Some(&target.session), "Page.captureScreenshot", params).await?;
        let places = shown_secrets(live, target, mask).await?;
        let Uncovered { uncovered } = live.run(target, "uncovered", &places).await?;
        if uncovered == 0 {
            let png = BASE64_STANDARD.decode(captured.data).map_err(|error| BrowserError::NotUnderstood {
                method: "Page.captureScreenshot".into(),
                reason: error.to_string(),
            })?;
            return Ok((png, covered));
        }
    }
    let reason = "the page does not stand still, or takes away what lies over it; try again later";
    Err(BrowserError::NotCovered { reason: reason.into() })
}

/// Where the page shows secrets now.
async fn shown_secrets(live: &Live, target: &Target, mask: &Mask) -> Result<SecretPlaces, BrowserError> {
    if mask.is_empty() {
        return Ok(SecretPlaces::default());
    }
    let texts: ShownTexts = live.run(target, "shownTexts", &()).await?;
    Ok(secret_places(&texts, mask))
}

fn secret_places(texts: &ShownTexts, mask: &Mask) -> SecretPlaces {
    let mut flow = BTreeSet::new();
    for joined in [Joined::as_written(&texts.flow), Joined::as_read(&texts.flow)] {
        flow.extend(mask.found(&joined.text).iter().flat_map(|place| joined.texts_at(place)));
    }
    let alone = texts.alone.iter().enumerate();
    let alone = alone.filter(|(_, text)| !mask.found(text).is_empty()).map(|(number, _)| number).collect();
    SecretPlaces { flow, alone, unread: true }
}

/// The texts of a page as one, since markup may split a secret.
#[derive(Default)]
struct Joined {
    text: String,
    /// Where each of the texts ends in it.
    ends: Vec<usize>,
}

impl Joined {
    /// Without anything between them.
    fn as_written(texts: &[FlowText]) -> Self {
        let mut joined = Self::default();
        for FlowText { text, .. } in texts {
            joined.text.push_str(text);
            joined.ends.push(joined.text.len());
        }
        joined
    }

    /// With one space wherever there is any, and between blocks.
    fn as_read(texts: &[FlowText]) -> Self {
        let mut joined = Self::default();
        let mut space = false;
        for FlowText { text, apart } in texts {
            space |= apart;
            for c in text.chars() {
                if c.is_whitespace() {
                    space = true;
                    continue;
                }
                if std::mem::take(&mut space) {
                    joined.text.push(' ');
                }
                joined.text.push(c);
            }
            joined.ends.push(joined.text.len());
        }
        joined
    }

    /// The numbers of the texts that are in this place.
    fn texts_at(&self, place: &Range<usize>) -> RangeInclusive<usize> {
        let first = self.ends.partition_point(|end| *end <= place.start);
        let last = self.ends.partition_point(|end| *end < place.end);
        first..=last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_texts_that_markup_splits() {
        let mask = Mask::new(None);
        mask.add("correct horse");
        mask.add("key-123456");
        let of = |flow: &[(&str, bool)], alone: &[&str]| {
            let text = |(text, apart): &(&str, bool)| FlowText { text: (*text).to_owned(), apart: *apart };
            let alone = alone.iter().map(|text| (*text).to_owned()).collect();
            let SecretPlaces { flow, alone, unread } =
                secret_places(&ShownTexts { flow: flow.iter().map(text).collect(), alone }, &mask);
            assert!(unread);
            (flow.into_iter().collect::<Vec<_>>(), alone.into_iter().collect::<Vec<_>>())
        };
        let none = Vec::<usize>::new();
        assert_eq!(of(&[("a", true), ("b", false)], &["c"]), (none.clone(), none.clone()));
        assert_eq!(of(&[("a", true), ("is key-123456.", false), ("b", false)], &[]), (vec![1], none.clone()));
        let split = [("é", true), ("key", true), ("-12", false), ("3456", true), ("b", false)];
        assert_eq!(of(&split, &["b", "x key-123456"]), (vec![1, 2, 3], vec![1]));
        let lines = [("my correct \n ", true), (" horse", false), ("correct", true), ("horse", true)];
        assert_eq!(of(&lines, &[]), (vec![0, 1, 2, 3], none));
    }
}
