//! Chat models behind HTTP endpoints.
//!
//! A [`ChatRequest`] goes to the model that it names and comes back as a [`ChatAnswer`], its text handed out piece by
//! piece on the way. [`Endpoints`] knows where models are and what went wrong on the way to them; it is made from
//! [`Settings`], for nothing here reads the environment.
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
//! What fails is tried again only where that can help and harms nobody: see [`Retries`]. An API key is in no error, no
//! log and no `Debug` output.

mod name;

mod chat;
mod error;

mod settings;

mod endpoints;
mod probe;

mod anthropic;
mod openai;

mod endpoint;
mod http;
mod reading;
mod retry;

#[cfg(feature = "scripted")]
pub mod scripted;

pub use chat::{ChatAnswer, ChatModel, ChatRequest, Finish, OnDelta, ResponseSchema, ToolCall, Usage};
pub use endpoints::Endpoints;
pub use error::ModelError;
pub use name::{ModelName, Provider};
pub use probe::{OLLAMA_BASE_URL, probe};
pub use retry::Retries;
pub use settings::{ApiKey, Proxy, Settings, Timeouts};
