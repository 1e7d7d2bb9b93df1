//! Checks the headers `Host` and `Origin`, against web pages of other sites.
//!
//! A page in a browser can send requests to this machine. If its own host name points here (DNS rebinding), it can read the
//! answers too. So the host has to be one of this server's, and the origin, if a browser sends one, has to match it.

use axum::{
    extract::Request,
    http::{header, uri::Authority},
};

use crate::{app::App, call_error::CallError, header::one};

/// Refuses requests for other hosts, and from web pages of other origins.
pub(crate) fn check(app: &App, request: &Request) -> Result<(), CallError> {
    let host = host(request).ok_or_else(|| CallError::new("bad_host", "the header Host is missing or malformed"))?;
    if !is_ours(app, &host) {
        let detail = format!("this server does not serve the host {}", host.host());
        let hint = "call it by its address, or start it with `--host NAME`";
        return Err(CallError::new("host_refused", detail).hint(hint));
    }
    let origin = one(request.headers(), header::ORIGIN.as_str());
    let origin = origin.map_err(|()| CallError::new("bad_origin", "the header Origin is malformed"))?;
    let Some(origin) = origin else { return Ok(()) };
    let own = |scheme: &str| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}"));
    let scheme = if app.settings.tls.is_some() { "https" } else { "http" };
    let listed = app.settings.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
    let public = app.settings.public_url.as_ref().is_some_and(|url| url.is_origin(origin));
    if own(scheme) || listed || public {
        return Ok(());
    }
    let detail = "web pages of this origin may not call this server";
    Err(CallError::new("origin_refused", detail).hint("start it with `--origin ORIGIN`"))
}

fn host(request: &Request) -> Option<Authority> {
    match request.uri().authority() {
        Some(authority) => Some(authority.clone()),
        None => one(request.headers(), header::HOST.as_str()).ok()??.parse().ok(),
    }
}

fn is_ours(app: &App, host: &Authority) -> bool {
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    let listed = || {
        let named =
            |known: &String| known.eq_ignore_ascii_case(host.host()) || known.eq_ignore_ascii_case(host.as_str());
        app.settings.hosts.iter().any(named)
    };
    let public = || app.settings.public_url.as_ref().is_some_and(|url| url.is_host(host));
    let address = name.parse::<std::net::IpAddr>().ok();
    if name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    // Other addresses require a token, which no page of another site has.
    listed() || public() || (!app.is_loopback && app.settings.hosts.is_empty())
}
