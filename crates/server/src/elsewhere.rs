//! Models of vectors and sources of passages behind endpoints, as recall asks them.

use std::{borrow::Cow, fmt, sync::Arc};

use async_trait::async_trait;
use callboard_engine::{ForeignPassage, NoVectors};
use callboard_model::{HttpSource, ModelError, Passage};

/// What a model of vectors wants before each text. Many want nothing.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    /// Before a question.
    pub question: String,
    /// Before a passage.
    pub passage: String,
}

/// A model of vectors, as recall asks it.
pub fn embedder(model: Arc<dyn callboard_model::Embedder>, prefixes: Prefixes) -> Arc<dyn callboard_engine::Embedder> {
    Arc::new(Prefixed { model, prefixes })
}

/// A source of passages, as recall asks it.
pub fn passage_source(source: HttpSource) -> Arc<dyn callboard_engine::PassageSource> {
    Arc::new(Elsewhere(source))
}

/// A source of passages.
struct Elsewhere(HttpSource);

/// A model that is given each text with what it wants before it.
struct Prefixed {
    model: Arc<dyn callboard_model::Embedder>,
    prefixes: Prefixes,
}

impl fmt::Debug for Prefixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(&self.model.model()).field(&self.prefixes).finish()
    }
}

impl Prefixed {
    async fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NoVectors> {
        let vectors = self.model.embed(texts).await;
        vectors.map_err(|error| NoVectors { is_of_texts: is_of_texts(&error), reason: error.to_string() })
    }
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PassageSource").field(&self.0.name()).finish()
    }
}

#[async_trait]
impl callboard_engine::Embedder for Prefixed {
    fn model(&self) -> &str {
        self.model.model()
    }

    fn kind(&self) -> Cow<'_, str> {
        match &*self.prefixes.passage {
            "" => self.model().into(),
            passage => format!("{} of `{passage}`", self.model()).into(),
        }
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NoVectors> {
        if self.prefixes.passage.is_empty() {
            return self.vectors(texts).await;
        }
        let texts: Vec<String> = texts.iter().map(|text| format!("{}{text}", self.prefixes.passage)).collect();
        self.vectors(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    async fn embed_question(&self, question: &str) -> Result<Vec<f32>, NoVectors> {
        let question = format!("{}{question}", self.prefixes.question);
        Ok(self.vectors(&[&question]).await?.pop().unwrap_or_default())
    }
}

#[async_trait]
impl callboard_engine::PassageSource for Elsewhere {
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
