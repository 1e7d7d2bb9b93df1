//! What is asked elsewhere: chat models, vectors of texts, and sources of passages, behind HTTP endpoints.
//!
//! A [`ChatRequest`] names a model, and its answer is a [`ChatAnswer`]; the text is also passed on piece by piece as it
//! comes. [`Endpoints`] sends requests. It is created from [`Settings`], since nothing here reads the environment.
//!
//! ```no_run
//! use callboard_model::{ChatModel, ChatRequest, Endpoints, ModelError, Settings};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), ModelError> {
//! let endpoints = Endpoints::from(Settings {
//!     openai_base_url: Some("http://127.0.0.1:11434/v1".to_owned()),
//!     ..Settings::default()
//! });
//! let mut request = ChatRequest::new("openai:qwen2.5".parse()?);
//! request.messages = vec![json!({"role": "user", "content": "Say hello."})];
//! let answer = endpoints.chat(&request, &mut |piece| eprint!("{piece}")).await?;
//! assert!(!answer.text.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! An [`Embedder`] gives texts their vectors, such as [`Embeddings`] or the model in a folder ([`open_folder`]). An
//! [`HttpSource`] finds passages.
//!
//! A failed request is retried only if that can help and does no harm: see [`Retries`]. No error, log or `Debug` output
//! contains an API key.

mod name;

mod chat;
mod embed;
mod error;

mod settings;

mod endpoints;

mod anthropic;
mod embeddings;
mod folder;
#[cfg(feature = "local-embeddings")]
mod local;
#[cfg(feature = "minilm")]
mod minilm;
mod openai;
mod source;
mod whole;

mod endpoint;
mod http;
mod reading;
mod retry;

#[cfg(feature = "scripted")]
pub mod scripted;

pub use chat::{
    BytesOfAnswer, ChatAnswer, ChatModel, ChatRequest, Finish, Forwarded, OnDelta, Piece, ResponseSchema, ToolCall,
    Usage,
};
pub use embed::Embedder;
pub use embeddings::{Embeddings, EmbeddingsSettings};
pub use endpoints::Endpoints;
pub use error::{ModelError, SettingsError};
pub use folder::open_folder;
pub use name::{ModelName, Provider};
pub use retry::Retries;
pub use settings::{ApiKey, Proxy, Settings, Timeouts};
pub use source::{HttpSource, Passage, SourceSettings};
pub use whole::whole_answer;
