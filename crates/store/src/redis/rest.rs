//! The REST protocol of Vercel KV and Upstash: commands as JSON over HTTP.

use std::time::Duration;

use reqwest::{
    Client, RequestBuilder, Response, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde_json::{Value, json};

use super::{
    address::Token,
    command::{Command, Reply},
    error::RedisFailure,
};

/// The timeout for connecting.
const CONNECTING: Duration = Duration::from_secs(5);

/// The timeout for an answer. It must suffice for a value of 16 MiB.
const ANSWERING: Duration = Duration::from_secs(30);

/// How often a request is sent if the server answers 429.
const TRIES: u32 = 4;

/// The longest wait before a request is sent again, whatever the server asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A server over REST.
pub(super) struct Rest {
    client: Client,
    base: String,
}

impl Rest {
    /// Creates the client. Sends nothing.
    pub(super) fn new(base: &Url, token: &Token) -> Result<Self, RedisFailure> {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.0)).map_err(|_| {
            RedisFailure::Unexpected("the token contains characters that a header cannot have".to_owned())
        })?;
        bearer.set_sensitive(true);
        // This fails if the program has chosen its own cryptography for TLS, which then stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            .connect_timeout(CONNECTING)
            .timeout(ANSWERING)
            // The token must not be sent to another server.
            .redirect(Policy::none())
            .no_proxy();
        if base.scheme() == "http" {
            // This works on machines without root certificates.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| RedisFailure::Unreachable(words(error)))?;
        Ok(Self { client, base: base.as_str().trim_end_matches('/').to_owned() })
    }

    pub(super) async fn call(&self, command: &Command<'_>) -> Result<Reply, RedisFailure> {
        answer(self.post("", &json!(command.0)).await?)
    }

    pub(super) async fn all(&self, commands: &[Command<'_>]) -> Result<Vec<Result<Reply, RedisFailure>>, RedisFailure> {
        let words: Vec<_> = commands.iter().map(|command| &command.0).collect();
        match self.post("/pipeline", &json!(words)).await? {
            Value::Array(answers) if answers.len() == commands.len() => Ok(answers.into_iter().map(answer).collect()),
            Value::Object(refusal) => {
                Err(answer(Value::Object(refusal)).err().unwrap_or_else(|| nonsense("/pipeline")))
            }
            _ => Err(nonsense("/pipeline")),
        }
    }

    /// Sends `body` to `path` and returns the JSON of the answer. Sends it again if the server certainly did nothing.
    async fn post(&self, path: &str, body: &Value) -> Result<Value, RedisFailure> {
        let url = format!("{}{}", self.base, if path.is_empty() { "/" } else { path });
        let mut tried = 0;
        loop {
            tried += 1;
            let response = send(self.client.post(&url).json(body)).await?;
            if response.status() != StatusCode::TOO_MANY_REQUESTS || tried == TRIES {
                return read(response).await;
            }
            tokio::time::sleep(wait(&response, tried)).await;
        }
    }
}

async fn send(request: RequestBuilder) -> Result<Response, RedisFailure> {
    request.send().await.map_err(|error| {
        let unreached = error.is_connect() || error.is_builder();
        let words = words(error);
        if unreached { RedisFailure::Unreachable(words) } else { RedisFailure::NoAnswer(words) }
    })
}

/// How long to wait before the next try: what the server asks for, up to [`LONGEST_WAIT`].
fn wait(response: &Response, tried: u32) -> Duration {
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    asked.map_or(Duration::from_millis(100) * 2_u32.saturating_pow(tried), Duration::from_secs).min(LONGEST_WAIT)
}

/// The JSON of a response. If it has none, the error that its status means.
async fn read(response: Response) -> Result<Value, RedisFailure> {
    let status = response.status();
    let text = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return Err(RedisFailure::refused("WRONGPASS the token is refused: use the token that may read and write"));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            return Err(RedisFailure::refused("TOOMANY requests: the server still asks to wait"));
        }
        status if status.is_redirection() => {
            return Err(RedisFailure::Unexpected(format!("it answers {status}: use the URL that it redirects to")));
        }
        _ => response.text().await.map_err(|error| RedisFailure::NoAnswer(words(error)))?,
    };
    let json = serde_json::from_str(&text);
    match json {
        Ok(json) if status.is_success() || status == StatusCode::BAD_REQUEST => Ok(json),
        // A proxy may have answered. Whether the server did anything is unknown.
        _ if status.is_server_error() => Err(RedisFailure::NoAnswer(format!("it answers {status}"))),
        _ => Err(RedisFailure::Unexpected(format!(
            "it answers {status} without JSON of the REST protocol: is the URL right?"
        ))),
    }
}

/// The reply in a JSON object of the protocol.
fn answer(json: Value) -> Result<Reply, RedisFailure> {
    let Value::Object(mut object) = json else { return Err(nonsense("/")) };
    if let Some(error) = object.get("error").and_then(Value::as_str) {
        return Err(RedisFailure::refused(error));
    }
    object.remove("result").map_or_else(|| Err(nonsense("/")), reply)
}

fn reply(json: Value) -> Result<Reply, RedisFailure> {
    match json {
        Value::Null => Ok(Reply::Nothing),
        Value::String(text) => Ok(Reply::Text(text)),
        Value::Array(list) => list.into_iter().map(reply).collect::<Result<_, _>>().map(Reply::List),
        Value::Number(number) => number.as_i64().map(Reply::Number).ok_or_else(|| nonsense("a number")),
        Value::Bool(_) | Value::Object(_) => Err(nonsense("a value")),
    }
}

fn nonsense(what: &str) -> RedisFailure {
    RedisFailure::Unexpected(format!("its answer to {what} is not of the REST protocol"))
}

/// The message of an error, without the URL.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        words = format!("{words}: {error}");
        source = error.source();
    }
    words
}
