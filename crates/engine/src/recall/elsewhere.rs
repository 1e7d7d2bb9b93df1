//! What recall asks elsewhere: a model that gives texts their vectors, and sources of passages.

use std::{borrow::Cow, fmt, sync::Arc};

use async_trait::async_trait;
use futures::future::join_all;

/// A model that gives texts their vectors: texts that mean much the same have vectors that point the same way.
#[async_trait]
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Its name. Another model has another name.
    fn model(&self) -> &str;

    /// What tells its vectors from those of others: its name, and how it is given texts.
    fn kind(&self) -> Cow<'_, str> {
        self.model().into()
    }

    /// The vector of each text, in this order. All have one dimension.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NoVectors>;

    /// The vector of a question. Some models are given questions otherwise than texts.
    async fn embed_question(&self, question: &str) -> Result<Vec<f32>, NoVectors> {
        Ok(self.embed(&[question]).await?.pop().unwrap_or_default())
    }
}

/// Why there are no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoVectors {
    /// The reason, for people.
    pub reason: String,
    /// Whether other texts may get theirs.
    pub is_of_texts: bool,
}

/// A source of passages elsewhere. It limits its own time.
#[async_trait]
pub trait PassageSource: fmt::Debug + Send + Sync {
    /// Its name, which no other source has.
    fn name(&self) -> &str;

    /// At most `limit` passages for a question, the best first; or why there are none.
    async fn passages(&self, question: &str, limit: usize) -> Result<Vec<ForeignPassage>, String>;
}

/// A passage from elsewhere: a text of somebody else.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignPassage {
    /// What it says.
    pub text: String,
    /// How well it answers. Scores of two sources cannot be compared.
    pub score: Option<f32>,
    /// Of what it is a part.
    pub title: Option<String>,
    /// Where to read on.
    pub url: Option<String>,
}

/// What a source elsewhere gave.
#[derive(Clone, Debug, PartialEq)]
pub struct FromElsewhere {
    /// Its name.
    pub source: String,
    /// Its passages, or why there are none.
    pub passages: Result<Vec<ForeignPassage>, String>,
}

/// What is said to an agent of a source that gave nothing.
const NOTHING: &str = "it could not be asked, or its answer is not understood";

impl FromElsewhere {
    /// Leaves out why there are no passages: it may name machines that a model must not know.
    pub(crate) fn hide_reason(&mut self) {
        if let Err(reason) = &mut self.passages {
            NOTHING.clone_into(reason);
        }
    }
}

/// Asks all of these sources at the same time.
pub(crate) async fn ask(
    sources: impl Iterator<Item = &Arc<dyn PassageSource>>,
    question: &str,
    limit: usize,
) -> Vec<FromElsewhere> {
    let ask = async |source: &Arc<dyn PassageSource>| {
        let passages = source.passages(question, limit).await;
        if let Err(reason) = &passages {
            tracing::warn!(source = source.name(), reason, "a source elsewhere gave no passages");
        }
        FromElsewhere { source: source.name().to_owned(), passages }
    };
    join_all(sources.map(ask)).await
}
