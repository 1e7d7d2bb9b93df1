//! The URL under which browsers reach the server, behind a proxy.

use std::str::FromStr;

use axum::http::{Uri, uri::Authority};

/// The URL under which browsers reach the server, such as `https://board.example/team`. A proxy there takes the path away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: String,
    authority: Authority,
    path: String,
}

impl PublicUrl {
    /// Its path without a `/` at the end: empty where there is none.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether browsers reach it over HTTPS.
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    /// Whether requests with this header `Host` are for it.
    pub(crate) fn is_host(&self, host: &Authority) -> bool {
        self.authority.as_str().eq_ignore_ascii_case(host.as_str())
    }

    /// Whether web pages of this origin are its own.
    pub(crate) fn is_origin(&self, origin: &str) -> bool {
        origin.eq_ignore_ascii_case(&format!("{}://{}", self.scheme, self.authority))
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a URL for browsers: use http:// or https://, a host and perhaps a path of letters, digits \
                 and -._~, for instance https://board.example/team"
            )
        };
        let parts = text.parse::<Uri>().map_err(|_| wrong())?.into_parts();
        let scheme = parts.scheme.map(|scheme| scheme.to_string()).unwrap_or_default();
        let authority = parts.authority.filter(|authority| !authority.as_str().contains('@')).ok_or_else(wrong)?;
        let path = parts.path_and_query.map(|path| path.to_string()).unwrap_or_default();
        let path = path.trim_end_matches('/').to_owned();
        let is_plain = path.chars().all(|char| char.is_ascii_alphanumeric() || "-._~/".contains(char));
        let is_walk = path.split('/').skip(1).any(|name| ["", ".", ".."].contains(&name));
        if !["http", "https"].contains(&&*scheme) || !is_plain || is_walk || text.contains('#') {
            return Err(wrong());
        }
        Ok(Self { scheme, authority, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_has_a_scheme_a_host_and_perhaps_a_path() {
        let url: PublicUrl = "https://board.example/team/".parse().unwrap();
        assert!(url.path() == "/team" && url.is_secure() && url.is_origin("https://Board.example"));
        let url: PublicUrl = "http://localhost:5173".parse().unwrap();
        assert!(url.path().is_empty() && !url.is_secure() && url.is_host(&"localhost:5173".parse().unwrap()));
        let wrong =
            ["board.example", "https://", "ftp://x/", "https://me@x", "https://x/?a", "https://x/\"b", "https://x/#a"];
        for wrong in wrong.into_iter().chain(["https://x//evil", "https://x/../a"]) {
            assert!(wrong.parse::<PublicUrl>().is_err(), "{wrong}");
        }
    }
}
