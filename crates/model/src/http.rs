//! Requests over HTTP, and their errors.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, NoProxy, RequestBuilder, Response, Url};
use serde_json::Value;
use tokio::time::timeout;

use crate::chat::{BytesOfAnswer, Forwarded};
use crate::{ApiKey, ModelError, Proxy, SettingsError, Timeouts};

const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";
/// Longer than any message of a model.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;
const MAX_COMPLAINT_BYTES: usize = 64 << 10;
const EXCERPT_CHARS: usize = 300;
/// The same of a web page, which says little at its beginning.
const EXCERPT_OF_PAGE_CHARS: usize = 60;

/// The HTTP client of one endpoint.
pub(crate) struct Http {
    client: Client,
    base: String,
    secrets: Vec<ApiKey>,
    protocol: &'static str,
    timeouts: Timeouts,
    max_bytes: usize,
}

/// How to reach an endpoint.
pub(crate) struct Address<'a> {
    /// What it speaks, for errors.
    pub(crate) protocol: &'static str,
    pub(crate) base_url: &'a str,
    /// The headers with secret values: their name, what stands before the secret, and the secret.
    pub(crate) secrets: Vec<(HeaderName, &'static str, &'a ApiKey)>,
    pub(crate) proxy: Option<&'a Proxy>,
    pub(crate) timeouts: Timeouts,
    /// No answer is read beyond this size.
    pub(crate) max_bytes: usize,
}

impl Http {
    /// Creates the client. Sends nothing.
    pub(crate) fn new(address: Address<'_>) -> Result<Self, SettingsError> {
        let wrong = SettingsError;
        let url = Url::parse(address.base_url).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let mut url =
            url.ok_or_else(|| wrong("the base URL does not begin with http:// or https:// and a host".to_owned()))?;
        let mut headers = HeaderMap::new();
        for (name, before, secret) in &address.secrets {
            let value = HeaderValue::from_str(&format!("{before}{}", secret.reveal()));
            let mut value = value.map_err(|_| wrong("the API key has invalid characters".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
            hide_user(&mut url);
        }
        // This fails if the program has chosen its own cryptography for TLS, which then stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("callboard/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(address.timeouts.connect)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if url.scheme() == "http" {
            // This works on machines without root certificates.
            builder = builder.tls_certs_only([]);
        }
        if let Some(proxy) = address.proxy {
            let except = NoProxy::from_string(&format!("{THIS_MACHINE},{}", proxy.except));
            let proxy = reqwest::Proxy::all(&proxy.url).map_err(|_| wrong("the proxy's URL is invalid".to_owned()))?;
            builder = builder.proxy(proxy.no_proxy(except));
        }
        let client = builder.build().map_err(|error| wrong(reason(error)))?;
        let secrets = address.secrets.into_iter().map(|(_, _, secret)| secret.clone()).collect();
        let Address { protocol, timeouts, max_bytes, .. } = address;
        Ok(Self { client, base: url.into(), secrets, protocol, timeouts, max_bytes })
    }

    /// A POST request with `body` to `path` below the base URL; with an empty path, to this URL itself.
    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.below(path)).json(body)
    }

    /// A GET request for `path` below the base URL.
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.below(path))
    }

    fn below(&self, path: &str) -> String {
        if path.is_empty() { self.base.clone() } else { format!("{}{path}", self.base.trim_end_matches('/')) }
    }

    /// Sends `request` and waits for an answer to begin; an answer with another status than 2xx is an error.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<HttpAnswer<'_>, ModelError> {
        let answer = HttpAnswer { http: self, response: self.begin(request).await? };
        if answer.response.status().is_success() { Ok(answer) } else { Err(answer.refused().await) }
    }

    /// Sends a request as it is and waits for an answer to begin, whatever its status.
    pub(crate) async fn forward(&self, request: Forwarded) -> Result<http::Response<BytesOfAnswer>, ModelError> {
        let call = match request.body {
            Some(body) => {
                self.client.post(self.below(&request.path)).header(CONTENT_TYPE, "application/json").body(body)
            }
            None => self.get(&request.path),
        };
        let response = self.begin(call.headers(request.headers)).await?;
        let mut given = http::Response::new(());
        *given.status_mut() = response.status();
        given.headers_mut().clone_from(response.headers());
        Ok(given.map(|()| -> BytesOfAnswer { Box::pin(self.pieces(response)) }))
    }

    async fn begin(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        let unreachable = |error| ModelError::Unreachable { url: self.shown(), reason: reason(error) };
        let sent = async { request.send().await.map_err(unreachable) };
        self.within(self.timeouts.idle, "to begin its answer", sent).await
    }

    /// The bytes of an answer as they come.
    fn pieces(&self, response: Response) -> impl Stream<Item = Result<Bytes, ModelError>> + use<> {
        let (url, limit) = (self.shown(), self.timeouts.idle);
        stream::try_unfold(response, move |mut response| {
            let url = url.clone();
            async move {
                let what = "to continue its answer";
                let piece = timeout(limit, response.chunk()).await;
                let piece = piece.map_err(|_| ModelError::TimedOut { url: url.clone(), what, limit })?;
                let piece = piece.map_err(|_| ModelError::CutOff { url, received_chars: 0 })?;
                Ok(piece.map(|piece| (piece, response)))
            }
        })
    }

    /// What `ask` comes to. `what` must not take longer than `limit`.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        what: &'static str,
        ask: impl Future<Output = Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        timeout(limit, ask).await.unwrap_or_else(|_| Err(ModelError::TimedOut { url: self.shown(), what, limit }))
    }

    /// The names in the list of models that `request` returns.
    pub(crate) async fn models(&self, request: RequestBuilder) -> Result<Vec<String>, ModelError> {
        let text = self.send(request).await?.text().await?;
        names(&text).ok_or_else(|| self.not_understood("no list of models", &text))
    }

    /// The base URL without a user, a password or a query.
    pub(crate) fn shown(&self) -> String {
        let Ok(mut url) = Url::parse(&self.base) else { return String::new() };
        hide_user(&mut url);
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// The answer ended before it was finished.
    pub(crate) fn cut_off(&self, received_chars: usize) -> ModelError {
        ModelError::CutOff { url: self.shown(), received_chars }
    }

    /// The error for a response that is no answer: `what` is wrong with `text`.
    pub(crate) fn not_understood(&self, what: &str, text: &str) -> ModelError {
        let what = format!("{what}, it begins with `{}`", self.excerpt(text));
        ModelError::NotUnderstood { url: self.shown(), protocol: self.protocol, what }
    }

    /// The error for a refused request, with the reason in `body`.
    pub(crate) fn refused(&self, status: u16, body: &str, retry_after: Option<Duration>) -> ModelError {
        let message = serde_json::from_str(body).ok().and_then(|body| complaint(&body));
        let message = self.excerpt(message.as_deref().unwrap_or(body));
        let message = if message.is_empty() { "it gives no reason".to_owned() } else { message };
        ModelError::Refused { url: self.shown(), status, message, retry_after }
    }

    fn excerpt(&self, text: &str) -> String {
        let text = self.secrets.iter().fold(text.to_owned(), |text, secret| secret.hidden_in(&text));
        let most = if text.trim().starts_with('<') { EXCERPT_OF_PAGE_CHARS } else { EXCERPT_CHARS };
        let mut characters = text.trim().chars().map(|character| if character.is_control() { ' ' } else { character });
        let excerpt: String = characters.by_ref().take(most).collect();
        if characters.next().is_some() { excerpt + "…" } else { excerpt }
    }
}

