//! Anthropic's Messages API, which some other servers speak too.

mod answer;
mod request;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::chat::SchemaForm;
use crate::http::Http;
use crate::{ChatAnswer, ChatRequest, Forwarded, ModelError, OnDelta, Provider};
use answer::Assembly;

pub(crate) use answer::whole;

pub(crate) const OWN_BASE_URL: &str = "https://api.anthropic.com";
pub(crate) const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
/// What says that messages name files that were uploaded.
const FILES: (&str, &str) = ("anthropic-beta", "files-api-2025-04-14");
/// What says that the request rules what becomes of thoughts before which something has changed.
const BINDING: (&str, &str) = ("anthropic-beta", "thinking-binding-controls-2026-08-01");

/// Asks a model. For an answer with a schema, it has to call a tool with that schema, and the arguments are the answer. This works with
/// every model that has tools, on Anthropic's server and on others.
///
/// It is asked once more without what it refuses of its thoughts: some models bind them to all that stands before them, and that may have
/// changed since, as context sets do. Such models think, and so take no forced call: a schema is told in words then.
pub(crate) async fn ask(
    http: &Http,
    request: &ChatRequest,
    form: SchemaForm,
    on_delta: &mut OnDelta<'_>,
) -> Result<ChatAnswer, ModelError> {
    match send(http, request, form, &request::body(request, form), None, on_delta).await {
        Err(ModelError::Refused { status: 400, message, .. }) if message.contains(request::MISMATCH) => {
            tracing::info!(model = %request.model, %message, "leaving out thoughts before which something has changed");
            let body = request::without_unbound(request::body(request, SchemaForm::Words));
            send(http, request, SchemaForm::Words, &body, Some(BINDING), on_delta).await
        }
        answer => answer,
    }
}

async fn send(
    http: &Http,
    request: &ChatRequest,
    form: SchemaForm,
    body: &Value,
    beta: Option<(&str, &str)>,
    on_delta: &mut OnDelta<'_>,
) -> Result<ChatAnswer, ModelError> {
    let mut post = http.post("/v1/messages", body).header(VERSION.0, VERSION.1);
    let files = request.messages.iter().any(request::names_files).then_some(FILES);
    for (name, value) in files.into_iter().chain(beta) {
        post = post.header(name, value);
    }
    let answer = http.send(post).await?;
    let tool = request.response_schema.as_ref().filter(|_| form == SchemaForm::Enforced);
    let mut assembly = Assembly::new(tool.map(|schema| &*schema.name));
    http.read(answer, &mut assembly, on_delta).await?;
    Ok(assembly.answer(on_delta))
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
