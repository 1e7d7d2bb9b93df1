//! Models of vectors and sources of passages behind endpoints, as recall asks them.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use callboard_engine::{ForeignPassage, NoVectors};
use callboard_model::{ModelError, Passage};

/// A model of vectors, as recall asks it.
pub fn embedder(model: Arc<dyn callboard_model::Embedder>) -> Arc<dyn callboard_engine::Embedder> {
    Arc::new(Elsewhere(model))
}

/// A source of passages, as recall asks it.
pub fn passage_source(source: Arc<dyn callboard_model::PassageSource>) -> Arc<dyn callboard_engine::PassageSource> {
    Arc::new(Elsewhere(source))
}

struct Elsewhere<T: ?Sized>(Arc<T>);

impl fmt::Debug for Elsewhere<dyn callboard_model::Embedder> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(&self.0.model()).finish()
    }
}

impl fmt::Debug for Elsewhere<dyn callboard_model::PassageSource> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PassageSource").field(&self.0.name()).finish()
    }
}

#[async_trait]
impl callboard_engine::Embedder for Elsewhere<dyn callboard_model::Embedder> {
    fn model(&self) -> &str {
        self.0.model()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NoVectors> {
        let vectors = self.0.embed(texts).await;
        vectors.map_err(|error| NoVectors { is_of_texts: is_of_texts(&error), reason: error.to_string() })
    }
}

#[async_trait]
impl callboard_engine::PassageSource for Elsewhere<dyn callboard_model::PassageSource> {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn passages(&self, question: &str, limit: usize) -> Result<Vec<ForeignPassage>, String> {
        let passages = self.0.passages(question, limit).await.map_err(|error| error.to_string())?;
        let foreign = |Passage { text, score, title, url }| ForeignPassage { text, score, title, url };
        Ok(passages.into_iter().map(foreign).collect())
    }
}

/// Whether other texts may get their vectors. Servers refuse a text that is too long with all kinds of statuses.
fn is_of_texts(error: &ModelError) -> bool {
    match error {
        ModelError::Refused { status, .. } => !matches!(status, 300..=399 | 401 | 403 | 404 | 429),
        ModelError::NotUnderstood { .. } | ModelError::NoVector { .. } => true,
        _ => false,
    }
}
