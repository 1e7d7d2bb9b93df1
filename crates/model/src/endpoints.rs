//! All endpoints, and the retries.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

use crate::anthropic::Anthropic;
use crate::chat::{BytesOfAnswer, Forwarded};
use crate::endpoint::Endpoint;
use crate::openai::OpenAi;
use crate::{ChatAnswer, ChatModel, ChatRequest, ModelError, OnDelta, Provider, Retries, Settings};

/// All endpoints in the settings. The name of the model decides to which one a request goes. Requests are retried according to
/// [`Retries`]. Create it once and share it, since it keeps connections open.
pub struct Endpoints {
    openai: Result<OpenAi, ModelError>,
    anthropic: Result<Anthropic, ModelError>,
    retries: Retries,
    whole: Duration,
}

impl From<Settings> for Endpoints {
    /// Sends nothing. An error in the settings of an endpoint is reported when the endpoint is used.
    fn from(settings: Settings) -> Self {
        let (openai, anthropic) = (OpenAi::new(&settings), Anthropic::new(&settings));
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

    fn endpoint(&self, provider: Provider) -> Result<&dyn Endpoint, ModelError> {
        fn known<E: Endpoint>(endpoint: &Result<E, ModelError>) -> Result<&dyn Endpoint, ModelError> {
            endpoint.as_ref().map(|endpoint| endpoint as &dyn Endpoint).map_err(Clone::clone)
        }
        match provider {
            Provider::OpenAi => known(&self.openai),
            Provider::Anthropic => known(&self.anthropic),
        }
    }

    async fn persist(
        &self,
        endpoint: &dyn Endpoint,
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
        self.endpoint(request.provider)?.http().forward(request).await
    }

    async fn chat(&self, request: &ChatRequest, on_delta: &mut OnDelta<'_>) -> Result<ChatAnswer, ModelError> {
        let endpoint = self.endpoint(request.model.provider())?;
        let answer = timeout(self.whole, self.persist(endpoint, request, on_delta)).await;
        answer.unwrap_or_else(|_| Err(endpoint.http().timed_out("for the whole answer", self.whole)))
    }
}
