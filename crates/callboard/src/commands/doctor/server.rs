//! Checking a server, as far as it says anything of itself.

use callboard_api as api;
use http::Method;
use serde_json::Value;

use super::Finding;
use crate::client::Client;

/// Checks whether a server is there, can be used, and lets this caller in.
pub(super) async fn look(server: &Client, url: &str, findings: &mut Vec<Finding>) {
    let health = match server.call(Method::GET, &["healthz"]).answer::<api::Health>().await {
        Ok(health) => health.it,
        Err(failure) => return findings.push(Finding::bad("server", failure.problem.detail)),
    };
    findings.push(Finding::good("server", format!("{url} is there, version {}", health.version)));
    findings.push(match server.call(Method::GET, &["readyz"]).answer::<api::Ready>().await {
        Ok(ready) => Finding::good("store", format!("it answers; {}", promise(&ready.it.durability))),
        Err(failure) => Finding::bad("store", failure.problem.detail),
    });
    let sessions = server.call(Method::GET, &["v1", "sessions"]).query("limit", 1).answer::<Value>().await;
    findings.push(match sessions {
        Ok(_) => Finding::good("rights", "the server lets you do all"),
        // A token of one session is a good one: it just does not open the list of all.
        Err(failure) if failure.problem.code == "forbidden" => Finding::good("rights", failure.problem.detail),
        Err(failure) => Finding::bad("rights", failure.problem.detail),
    });
}

/// What a store promises, in the words that are used of a store at hand.
fn promise(durability: &str) -> &str {
    use callboard_engine::store::Durability;
    match durability {
        "process" => super::durability(Durability::Process),
        "normal" => super::durability(Durability::Normal),
        "full" => super::durability(Durability::Full),
        _ => "what a change has survived it does not say",
    }
}
