//! Vectors from an OpenAI-compatible endpoint for embeddings, `/v1/embeddings`.

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::json;

use crate::embed::normalise;
use crate::http::{Address, Http};
use crate::{ApiKey, Embedder, ModelError, Provider, Proxy, Retries, SettingsError, Timeouts};

/// The most texts in one request.
const MAX_TEXTS: usize = 64;
/// The most bytes of texts in one request, unless one text alone is longer.
const MAX_REQUEST_BYTES: usize = 128 << 10;
/// What is sent of a text: more than most models read.
const MAX_TEXT_BYTES: usize = 8 << 10;
/// More than 64 vectors of 8192 numbers.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// How to reach an endpoint for embeddings.
#[derive(Clone, Debug)]
pub struct EmbeddingsSettings {
    /// Its base URL, including `/v1`.
    pub base_url: String,
    /// The endpoint's own name of the model.
    pub model: String,
    /// The key for it; many local servers need none.
    pub key: Option<ApiKey>,
    /// A proxy, if the endpoint is not on this machine.
    pub proxy: Option<Proxy>,
    /// The timeouts; `whole` is for one request of at most 64 texts, with all retries.
    pub timeouts: Timeouts,
    /// The retries.
    pub retries: Retries,
}

/// An OpenAI-compatible endpoint for embeddings. Create it once and share it, since it keeps connections open.
pub struct Embeddings {
    http: Http,
    model: String,
    /// That of the first vectors. A model has only one.
    dimension: OnceLock<usize>,
    whole: Duration,
    retries: Retries,
}

impl Embeddings {
    /// The endpoint in `settings`; sends nothing.
    pub fn new(settings: &EmbeddingsSettings) -> Result<Self, SettingsError> {
        if settings.model.trim().is_empty() {
            return Err(SettingsError("the name of the model is empty".to_owned()));
        }
        let EmbeddingsSettings { timeouts, retries, .. } = *settings;
        let http = Http::new(Address {
            protocol: Provider::OpenAi.as_str(),
            base_url: &settings.base_url,
            secrets: settings.key.iter().map(|key| (AUTHORIZATION, "Bearer ", key)).collect(),
            proxy: settings.proxy.as_ref(),
            timeouts,
            max_bytes: MAX_ANSWER_BYTES,
        })?;
        let (model, whole) = (settings.model.clone(), timeouts.whole);
        Ok(Self { http, model, dimension: OnceLock::new(), whole, retries })
    }

    async fn persist(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut tried = 0;
        loop {
            match self.ask(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(error) => {
                    tried += 1;
                    self.retries.pause(tried, error, &self.model).await?;
                }
            }
        }
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let body = json!({"model": self.model, "input": texts});
        let text = self.http.send(self.http.post("/embeddings", &body)).await?.text().await?;
        let vectors = read(&text, texts.len()).and_then(|vectors| self.of_one_dimension(vectors));
        vectors.map_err(|wrong| self.http.not_understood(&wrong, &text))
    }

    fn of_one_dimension(&self, vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
        let Some(first) = vectors.first().map(Vec::len) else { return Ok(vectors) };
        let known = *self.dimension.get_or_init(|| first);
        match vectors.iter().position(|vector| vector.len() != known) {
            Some(place) if place > 0 => Err(format!("vector {place} has another dimension than {known}")),
            Some(_) => Err(format!(
                "its vectors have {first} numbers now and had {known} before; if it has another model, start again"
            )),
            None => Ok(vectors),
        }
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn model(&self) -> &str {
        &self.model
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let texts: Vec<_> = texts.iter().map(|text| beginning(text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = &texts[..];
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_size(rest));
            vectors.extend(self.http.within(self.whole, "to give vectors", self.persist(batch)).await?);
            rest = after;
        }
        Ok(vectors)
    }
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or(text)
}

/// How many of `texts`, which are not empty, go into the next request.
fn batch_size(texts: &[&str]) -> usize {
    let mut bytes = 0;
    let fits = |text: &&&str| {
        bytes += text.len();
        bytes <= MAX_REQUEST_BYTES
    };
    texts.iter().take(MAX_TEXTS).take_while(fits).count().max(1)
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// The number of the text. Without it, the vectors are in the order of the texts.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of `count` texts in the order of the texts, each brought to the length 1, but for zeros; or what is wrong with
/// them.
fn read(text: &str, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if answer.data.len() != count {
        return Err(format!("{count} vectors were asked for and {} came", answer.data.len()));
    }
    let mut vectors = vec![Vec::new(); count];
    for (place, Item { index, mut embedding }) in answer.data.into_iter().enumerate() {
        let index = index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(_) if embedding.is_empty() => return Err(format!("vector {index} has no numbers")),
            Some(vector) if vector.is_empty() => {
                normalise(&mut embedding).map_err(|wrong| format!("vector {index} {wrong}"))?;
                *vector = embedding;
            }
            Some(_) => return Err(format!("two vectors have the index {index}")),
            None => return Err(format!("no text has the index {index}")),
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded_in_texts_and_bytes() {
        assert_eq!(batch_size(&vec!["a"; 65]), 64);
        let long = "x".repeat(MAX_TEXT_BYTES);
        assert_eq!(batch_size(&vec![long.as_str(); 64]), MAX_REQUEST_BYTES / MAX_TEXT_BYTES);
        assert_eq!(beginning(&"é".repeat(MAX_TEXT_BYTES)).len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts_with_the_length_1() {
        let text = r#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4.0]}]}"#;
        assert_eq!(read(text, 2), Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
        let zeros = r#"{"data": [{"embedding": [0, 0]}, {"embedding": [0, 1]}]}"#;
        assert_eq!(read(zeros, 2), Ok(vec![vec![0.0, 0.0], vec![0.0, 1.0]]));
        let tiny = r#"{"data": [{"embedding": [1e-30, 0]}]}"#;
        assert_eq!(read(tiny, 1), Ok(vec![vec![1.0, 0.0]]));
    }
}
