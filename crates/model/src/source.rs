//! Sources of passages elsewhere, such as a vector database behind a few lines of code.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use serde::Deserialize;
use serde_json::json;

use crate::http::{Address, Http};
use crate::{ApiKey, ModelError, Proxy, SettingsError, Timeouts};

/// What a source found. All of it is the text of somebody else.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Passage {
    /// The words.
    pub text: String,
    /// How well they fit. Scores of two sources cannot be compared.
    #[serde(default)]
    pub score: Option<f32>,
    /// Of what they are a part.
    #[serde(default)]
    pub title: Option<String>,
    /// Where to read on.
    #[serde(default)]
    pub url: Option<String>,
}

/// How to reach a source over HTTP.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    /// Its name.
    pub name: String,
    /// Its URL. Nothing else is asked: redirects are not followed.
    pub url: String,
    /// For the whole answer.
    pub timeout: Duration,
    /// No answer is read beyond this size.
    pub max_bytes: usize,
    /// Headers of every request, with their values.
    pub headers: Vec<(String, ApiKey)>,
    /// A proxy, if the source is not on this machine.
    pub proxy: Option<Proxy>,
}

/// A source over HTTP. It gets `{"query", "limit"}` in a POST request and answers with `{"passages": [{"text", "score",
/// "title", "url"}]}`, of which only the texts are required. It is asked once: who waits for passages does not wait for a
/// second try.
pub struct HttpSource {
    name: String,
    http: Http,
    timeout: Duration,
}

impl HttpSource {
    /// The source in `settings`; sends nothing.
    pub fn new(settings: &SourceSettings) -> Result<Self, SettingsError> {
        let header = |(name, value): &'_ (String, ApiKey)| match HeaderName::from_bytes(name.as_bytes()) {
            Ok(header) if header != CONTENT_TYPE => Ok((header, "", value.clone())),
            _ => Err(SettingsError(format!("`{name}` cannot be a header here: use another, such as {AUTHORIZATION}"))),
        };
        let headers = settings.headers.iter().map(header).collect::<Result<Vec<_>, _>>()?;
        let timeout = settings.timeout;
        let http = Http::new(Address {
            protocol: "sources (docs/recall-sources.md)",
            base_url: &settings.url,
            secrets: headers.iter().map(|(name, before, value)| (name.clone(), *before, value)).collect(),
            proxy: settings.proxy.as_ref(),
            timeouts: Timeouts { connect: timeout, idle: timeout, whole: timeout },
            max_bytes: settings.max_bytes,
        })?;
        Ok(Self { name: settings.name.clone(), http, timeout })
    }

    /// Its name, which every passage of it is shown with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// At most `limit` passages for `query`, best first.
    pub async fn passages(&self, query: &str, limit: usize) -> Result<Vec<Passage>, ModelError> {
        self.http.within(self.timeout, "to give its passages", self.ask(query, limit)).await
    }

    async fn ask(&self, query: &str, limit: usize) -> Result<Vec<Passage>, ModelError> {
        let body = json!({"query": query, "limit": limit});
        let text = self.http.send(self.http.post("", &body)).await?.text().await?;
        let mut passages = read(&text).map_err(|wrong| self.http.not_understood(&wrong, &text))?;
        passages.truncate(limit);
        Ok(passages)
    }
}

#[derive(Deserialize)]
struct Answer {
    passages: Vec<Passage>,
}

/// The passages of an answer, or what is wrong with it.
fn read(text: &str) -> Result<Vec<Passage>, String> {
    let answer: Answer = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for (place, passage) in answer.passages.iter().enumerate() {
        if passage.text.trim().is_empty() {
            return Err(format!("passage {place} has no text"));
        }
    }
    Ok(answer.passages)
}