/// An answer that has begun.
pub(crate) struct HttpAnswer<'a> {
    http: &'a Http,
    response: Response,
}

impl<'a> HttpAnswer<'a> {
    /// Whether it comes as server-sent events.
    pub(crate) fn is_stream(&self) -> bool {
        let media_type = self.response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        media_type.is_some_and(|media_type| media_type.starts_with("text/event-stream"))
    }

    /// Its bytes as they come.
    pub(crate) fn pieces(self) -> impl Stream<Item = Result<Bytes, ModelError>> + 'a {
        let (http, mut size_bytes) = (self.http, 0);
        http.pieces(self.response).map(move |piece| {
            size_bytes += piece.as_ref().map_or(0, Bytes::len);
            if size_bytes > http.max_bytes {
                return Err(http.not_understood(&format!("it does not end within {} bytes", http.max_bytes), ""));
            }
            piece
        })
    }

    /// The whole answer as text.
    pub(crate) async fn text(self) -> Result<String, ModelError> {
        let all = self.pieces().try_collect::<BytesMut>().await?;
        Ok(String::from_utf8_lossy(&all).into_owned())
    }

    async fn refused(self) -> ModelError {
        let status = self.response.status().as_u16();
        let retry_after = self.response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let http = self.http;
        // If the reason cannot be read, the status is reported all the same.
        let mut body = Vec::new();
        let mut pieces = std::pin::pin!(self.pieces());
        while let Some(Ok(piece)) = pieces.next().await
            && body.len() < MAX_COMPLAINT_BYTES
        {
            body.extend(piece);
        }
        http.refused(status, &String::from_utf8_lossy(&body), retry_after.map(Duration::from_secs))
    }
}

/// Removes user and password from a URL.
fn hide_user(url: &mut Url) {
    // These fail only for URLs that cannot have a user.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// The names in a list of models. All endpoints use the same form.
fn names(text: &str) -> Option<Vec<String>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let names = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    Some(names.map(str::to_owned).collect())
}

/// The message of an error in JSON, in any of the forms that endpoints use; with its code if that is a word.
fn complaint(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let message = error.as_str().or_else(|| error.get("message")?.as_str())?;
    let code = ["code", "type"].into_iter().find_map(|name| error.get(name)?.as_str());
    Some(code.map_or_else(|| message.to_owned(), |code| format!("{message} ({code})")))
}

/// The innermost reason of a network error, which is the most specific.
fn reason(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "the connection timed out".to_owned();
    }
    let mut innermost: &dyn std::error::Error = &error.without_url();
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
