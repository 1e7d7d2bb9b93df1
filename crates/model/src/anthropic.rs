//! Anthropic's Messages API, which some other servers speak too.

mod answer;
mod request;

use async_trait::async_trait;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::chat::RefusedSchemas;
use crate::endpoint::Endpoint;
use crate::http::{Address, Http, MAX_ANSWER_BYTES};
use crate::{ChatAnswer, ChatModel, ChatRequest, Forwarded, ModelError, OnDelta, Provider, Settings};
use answer::Assembly;
use request::Form;

const OWN_BASE_URL: &str = "https://api.anthropic.com";
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
/// What says that messages name files that were uploaded.
const FILES: (&str, &str) = ("anthropic-beta", "files-api-2025-04-14");
/// What says that the request rules what becomes of thoughts before which something has changed.
const BINDING: (&str, &str) = ("anthropic-beta", "thinking-binding-controls-2026-08-01");

/// An endpoint for messages.
pub(crate) struct Anthropic {
    http: Http,
    refused: RefusedSchemas,
}

impl Anthropic {
    /// The endpoint in `settings`; sends nothing.
    pub(crate) fn new(settings: &Settings) -> Result<Self, ModelError> {
        let provider = Provider::Anthropic;
        let base_url = match (&settings.anthropic_base_url, &settings.anthropic_api_key) {
            (Some(url), _) => url.as_str(),
            (None, Some(_)) => OWN_BASE_URL,
            (None, None) => {
                let reason = "give an API key (ANTHROPIC_API_KEY) or a base URL (ANTHROPIC_BASE_URL)".to_owned();
                return Err(ModelError::NotConfigured { provider, reason });
            }
        };
        // Base URLs for Anthropic's own clients have no version, those for chat completions have one.
        let base_url = base_url.trim_end_matches('/');
        let base_url = base_url.strip_suffix("/v1").unwrap_or(base_url);
        let key_header = HeaderName::from_static("x-api-key");
        let http = Http::new(Address {
            protocol: provider.as_str(),
            base_url,
            secrets: settings.anthropic_api_key.iter().map(|key| (key_header.clone(), "", key)).collect(),
            proxy: settings.proxy.as_ref(),
            timeouts: settings.timeouts,
            max_bytes: MAX_ANSWER_BYTES,
        })
        .map_err(|error| ModelError::NotConfigured { provider, reason: error.to_string() })?;
        Ok(Self { http, refused: RefusedSchemas::default() })
    }

    /// Asks, and once more without what the model refuses of its thoughts: some bind them to all that stands before them, and that
    /// may have changed since, as context sets do. Such models think, and so take no forced call: a schema is told in words then.
    async fn ask(
        &self,
        request: &ChatRequest,
        form: Option<Form<'_>>,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        match self.send(request, form, &request::body(request, form), None, on_delta).await {
            Err(ModelError::Refused { status: 400, message, .. }) if message.contains(request::MISMATCH) => {
                tracing::info!(model = %request.model, %message, "leaving out thoughts before which something has changed");
                let form = form.map(Form::in_words);
                let body = request::without_unbound(request::body(request, form));
                self.send(request, form, &body, Some(BINDING), on_delta).await
            }
            answer => answer,
        }
    }

    async fn send(
        &self,
        request: &ChatRequest,
        form: Option<Form<'_>>,
        body: &Value,
        beta: Option<(&str, &str)>,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        let mut post = self.http.post("/v1/messages", body).header(VERSION.0, VERSION.1);
        let files = request.messages.iter().any(request::names_files).then_some(FILES);
        for (name, value) in files.into_iter().chain(beta) {
            post = post.header(name, value);
        }
        let answer = self.http.send(post).await?;
        let mut assembly = Assembly::new(form.and_then(Form::tool));
        self.http.read(answer, &mut assembly, on_delta).await?;
        Ok(assembly.answer(request.model.name(), on_delta))
    }
}

impl Forwarded {
    /// The same request, where a model refuses it with these words since it binds thoughts to all that stands before them: without the
    /// thoughts before which something has changed. `None` where it is refused for another reason, or says itself what is to become of
    /// them.
    pub fn without_unbound(&self, refusal: &[u8]) -> Option<Self> {
        if self.provider != Provider::Anthropic || !String::from_utf8_lossy(refusal).contains(request::MISMATCH) {
            return None;
        }
        let body: Value = serde_json::from_slice(self.body.as_ref()?).ok()?;
        if body.pointer("/thinking/block_binding").is_some() {
            return None;
        }
        let mut again = self.clone();
        again.headers.append(HeaderName::from_static(BINDING.0), HeaderValue::from_static(BINDING.1));
        again.body = Some(request::without_unbound(body).to_string().into());
        Some(again)
    }
}

#[async_trait]
impl Endpoint for Anthropic {
    fn http(&self) -> &Http {
        &self.http
    }

    async fn models(&self) -> Result<Vec<String>, ModelError> {
        self.http.models(self.http.get("/v1/models?limit=1000").header(VERSION.0, VERSION.1)).await
    }
}

#[async_trait]
impl ChatModel for Anthropic {
    /// For an answer with a schema, the model has to call a tool with that schema, and the arguments are the answer. This
    /// works with every model that has tools, on Anthropic's server and on others. If a model refuses a forced call, the
    /// schema is described in words instead.
    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let Some(schema) = &request.response_schema else { return self.ask(request, None, on_delta).await };
        let known = self.refused.plain(&request.model, schema);
        let schema = known.as_ref().unwrap_or(schema);
        let mut answer = self.ask(request, Some(Form::Tool(schema)), on_delta).await;
        let plain = schema.instead(&answer);
        if let Some(plain) = &plain {
            answer = self.ask(request, Some(Form::Tool(plain)), on_delta).await;
            if answer.is_ok() {
                self.refused.note(&request.model, schema);
            }
        }
        let schema = plain.as_ref().unwrap_or(schema);
        match answer {
            Err(ModelError::Refused { status: 400 | 422, message, .. }) if message.contains("tool") => {
                tracing::info!(model = %request.model, %message, "describing the schema in words");
                self.ask(request, Some(Form::Words(schema)), on_delta).await
            }
            answer => answer,
        }
    }
}
