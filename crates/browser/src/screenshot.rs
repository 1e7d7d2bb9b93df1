//! Pictures of pages.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Browser, BrowserError};

/// A picture of the visible part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screenshot {
    /// The bytes of a PNG file.
    pub png: Vec<u8>,
    /// How many places were painted over, since they show secrets.
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

#[derive(Deserialize)]
struct Covered {
    covered: usize,
}

#[derive(Deserialize)]
struct Captured {
    data: String,
}

impl Browser {
    /// Takes a picture of a tab, and brings it to the front for that. Fields in which secrets were typed are painted over, and so is all text that shows one of these secrets.
    pub async fn screenshot(&self, name: &str) -> Result<Screenshot, BrowserError> {
        let (live, restarted) = self.live().await?;
        let target = self.target(name)?;
        let _front = self.inner.front.lock().await;
        self.inner.bring_to_front(&live, &target).await?;
        let secrets = self.inner.shared.mask.typed_values();
        let Covered { covered } = live.run(&target, "cover", &secrets).await?;
        let params = json!({"format": "png"});
        let captured = live.devtools.call::<Captured>(Some(&target.session), "Page.captureScreenshot", params).await;
        let _: Value = live.run(&target, "uncover", &()).await?;
        let png = BASE64_STANDARD.decode(captured?.data);
        let png = png.map_err(|error| BrowserError::NotUnderstood {
            method: "Page.captureScreenshot".into(),
            reason: error.to_string(),
        })?;
        Ok(Screenshot { png, covered, restarted })
    }
}
