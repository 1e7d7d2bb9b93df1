//! All endpoints, and the retries.

use std::time::Duration;

use async_trait::async_trait;

use crate::chat::{BytesOfAnswer, Forwarded};
use crate::endpoint::Endpoint;
use crate::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta, Provider, Retries, Settings};

/// All endpoints in the settings. The name of the model decides to which one a request goes. Requests are retried according to
/// [`Retries`]. Create it once and share it, since it keeps connections open.
pub struct Endpoints {
    openai: Result<Endpoint, ModelError>,
    anthropic: Result<Endpoint, ModelError>,
    retries: Retries,
    whole: Duration,
}

impl From<Settings> for Endpoints {
    /// Sends nothing. An error in the settings of an endpoint is reported when the endpoint is used.
    fn from(settings: Settings) -> Self {
        let [openai, anthropic] =
            [Provider::OpenAi, Provider::Anthropic].map(|provider| Endpoint::new(provider, &settings));
        Self { openai, anthropic, retries: settings.retries, whole: settings.timeouts.whole }
    }
}

impl Endpoints {
    /// Checks whether the settings have an endpoint for `provider`. Sends nothing.
    pub fn check(&self, provider: Provider) -> Result<(), ModelError> {
        self.endpoint(provider).map(|_| ())
    }

    /// The names of the models that the endpoint for `provider` lists.
    pub async fn models(&self, provider: Provider) -> Result<Vec<String>, ModelError> {
        self.endpoint(provider)?.models().await
    }

    fn endpoint(&self, provider: Provider) -> Result<&Endpoint, ModelError> {
        let endpoint = match provider {
            Provider::OpenAi => &self.openai,
            Provider::Anthropic => &self.anthropic,
        };
        endpoint.as_ref().map_err(Clone::clone)
    }

    async fn persist(
        &self,
        endpoint: &Endpoint,
        request: &ChatRequest,
        on_delta: &mut OnDelta<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        let mut tried = 0;
        loop {
            let mut given_out = false;
            let mut hand_on = |piece: &str| {
                given_out = true;
                on_delta(piece);
            };
            let error = match endpoint.chat(request, &mut hand_on).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if given_out {
                return Err(error);
            }
            tried += 1;
            self.retries.pause(tried, error, &request.model.to_string()).await?;
        }
    }
}

#[async_trait]
impl ChatModel for Endpoints {
    async fn forward(&self, request: Forwarded) -> Result<http::Response<BytesOfAnswer>, ModelError> {
        self.endpoint(request.provider)?.http.forward(request).await
    }

    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let endpoint = self.endpoint(request.model.provider())?;
        let answer = self.persist(endpoint, request, on_delta);
        endpoint.http.within(self.whole, "for the whole answer", answer).await
    }
}
