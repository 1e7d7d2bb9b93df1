//! The page for people: files that are part of the program, compressed.

use std::io::Read as _;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_core::entry::Hash;
use flate2::read::GzDecoder;

use crate::public_url::PublicUrl;

/// The files by their paths, compressed with gzip.
static FILES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The file that browsers begin with.
const INDEX: &str = "index.html";

/// What the index says where it lies; links in it are relative to that.
const BASE: &str = r#"<base href="/">"#;

/// What a browser may do with the page: load what belongs to it, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'none'; \
    frame-ancestors 'none'";

/// The page as a server shows it.
pub(crate) struct Page {
    /// The index, with the path below which the server is reached.
    index: Vec<u8>,
}

impl Page {
    /// The page of a server with this URL.
    pub(crate) fn new(url: Option<&PublicUrl>) -> Self {
        let index = FILES.iter().find(|(path, _)| *path == INDEX).map(|(_, file)| unpacked(file)).unwrap_or_default();
        let path = url.map_or("", PublicUrl::path);
        let base = format!(r#"<base href="{path}/">"#);
        Self { index: String::from_utf8_lossy(&index).replacen(BASE, &base, 1).into_bytes() }
    }

    /// What browsers begin with.
    pub(crate) fn index(&self, headers: &HeaderMap) -> Response {
        answer(INDEX, headers, &self.index, None)
    }

    /// The answer to a request for this path, if something of the page is there: a file, or a view of a session, which
    /// the index shows.
    pub(crate) fn at(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let path = path.strip_prefix('/')?;
        if path.is_empty() || path == INDEX || path.starts_with("sessions/") {
            return Some(self.index(headers));
        }
        let (name, file) = FILES.iter().find(|(name, _)| *name == path)?;
        Some(match takes_gzip(headers) {
            true => answer(name, headers, file, Some("gzip")),
            false => answer(name, headers, &unpacked(file), None),
        })
    }
}

/// An answer with the content of a file, or that it is as the browser has it.
fn answer(name: &str, headers: &HeaderMap, content: &[u8], encoding: Option<&'static str>) -> Response {
    let tag = format!("\"{}\"", Hash::of(content));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok()).unwrap_or_default();
    let is_known = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
    // The names of these files change with what is in them.
    let cached = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Body::from(content.to_vec()).into_response(),
    };
    let mut put = |name: HeaderName, value: &str| {
        response.headers_mut().extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
    };
    put(header::CONTENT_TYPE, kind(name));
    put(header::CACHE_CONTROL, cached);
    put(header::ETAG, &tag);
    put(header::VARY, "Accept-Encoding");
    put(header::CONTENT_SECURITY_POLICY, POLICY);
    put(header::REFERRER_POLICY, "no-referrer");
    if let Some(encoding) = encoding.filter(|_| !is_known) {
        put(header::CONTENT_ENCODING, encoding);
    }
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|codings| codings.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

fn unpacked(file: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    // It was compressed when the program was built.
    let _ = GzDecoder::new(file).read_to_end(&mut content);
    content
}

/// The media type of a file, by the end of its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
