//! Calls over the network.

use std::{borrow::Cow, io, time::Duration};

use callboard_server::Pieces;
use futures::TryStreamExt as _;
use http::{HeaderMap, HeaderValue, Request, header};
use reqwest::{Body, Client, Url, redirect::Policy};

use crate::failure::Failure;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A server.
pub(crate) struct Remote {
    client: Client,
    base: Url,
}

impl Remote {
    /// The server at `url`, called with this token. Without a scheme it is one of HTTP. Nothing is sent yet.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage("bad_url", format!("the URL of the server {why}"))
                .hint("use the URL that `callboard serve` prints, for instance --url http://127.0.0.1:7420")
        };
        // The message does not repeat the URL, since it may contain a password.
        let base = Url::parse(&with_scheme(url)).map_err(|error| wrong(&format!("is invalid: {error}")))?;
        if !["http", "https"].contains(&base.scheme()) || !base.has_host() {
            return Err(wrong("does not begin with http:// or https:// and a host"));
        }
        if !base.username().is_empty() || base.password().is_some() || base.query().is_some() {
            return Err(wrong("contains a user name, a password or a query: put a token into CALLBOARD_TOKEN instead"));
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            let mut value = value.map_err(|_| {
                Failure::failed("bad_token", "the token has invalid characters")
                    .hint("check CALLBOARD_TOKEN or the file of --token-file")
            })?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        // A program that has chosen its own cryptography for TLS keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .user_agent(concat!("callboard/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT)
            .redirect(Policy::none());
        if is_here(&base) {
            client = client.no_proxy();
        }
        if base.scheme() == "http" {
            // Machines without any root certificate can still talk to a server of their own.
            client = client.tls_certs_only([]);
        }
        let client = client.build();
        let client =
            client.map_err(|error| Failure::failed("no_client", format!("cannot create an HTTP client: {error}")))?;
        Ok(Self { client, base })
    }

    /// The server as it was named.
    pub(crate) fn name(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    pub(super) async fn send(&self, request: Request<Pieces>) -> Result<http::Response<Pieces>, Failure> {
        let (parts, pieces) = request.into_parts();
        let address = format!("{}{}", self.name(), parts.uri);
        let url = Url::parse(&address).ok().filter(|url| url.as_str() == address);
        let url =
            url.ok_or_else(|| Failure::failed("invalid", format!("a name in {} cannot be part of a URL", parts.uri)))?;
        let is_read = parts.method.is_safe();
        let mut call = self.client.request(parts.method, url).headers(parts.headers);
        if !is_read {
            call = call.body(Body::wrap_stream(pieces));
        }
        let response = call.send().await.map_err(|error| self.unanswered(&error, is_read))?;
        let mut given = http::Response::new(());
        *given.status_mut() = response.status();
        given.headers_mut().clone_from(response.headers());
        let pieces: Pieces = Box::pin(response.bytes_stream().map_err(io::Error::other));
        Ok(given.map(|()| pieces))
    }

    fn unanswered(&self, error: &reqwest::Error, is_read: bool) -> Failure {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let reason = cause.to_string();
        if error.is_connect() || is_read {
            return Failure::failed(UNREACHABLE, format!("cannot reach {}: {reason}", self.name()))
                .hint("start a server with `callboard serve`, or check --url or CALLBOARD_URL");
        }
        Failure::failed("unanswered", format!("{} gave no answer: {reason}", self.name()))
            .hint("the call may still have taken effect: check before you repeat it")
    }
}

/// The address of a server with its scheme.
fn with_scheme(url: &str) -> Cow<'_, str> {
    if url.contains("://") { url.into() } else { format!("http://{url}").into() }
}

/// The error code of a server that cannot be reached.
pub(super) const UNREACHABLE: &str = "unreachable";

/// Whether a server is on this machine, which is called without a proxy.
fn is_here(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_an_address_without_secrets() {
        for url in ["http://127.0.0.1:7420", "https://board.example/callboard/", "http://[::1]:1"] {
            assert!(Remote::new(url, Some("token")).is_ok(), "{url}");
        }
        for url in ["ftp://host", "http://", "https://me:secret@host", "me:secret@host", "http://h?token=secret", ""] {
            let failure = Remote::new(url, None).map(|_| ()).unwrap_err();
            assert!(failure.is_wrong_use && !failure.problem.detail.contains("secret"), "{url}: {failure:?}");
        }
    }

    #[test]
    fn an_address_without_a_scheme_is_one_of_http() {
        let name = |url: &str| Remote::new(url, None).unwrap().name().to_owned();
        assert_eq!(name("127.0.0.1:7420"), "http://127.0.0.1:7420");
        assert_eq!(name("localhost:7420/board/"), "http://localhost:7420/board");
        assert_eq!(name("board.example"), "http://board.example");
        assert_eq!(name("https://board.example"), "https://board.example");
    }

    #[test]
    fn only_this_machine_is_here() {
        let here = |url: &str| is_here(&Url::parse(url).unwrap());
        assert!(here("http://127.0.0.1:1") && here("http://localhost") && here("http://[::1]"));
        assert!(!here("http://board.example") && !here("http://10.0.0.1"));
    }
}
