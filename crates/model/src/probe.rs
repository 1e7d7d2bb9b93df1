//! Finding out whether an endpoint is there.

use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::openai::OpenAi;
use crate::{ApiKey, ModelError, Settings, Timeouts};

/// The default address of Ollama's chat completions.
pub const OLLAMA_BASE_URL: &str = "http://127.0.0.1:11434/v1";

const PATIENCE: Duration = Duration::from_secs(2);

/// The models of an OpenAI-compatible endpoint, asked once with short timeouts: for finding out whether an endpoint is
/// there.
pub async fn probe(base_url: &str, key: Option<&ApiKey>) -> Result<Vec<String>, ModelError> {
    let settings = Settings {
        openai_base_url: Some(base_url.to_owned()),
        openai_api_key: key.cloned(),
        timeouts: Timeouts { connect: PATIENCE, idle: PATIENCE, whole: PATIENCE },
        ..Settings::default()
    };
    OpenAi::new(&settings)?.models().await
}
