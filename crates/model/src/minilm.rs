//! Vectors of texts within this process: a BERT model for sentences, such as all-MiniLM-L6-v2. The vector of a text is the mean
//! of those that the model gives its tokens.

use std::iter::repeat_n;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use candle_core::{Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, DTYPE};
use tokenizers::{Tokenizer, TruncationParams};
use tokio::task::spawn_blocking;

use crate::embed::normalise;
use crate::local::{TOKENIZER, WEIGHTS, name, no_vector, read, tokenizer};
use crate::{Embedder, ModelError, SettingsError};

const CONFIG: &str = "config.json";
/// What is read of a text, with the marks of its beginning and its end: what such models were trained with.
const MAX_TOKENS: usize = 256;
/// The fewest tokens that a model may read.
const MIN_TOKENS: usize = 16;
/// How many texts the model reads at a time.
const BATCH: usize = 16;
/// What shorter texts are filled up with. It counts for nothing.
const FILLER: u32 = 0;

/// A model in a folder, which has a `config.json`, a `tokenizer.json` and a `model.safetensors`. It runs on processors alone.
pub(crate) struct MiniLm(Arc<Encoder>);

struct Encoder {
    name: String,
    tokenizer: Tokenizer,
    model: BertModel,
}

/// The place of a text among those that were given, and its tokens.
type Tokens = (usize, Vec<u32>);

impl MiniLm {
    /// Reads the model in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, SettingsError> {
        let path = folder.join(CONFIG);
        let config: Config = serde_json::from_slice(&read(&path)?).map_err(|error| SettingsError::at(&path, error))?;
        let (mut tokenizer, _) = tokenizer(&folder.join(TOKENIZER))?;
        check(&config, tokenizer.get_vocab_size(true)).map_err(|wrong| SettingsError::at(&path, wrong))?;
        let max_length = config.max_position_embeddings.min(MAX_TOKENS);
        tokenizer
            .with_truncation(Some(TruncationParams { max_length, ..TruncationParams::default() }))
            .map_err(|error| SettingsError::at(&folder.join(TOKENIZER), error))?;
        let path = folder.join(WEIGHTS);
        let file = read(&path)?;
        let model = VarBuilder::from_slice_safetensors(&file, DTYPE, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|error| SettingsError::at(&path, shown(&error)))?;
        Ok(Self(Arc::new(Encoder { name: name(folder, &file), tokenizer, model })))
    }
}

#[async_trait]
impl Embedder for MiniLm {
    fn model(&self) -> &str {
        &self.0.name
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let (encoder, texts) = (self.0.clone(), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let embedded = spawn_blocking(move || encoder.vectors(&texts));
        embedded.await.unwrap_or_else(|error| Err(no_vector(&self.0.name, "", &error.to_string())))
    }
}

impl Encoder {
    fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let tokens = texts.iter().enumerate().map(|(place, text)| self.tokens(text).map(|tokens| (place, tokens)));
        let mut tokens = tokens.collect::<Result<Vec<Tokens>, _>>()?;
        // Texts of much the same length are read together, since the shorter ones cost as much as the longest.
        tokens.sort_by_key(|(_, tokens)| tokens.len());
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in tokens.chunks(BATCH) {
            let read = self.read(batch).map_err(|error| no_vector(&self.name, "", &shown(&error)))?;
            vectors.extend(batch.iter().map(|(place, _)| *place).zip(read));
        }
        vectors.sort_by_key(|(place, _)| *place);
        let mut vectors: Vec<Vec<f32>> = vectors.into_iter().map(|(_, vector)| vector).collect();
        for (vector, text) in vectors.iter_mut().zip(texts) {
            normalise(vector).map_err(|wrong| no_vector(&self.name, text, &format!("its vector {wrong}")))?;
        }
        Ok(vectors)
    }

    /// The tokens of a text with the marks of its beginning and its end; none where there is nothing between these.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let tokens = self.tokenizer.encode_fast(text, true);
        let tokens = tokens.map_err(|error| no_vector(&self.name, text, &error.to_string()))?;
        let says_something = tokens.get_special_tokens_mask().contains(&0);
        Ok(if says_something { tokens.get_ids().to_vec() } else { Vec::new() })
    }

    /// The sum of the vectors of the tokens of each text: it points where their mean does.
    fn read(&self, texts: &[Tokens]) -> candle_core::Result<Vec<Vec<f32>>> {
        // Texts of which none says anything have a filler alone.
        let longest = texts.iter().map(|(_, tokens)| tokens.len()).max().unwrap_or_default().max(1);
        let (mut tokens, mut mask) = (Vec::new(), Vec::new());
        for (_, text) in texts {
            let fillers = longest - text.len();
            tokens.extend(text.iter().copied().chain(repeat_n(FILLER, fillers)));
            mask.extend(repeat_n(1.0_f32, text.len()).chain(repeat_n(0.0, fillers)));
        }
        let tokens = Tensor::from_vec(tokens, (texts.len(), longest), &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, (texts.len(), longest), &Device::Cpu)?;
        let vectors = self.model.forward(&tokens, &tokens.zeros_like()?, Some(&mask))?;
        vectors.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?.to_vec2()
    }
}

/// What is wrong with a `config.json`, if its tokenizer has so many tokens.
fn check(config: &Config, tokens: usize) -> Result<(), String> {
    let Config { hidden_size, num_attention_heads, max_position_embeddings, vocab_size, .. } = *config;
    if num_attention_heads == 0 || hidden_size == 0 || !hidden_size.is_multiple_of(num_attention_heads) {
        return Err(format!(
            "hidden_size is {hidden_size}, and cannot be shared by {num_attention_heads} attention heads"
        ));
    }
    if max_position_embeddings < MIN_TOKENS {
        return Err(format!("max_position_embeddings is {max_position_embeddings}, and {MIN_TOKENS} is the least"));
    }
    if vocab_size < tokens {
        let advice = "take both from one model";
        return Err(format!("vocab_size is {vocab_size} for the {tokens} tokens of {TOKENIZER}; {advice}"));
    }
    Ok(())
}

/// What an error says, without where in the program it happened.
fn shown(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
