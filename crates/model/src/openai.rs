//! OpenAI's chat completions, which many servers speak.

mod answer;
mod request;

use crate::chat::SchemaForm;
use crate::http::Http;
use crate::{ChatAnswer, ChatRequest, ModelError, OnDelta};
use answer::Assembly;

pub(crate) use answer::whole;

pub(crate) const OWN_BASE_URL: &str = "https://api.openai.com/v1";

/// Asks a model; `is_own` is whether OpenAI itself is asked. In words, the messages alone say what answer is wanted.
pub(crate) async fn ask(
    http: &Http,
    is_own: bool,
    request: &ChatRequest,
    form: SchemaForm,
    on_delta: &mut OnDelta<'_>,
) -> Result<ChatAnswer, ModelError> {
    let answer = http.send(http.post("/chat/completions", &request::body(request, form, is_own))).await?;
    let mut assembly = Assembly::default();
    http.read(answer, &mut assembly, on_delta).await?;
    Ok(assembly.answer())
}
