//! Vectors of passages and questions. Passages get theirs behind, in the order in which they were said; a question waits for
//! its own a moment. Without them terms alone count, and the answer says so.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use callboard_core::id::SessionId;
use callboard_recall::{Error as IndexError, Vector, VectorFile};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use super::elsewhere::{Embedder, NoVectors};
use crate::{
    blocking::off_runtime,
    error::Error,
    lock::{OpenedOnce, lock},
};

/// How long a model that could not be asked is not asked again.
pub(crate) const REST: Duration = Duration::from_secs(30);

/// What every model has a vector of.
const PLAIN: &str = "a plain text";

/// The vectors of a board.
pub(crate) struct Vectors {
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    path: Option<PathBuf>,
    file: OpenedOnce<VectorFile>,
    /// The dimension of the model, once it gave a vector.
    pub(crate) dimension: OnceLock<usize>,
    /// Since when the model cannot be asked, and why.
    trouble: Mutex<Option<(Instant, String)>>,
    /// The sessions with passages that want their vectors.
    pub(crate) wanting: Mutex<BTreeSet<SessionId>>,
    pub(crate) wanted: Notify,
}

impl Vectors {
    /// Those of `embedder`, kept beside the file of the indices.
    pub(crate) fn new(embedder: Option<Arc<dyn Embedder>>, indices: Option<&Path>) -> Self {
        let path = indices.map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{name}-vectors.db"))
        });
        let (file, dimension, trouble, wanting, wanted) = Default::default();
        Self { embedder, path, file, dimension, trouble, wanting, wanted }
    }

    /// Notes that passages of a session may want their vectors.
    pub(crate) fn want(&self, id: &SessionId) {
        if self.embedder.is_some() {
            lock(&self.wanting).insert(id.clone());
            self.wanted.notify_one();
        }
    }

    /// The vector of a question; `None` without a model. It is waited for at most so long.
    pub(crate) async fn of_question(&self, text: &str, patience: Duration) -> Option<Result<Vector, String>> {
        let embedder = self.embedder.as_ref()?;
        if let Some((_, reason)) = lock(&self.trouble).as_ref().filter(|(since, _)| since.elapsed() < REST) {
            return Some(Err(reason.clone()));
        }
        let asked = timeout(patience, embedder.embed_question(text)).await;
        let asked = asked.unwrap_or_else(|_| {
            let reason = format!("{} gave no vector within {} s", embedder.model(), patience.as_secs_f64());
            Err(NoVectors { reason, is_of_texts: false })
        });
        let vector = asked.map(|vector| self.read(&[vector]).pop().flatten());
        Some(match vector {
            Ok(Some(vector)) => Ok(vector),
            Ok(None) => Err(format!("{} has no vector for the question", embedder.model())),
            Err(error) => Err(self.note(error)),
        })
    }

    /// How the model is called in answers, by whether all passages have their vectors. How many there are says nothing that
    /// every viewer may know.
    pub(crate) fn shown(&self, is_whole: bool) -> Option<String> {
        let model = self.embedder.as_ref()?.model();
        Some(if is_whole { model.to_owned() } else { format!("{model}, and not all passages have their vectors yet") })
    }

    /// Does something with the file, if there is or should be one.
    pub(crate) async fn with_file<T: Default + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&VectorFile) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, Error> {
        let is_there = self.embedder.is_some() || self.path.as_ref().is_some_and(|path| path.exists());
        if !is_there {
            return Ok(T::default());
        }
        let this = self.clone();
        off_runtime(move || Ok(work(&*this.open()?)?)).await?
    }

    fn open(&self) -> Result<Arc<VectorFile>, IndexError> {
        let model = self.embedder.as_ref().map(|embedder| embedder.kind());
        self.file.get_or_open(|| {
            VectorFile::open(self.path.as_deref(), model.as_deref()).or_else(|error| {
                tracing::warn!(path = ?self.path, %error, "the file of vectors cannot be used: they are in memory alone");
                VectorFile::open(None, model.as_deref())
            })
        })
    }

    /// The vectors, as they are kept.
    fn read(&self, vectors: &[Vec<f32>]) -> Vec<Option<Vector>> {
        *lock(&self.trouble) = None;
        if let Some(first) = vectors.first() {
            self.dimension.get_or_init(|| first.len());
        }
        vectors.iter().map(|numbers| Vector::new(numbers)).collect()
    }

    /// Notes why the model cannot be asked.
    pub(crate) fn note(&self, error: NoVectors) -> String {
        if !error.is_of_texts {
            tracing::warn!(reason = error.reason, "there are no vectors for recall: terms alone count");
            *lock(&self.trouble) = Some((Instant::now(), error.reason.clone()));
        }
        error.reason
    }

    /// The vectors of texts by `embedder`; `None` for those of which it has none.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[&str],
    ) -> Result<Vec<Option<Vector>>, NoVectors> {
        let refused = match embedder.embed(texts).await {
            Ok(vectors) => return Ok(self.read(&vectors)),
            Err(error) if !error.is_of_texts => return Err(error),
            Err(error) => error,
        };
        // A text that the model refuses takes no other with it. A model that refuses everything is no model.
        embedder.embed(&[PLAIN]).await.map_err(|_| NoVectors { is_of_texts: false, ..refused })?;
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(match embedder.embed(&[text]).await {
                Ok(one) => self.read(&one).pop().flatten(),
                Err(error) if error.is_of_texts => None,
                Err(error) => return Err(error),
            });
        }
        Ok(vectors)
    }
}
