//! OpenAI's chat completions, as many servers speak them.

mod answer;
mod request;

use async_trait::async_trait;
use eventsource_stream::{EventStreamError, Eventsource};
use futures::StreamExt;
use reqwest::header::AUTHORIZATION;

use crate::http::{Address, Answer, Http};
use crate::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta, Provider, Settings};
use answer::{Assembly, Chunk};

const OWN_BASE_URL: &str = "https://api.openai.com/v1";

/// An endpoint for chat completions, asked once: [`Endpoints`](crate::Endpoints) tries again.
pub(crate) struct OpenAi {
    http: Http,
    /// Whether it is OpenAI's own, which has given some fields other names.
    own: bool,
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
            provider,
            base_url,
            key: settings.openai_api_key.as_ref(),
            key_header: (AUTHORIZATION, "Bearer "),
            proxy: settings.proxy.as_ref(),
            timeouts: settings.timeouts,
        })?;
        Ok(Self { http, own: base_url.starts_with(OWN_BASE_URL) })
    }

    /// The names of its models.
    pub(crate) async fn models(&self) -> Result<Vec<String>, ModelError> {
        let text = self.http.send(self.http.get("/models")).await?.text().await?;
        answer::models(&text).ok_or_else(|| self.http.not_understood("no list of models", &text))
    }

    /// The error for an answer that took longer than all of it may.
    pub(crate) fn too_long(&self, limit: std::time::Duration) -> ModelError {
        self.http.timed_out("for the whole answer", limit)
    }

    async fn read_stream(
        &self,
        answer: Answer<'_>,
        assembly: &mut Assembly,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<(), ModelError> {
        let mut events = std::pin::pin!(answer.pieces().eventsource());
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data,
                // All was said; what is lost is at most the usage.
                Err(_) if assembly.is_finished() => break,
                Err(EventStreamError::Transport(ModelError::CutOff { .. })) => break,
                Err(EventStreamError::Transport(error)) => return Err(error),
                Err(error) => return Err(self.http.not_understood(&error.to_string(), "")),
            };
            if data == "[DONE]" {
                assembly.end();
                break;
            }
            self.take(&data, assembly, on_delta)?;
        }
        if assembly.is_finished() { Ok(()) } else { Err(self.http.cut_off(assembly.received_chars())) }
    }

    fn take(&self, data: &str, assembly: &mut Assembly, on_delta: &mut OnDelta<'_>) -> Result<(), ModelError> {
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|error| self.http.not_understood(&error.to_string(), data))?;
        if let Some(status) = chunk.error_status() {
            return Err(self.http.refused(status, data, None));
        }
        assembly.take(chunk, on_delta);
        Ok(())
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let answer = self.http.send(self.http.post("/chat/completions", &request::body(request, self.own))).await?;
        let mut assembly = Assembly::default();
        if answer.is_stream() {
            self.read_stream(answer, &mut assembly, on_delta).await?;
        } else {
            let text = answer.text().await?;
            self.take(&text, &mut assembly, on_delta)?;
            if assembly.is_empty() {
                return Err(self.http.not_understood("there is no message in it", &text));
            }
        }
        Ok(assembly.answer(request.model.name()))
    }
}
