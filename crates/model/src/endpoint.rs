//! An endpoint for chats.

use std::borrow::Cow;

use reqwest::header::{AUTHORIZATION, HeaderName};

use crate::chat::{RefusedSchemas, SchemaForm};
use crate::http::{Address, Http, MAX_ANSWER_BYTES};
use crate::{ChatAnswer, ChatRequest, ModelError, OnDelta, Provider, Settings, anthropic, openai};

/// An endpoint. It sends each request once, and once more where the endpoint refuses how it is asked;
/// [`Endpoints`](crate::Endpoints) retries.
pub(crate) struct Endpoint {
    provider: Provider,
    pub(crate) http: Http,
    /// Whether it is the provider's own, and not another server that speaks like it.
    is_own: bool,
    refused: RefusedSchemas,
}

impl Endpoint {
    /// The endpoint for `provider` in `settings`; sends nothing.
    pub(crate) fn new(provider: Provider, settings: &Settings) -> Result<Self, ModelError> {
        let (url, key, own, missing) = match provider {
            Provider::OpenAi => (
                &settings.openai_base_url,
                &settings.openai_api_key,
                openai::OWN_BASE_URL,
                "give a base URL (OPENAI_BASE_URL) or an API key (OPENAI_API_KEY)",
            ),
            Provider::Anthropic => (
                &settings.anthropic_base_url,
                &settings.anthropic_api_key,
                anthropic::OWN_BASE_URL,
                "give an API key (ANTHROPIC_API_KEY) or a base URL (ANTHROPIC_BASE_URL)",
            ),
        };
        let (header, before) = match provider {
            Provider::OpenAi => (AUTHORIZATION, "Bearer "),
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), ""),
        };
        let not_configured = |reason: String| ModelError::NotConfigured { provider, reason };
        let mut base_url = match (url, key) {
            (Some(url), _) => url.as_str(),
            (None, Some(_)) => own,
            (None, None) => return Err(not_configured(missing.to_owned())),
        };
        if provider == Provider::Anthropic {
            // Base URLs for Anthropic's own clients have no version, those for chat completions have one.
            base_url = base_url.trim_end_matches('/');
            base_url = base_url.strip_suffix("/v1").unwrap_or(base_url);
        }
        let http = Http::new(Address {
            protocol: provider.as_str(),
            base_url,
            secrets: key.iter().map(|key| (header.clone(), before, key)).collect(),
            proxy: settings.proxy.as_ref(),
            timeouts: settings.timeouts,
            max_bytes: MAX_ANSWER_BYTES,
        })
        .map_err(|error| not_configured(error.to_string()))?;
        Ok(Self { provider, http, is_own: base_url.starts_with(own), refused: RefusedSchemas::default() })
    }

    /// The names of its models.
    pub(crate) async fn models(&self) -> Result<Vec<String>, ModelError> {
        let list = match self.provider {
            Provider::OpenAi => self.http.get("/models"),
            Provider::Anthropic => {
                let (name, version) = anthropic::VERSION;
                self.http.get("/v1/models?limit=1000").header(name, version)
            }
        };
        self.http.models(list).await
    }

    /// Asks a model. A schema that the endpoint refuses to enforce is asked for in its plain form, and where it cannot be enforced at
    /// all, in words.
    pub(crate) async fn chat(
        &self,
        request: &ChatRequest,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        let mut request = Cow::Borrowed(request);
        let schema = request.response_schema.as_ref();
        if let Some(plain) = schema.and_then(|schema| self.refused.plain(&request.model, schema)) {
            request.to_mut().response_schema = Some(plain);
        }
        let mut answer = self.ask(&request, SchemaForm::Enforced, on_delta).await;
        let Some(schema) = request.response_schema.clone() else { return answer };
        if let Some(plain) = schema.instead(&answer) {
            request.to_mut().response_schema = Some(plain);
            answer = self.ask(&request, SchemaForm::Enforced, on_delta).await;
            if answer.is_ok() {
                self.refused.note(&request.model, &schema);
            }
        }
        match answer {
            Err(ModelError::Refused { status: 400 | 422, message, .. }) if self.refuses_form(&request, &message) => {
                tracing::info!(model = %request.model, %message, "asking for the schema in words");
                self.ask(&request, SchemaForm::Words, on_delta).await
            }
            answer => answer,
        }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        form: SchemaForm,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        match self.provider {
            Provider::OpenAi => openai::ask(&self.http, self.is_own, request, form, on_delta).await,
            Provider::Anthropic => anthropic::ask(&self.http, request, form, on_delta).await,
        }
    }

    /// Whether an endpoint that says this may take the request in words. Some models of Anthropic's cannot be made to call a tool, and
    /// some servers take no schema beside tools.
    fn refuses_form(&self, request: &ChatRequest, message: &str) -> bool {
        match self.provider {
            Provider::OpenAi => {
                let message = message.to_lowercase();
                !request.tools.is_empty() && (message.contains("tool") || message.contains("function"))
            }
            Provider::Anthropic => message.contains("tool"),
        }
    }
}
