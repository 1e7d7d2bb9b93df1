//! OpenAI's chat completions, which many servers speak.

mod answer;
mod request;

use async_trait::async_trait;
use reqwest::header::AUTHORIZATION;

use crate::chat::RefusedSchemas;
use crate::endpoint::Endpoint;
use crate::http::{Address, Http, MAX_ANSWER_BYTES};
use crate::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta, Provider, Settings};
use answer::Assembly;

const OWN_BASE_URL: &str = "https://api.openai.com/v1";

/// An endpoint for chat completions.
pub(crate) struct OpenAi {
    http: Http,
    /// Whether it is OpenAI's own endpoint, which has renamed some fields.
    own: bool,
    refused: RefusedSchemas,
}

impl OpenAi {
    /// The endpoint in `settings`; sends nothing.
    pub(crate) fn new(settings: &Settings) -> Result<Self, ModelError> {
        let provider = Provider::OpenAi;
        let base_url = match (&settings.openai_base_url, &settings.openai_api_key) {
            (Some(url), _) => url.as_str(),
            (None, Some(_)) => OWN_BASE_URL,
            (None, None) => {
                let reason = "give a base URL (OPENAI_BASE_URL) or an API key (OPENAI_API_KEY)".to_owned();
                return Err(ModelError::NotConfigured { provider, reason });
            }
        };
        let http = Http::new(Address {
            protocol: provider.as_str(),
            base_url,
            secrets: settings.openai_api_key.iter().map(|key| (AUTHORIZATION, "Bearer ", key)).collect(),
            proxy: settings.proxy.as_ref(),
            timeouts: settings.timeouts,
            max_bytes: MAX_ANSWER_BYTES,
        })
        .map_err(|error| ModelError::NotConfigured { provider, reason: error.to_string() })?;
        Ok(Self { http, own: base_url.starts_with(OWN_BASE_URL), refused: RefusedSchemas::default() })
    }

    async fn ask(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let answer = self.http.send(self.http.post("/chat/completions", &request::body(request, self.own))).await?;
        let mut assembly = Assembly::default();
        self.http.read(answer, &mut assembly, on_delta).await?;
        Ok(assembly.answer(request.model.name()))
    }
}

#[async_trait]
impl Endpoint for OpenAi {
    fn http(&self) -> &Http {
        &self.http
    }

    async fn models(&self) -> Result<Vec<String>, ModelError> {
        self.http.models(self.http.get("/models")).await
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    /// Some servers take no schema beside tools. There the messages alone say what answer is wanted.
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let schema = request.response_schema.as_ref();
        let known = schema.and_then(|schema| self.refused.plain(&request.model, schema));
        let known = known.map(|plain| ChatRequest { response_schema: Some(plain), ..request.clone() });
        let request = known.as_ref().unwrap_or(request);
        let mut answer = self.ask(request, on_delta).await;
        if let Some(schema) = &request.response_schema
            && let Some(plain) = schema.instead(&answer)
        {
            answer = self.ask(&ChatRequest { response_schema: Some(plain), ..request.clone() }, on_delta).await;
            if answer.is_ok() {
                self.refused.note(&request.model, schema);
            }
        }
        if request.response_schema.is_some() && !request.tools.is_empty() && refuses_tools(&answer) {
            tracing::info!(model = %request.model, "asking without a schema beside the tools");
            answer = self.ask(&ChatRequest { response_schema: None, ..request.clone() }, on_delta).await;
        }
        answer
    }
}

/// Whether an endpoint refuses a request for its tools.
fn refuses_tools(answer: &Result<ChatAnswer, ModelError>) -> bool {
    let Err(ModelError::Refused { status: 400 | 422, message, .. }) = answer else { return false };
    let message = message.to_lowercase();
    message.contains("tool") || message.contains("function")
}
