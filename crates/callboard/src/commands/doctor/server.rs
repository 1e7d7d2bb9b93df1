//! Checks a server through its public calls.

use callboard_api as api;
use http::Method;
use serde_json::Value;

use super::Finding;
use crate::client::Client;

/// Checks that a server is reachable and ready, and what this caller may do.
pub(super) async fn look(server: &Client, url: &str, findings: &mut Vec<Finding>) {
    let health = match server.call(Method::GET, &["healthz"]).answer::<api::Health>().await {
        Ok(health) => health.it,
        Err(failure) => return findings.push(Finding::bad("server", failure.problem.detail)),
    };
    findings.push(Finding::good("server", format!("{url} is reachable, version {}", health.version)));
    findings.push(match server.call(Method::GET, &["readyz"]).answer::<api::Ready>().await {
        Ok(ready) => Finding::good("store", format!("reachable; {}", promise(&ready.it.durability))),
        Err(failure) => Finding::bad("store", failure.problem.detail),
    });
    let sessions = server.call(Method::GET, &["v1", "sessions"]).query("limit", 1).answer::<Value>().await;
    findings.push(match sessions {
        Ok(_) => Finding::good("rights", "full access"),
        // A token of one session is valid, but may not list all sessions.
        Err(failure) if failure.problem.code == "forbidden" => Finding::good("rights", failure.problem.detail),
        Err(failure) => Finding::bad("rights", failure.problem.detail),
    });
}

/// A store's durability, in the same words as for a store opened here.
fn promise(durability: &str) -> &str {
    use callboard_engine::store::Durability;
    Durability::named(durability).map_or("durability unknown", super::durability)
}
