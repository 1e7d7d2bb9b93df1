//! Every way in which an endpoint behaves, over real HTTP.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may")]

mod anthropic;
mod both;
mod embeddings;
mod openai;
mod sources;

use std::{future::Future, time::Duration};

use callboard_model::scripted::{Reply, Scripted};
use callboard_model::{
    ChatAnswer, ChatModel, ChatRequest, Endpoints, ModelError, Provider, Retries, Settings, Timeouts,
};
use serde_json::json;

/// What endpoints speak.
const BOTH: [Provider; 2] = [Provider::OpenAi, Provider::Anthropic];

/// What a future comes to, which it must soon.
async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(60);
    tokio::time::timeout(patience, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Settings for `endpoint` that lose no time.
fn settings(endpoint: &Scripted) -> Settings {
    Settings {
        openai_base_url: Some(endpoint.base_url()),
        anthropic_base_url: Some(endpoint.base_url()),
        timeouts: Timeouts { idle: Duration::from_secs(20), ..Timeouts::default() },
        retries: Retries { first_wait: Duration::ZERO, ..Retries::default() },
        ..Settings::default()
    }
}

fn request(provider: Provider, text: &str) -> ChatRequest {
    let mut request = ChatRequest::new(format!("{}:small", provider.as_str()).parse().unwrap());
    request.messages = vec![json!({"role": "user", "content": text})];
    request
}

/// Asks once with `settings` and gives the answer with the pieces that came on the way.
async fn ask(settings: Settings, request: &ChatRequest) -> (Result<ChatAnswer, ModelError>, Vec<String>) {
    let mut pieces = Vec::new();
    let answer = Endpoints::from(settings).chat(request, &mut |piece| pieces.push(piece.to_owned())).await;
    (answer, pieces)
}

/// What comes of it when an endpoint always gives this reply, and how often it was asked.
async fn always(provider: Provider, reply: Reply) -> (Result<ChatAnswer, ModelError>, usize) {
    let endpoint = Scripted::start(move |_, _| reply.clone());
    let (answer, _) = ask(settings(&endpoint), &request(provider, "hi")).await;
    (answer, endpoint.requests().len())
}
