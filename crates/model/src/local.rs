//! Vectors of texts within this process: a table that has a vector for each token. The vector of a text is the mean of those
//! of its tokens.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;
use tokio::task::spawn_blocking;

use crate::embed::normalise;
use crate::{Embedder, ModelError, SettingsError};

pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// What is shown of a text.
const SHOWN_CHARS: usize = 80;

/// A model in a folder, which has a `tokenizer.json` and a `model.safetensors` with one table of a row for each token, as
/// model2vec writes them. Nothing is downloaded.
pub(crate) struct TokenTable(Arc<Table>);

struct Table {
    name: String,
    tokenizer: Tokenizer,
    /// The token of all that the tokenizer does not know; it says nothing.
    unknown: Option<u32>,
    dimension: usize,
    numbers: Vec<f32>,
}

impl TokenTable {
    /// Reads the model in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, SettingsError> {
        let (tokenizer, unknown) = tokenizer(&folder.join(TOKENIZER))?;
        let path = folder.join(WEIGHTS);
        let file = read(&path)?;
        let (dimension, numbers) = table(&file).map_err(|wrong| SettingsError::at(&path, wrong))?;
        let (rows, tokens) = (numbers.len() / dimension, tokenizer.get_vocab_size(true));
        if rows < tokens {
            let wrong = format!("it has {rows} rows for the {tokens} tokens of {TOKENIZER}; take both from one model");
            return Err(SettingsError::at(&path, wrong));
        }
        Ok(Self(Arc::new(Table { name: name(folder, &file), tokenizer, unknown, dimension, numbers })))
    }
}

#[async_trait]
impl Embedder for TokenTable {
    fn model(&self) -> &str {
        &self.0.name
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let (table, texts) = (self.0.clone(), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let embedded = spawn_blocking(move || texts.iter().map(|text| table.vector(text)).collect());
        embedded.await.unwrap_or_else(|error| Err(no_vector(&self.0.name, "", &error.to_string())))
    }
}

impl Table {
    fn vector(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let tokens = self.tokenizer.encode_fast(text, false);
        let tokens = tokens.map_err(|error| no_vector(&self.name, text, &error.to_string()))?;
        let mut sum = vec![0.0; self.dimension];
        for token in tokens.get_ids().iter().filter(|token| Some(**token) != self.unknown) {
            let begin = (*token as usize).saturating_mul(self.dimension);
            let row = self.numbers.get(begin..begin.saturating_add(self.dimension)).unwrap_or_default();
            sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        normalise(&mut sum).map_err(|wrong| no_vector(&self.name, text, &format!("its vector {wrong}")))?;
        Ok(sum)
    }
}

/// The name of the model in `folder`: that of the folder with a hash of its weights, so that others have another name.
pub(crate) fn name(folder: &Path, weights: &[u8]) -> String {
    let hash: String = Sha256::digest(weights).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{}@{hash}", folder.file_name().unwrap_or_default().to_string_lossy())
}

pub(crate) fn no_vector(model: &str, text: &str, reason: &str) -> ModelError {
    let text = text.chars().take(SHOWN_CHARS).collect();
    ModelError::NoVector { model: model.to_owned(), text, reason: reason.to_owned() }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, SettingsError> {
    let size_bytes = fs::metadata(path).map_err(|error| SettingsError::at(path, error))?.len();
    if size_bytes > MAX_FILE_BYTES {
        return Err(SettingsError::at(path, format!("it has {size_bytes} bytes, and {MAX_FILE_BYTES} is the most")));
    }
    fs::read(path).map_err(|error| SettingsError::at(path, error))
}

/// The tokenizer in a file, and its token for what it does not know.
pub(crate) fn tokenizer(path: &Path) -> Result<(Tokenizer, Option<u32>), SettingsError> {
    let file = read(path)?;
    let mut tokenizer = Tokenizer::from_bytes(&file).map_err(|error| SettingsError::at(path, error))?;
    // Texts count as a whole, each for itself.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| SettingsError::at(path, error))?;
    let written: Value = serde_json::from_slice(&file).map_err(|error| SettingsError::at(path, error))?;
    let unknown = written.pointer("/model/unk_token").and_then(Value::as_str);
    let unknown = unknown.and_then(|token| tokenizer.token_to_id(token));
    Ok((tokenizer, unknown))
}

/// The dimension and the numbers of the table in a file, row by row.
fn table(file: &[u8]) -> Result<(usize, Vec<f32>), String> {
    let tensors = SafeTensors::deserialize(file).map_err(|error| error.to_string())?;
    let [(name, tensor)] = &tensors.tensors()[..] else {
        let names = tensors.names().into_iter().take(5).collect::<Vec<_>>().join(", ");
        return Err(format!("it has {} tables ({names}), and only a model of one table can be read", tensors.len()));
    };
    let [_, dimension @ 1..=usize::MAX] = *tensor.shape() else {
        return Err(format!("the table {name} has the shape {:?}, and not rows of numbers", tensor.shape()));
    };
    let numbers = numbers(tensor)
        .ok_or_else(|| format!("the numbers of {name} are of the type {:?}; use F32, F16 or BF16", tensor.dtype()))?;
    if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
        return Err(format!("row {} of {name} has a number that is not finite", place / dimension));
    }
    Ok((dimension, numbers))
}

fn numbers(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|bytes| number(*bytes)).collect()
    }
    match tensor.dtype() {
        Dtype::F32 => Some(each(tensor.data(), f32::from_le_bytes)),
        Dtype::F16 => Some(each(tensor.data(), |bytes| f16::from_le_bytes(bytes).to_f32())),
        Dtype::BF16 => Some(each(tensor.data(), |bytes| bf16::from_le_bytes(bytes).to_f32())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
