//! A model in a folder, which gives texts their vectors within this process.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::{Embedder, SettingsError};

/// Reads the model in `folder`: a BERT model for sentences, such as all-MiniLM-L6-v2, where its `config.json` says so, else a
/// table with a vector for each token. Nothing is downloaded. Each kind needs its feature, `minilm` or `local-embeddings`.
pub fn open_folder(folder: &Path) -> Result<Arc<dyn Embedder>, SettingsError> {
    if is_bert(&folder.join("config.json"))? { bert(folder) } else { table(folder) }
}

/// Whether a `config.json`, which tables of vectors may lack, is that of a BERT model.
fn is_bert(path: &Path) -> Result<bool, SettingsError> {
    let config = match fs::read(path) {
        Ok(config) => config,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(SettingsError::at(path, error)),
    };
    let config: Value = serde_json::from_slice(&config).map_err(|error| SettingsError::at(path, error))?;
    Ok(config.get("model_type").is_some_and(|kind| kind == "bert"))
}

#[cfg(feature = "minilm")]
fn bert(folder: &Path) -> Result<Arc<dyn Embedder>, SettingsError> {
    Ok(Arc::new(crate::minilm::MiniLm::open(folder)?))
}

#[cfg(not(feature = "minilm"))]
fn bert(folder: &Path) -> Result<Arc<dyn Embedder>, SettingsError> {
    Err(not_built(folder, "BERT models", "minilm"))
}

#[cfg(feature = "local-embeddings")]
fn table(folder: &Path) -> Result<Arc<dyn Embedder>, SettingsError> {
    Ok(Arc::new(crate::local::TokenTable::open(folder)?))
}

#[cfg(not(feature = "local-embeddings"))]
fn table(folder: &Path) -> Result<Arc<dyn Embedder>, SettingsError> {
    Err(not_built(folder, "models from folders", "local-embeddings"))
}

#[cfg(not(feature = "minilm"))]
fn not_built(folder: &Path, what: &str, feature: &str) -> SettingsError {
    let advice = format!("build it with --features {feature}, or name an endpoint with base_url and model");
    SettingsError::at(folder, format!("this build reads no {what}: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_says_which_model_it_is_and_a_build_without_it_names_the_feature() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = || open_folder(folder.path()).err().unwrap().to_string();
        let write = |config: &str| fs::write(folder.path().join("config.json"), config).unwrap();
        let table =
            if cfg!(feature = "local-embeddings") { "tokenizer.json: No such" } else { "--features local-embeddings" };
        assert!(wrong().contains(table), "{}", wrong());
        write(r#"{"model_type": "model2vec"}"#);
        assert!(wrong().contains(table), "{}", wrong());
        write(r#"{"model_type": "bert"}"#);
        let bert = if cfg!(feature = "minilm") { "config.json: missing field" } else { "--features minilm" };
        assert!(wrong().contains(bert), "{}", wrong());
        write("noise");
        assert!(wrong().contains("config.json: expected"), "{}", wrong());
    }
}
