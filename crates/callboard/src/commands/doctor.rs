//! `callboard doctor`.

use std::{process::ExitCode, sync::Arc};

use callboard_api as api;
use callboard_engine::{Progress, Survey, store::Durability};
use callboard_model::{ModelName, Provider};
use callboard_store::Store;
use clap::Args;
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::durability;
use crate::{
    cli::Global,
    client::{Client, Remote},
    config::{self, ConnectionTarget},
    failure::{Failure, causes},
    master_keys,
    output::{Output, Style, counted},
};

/// Check the store and the model, and report problems
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  callboard doctor\n  callboard doctor --no-model --store sqlite:team.db")]
pub(crate) struct Doctor {
    /// Do not check the model
    #[arg(long)]
    pub(crate) no_model: bool,
}

/// The result of one check.
#[derive(Serialize)]
struct Finding {
    /// What was checked.
    what: String,
    ok: bool,
    /// What was found.
    detail: String,
}

impl Finding {
    fn good(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), ok: true, detail: detail.into() }
    }

    fn bad(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), ok: false, detail: detail.into() }
    }
}

pub(super) async fn doctor(global: &Global, args: &Doctor, output: Output) -> Result<ExitCode, Failure> {
    let mut findings = vec![Finding::good("callboard", env!("CARGO_PKG_VERSION"))];
    match config::connection_target(global)? {
        ConnectionTarget::Server(url) => {
            let client = Client::Remote(Remote::new(&url, config::token(global)?.as_deref())?);
            server(&client, &url, &mut findings).await;
        }
        ConnectionTarget::Store(url) => {
            store(global, &url, &mut findings).await;
            if !args.no_model {
                models(&mut findings).await;
            }
        }
    }
    let ok = findings.iter().all(|finding| finding.ok);
    output.answer(&json!({"ok": ok, "findings": findings}), |output| {
        findings.iter().for_each(|finding| show(finding, output));
    });
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks that a server is reachable and ready, and what this caller may do.
async fn server(server: &Client, url: &str, findings: &mut Vec<Finding>) {
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
fn promise(word: &str) -> &str {
    Durability::named(word).map_or("durability unknown", durability)
}

/// Checks a store and all that is in it.
async fn store(global: &Global, url: &str, findings: &mut Vec<Finding>) {
    if config::is_missing(url) {
        let shown = config::shown(url);
        return findings.push(match &global.store {
            Some(_) => Finding::bad("store", format!("there is no store at {shown}")),
            None => Finding::good("store", format!("{shown} does not exist yet: the first session creates it")),
        });
    }
    let store = match callboard_store::open(url, config::store_settings(global)).await {
        Ok(store) => store,
        Err(error) => return findings.push(Finding::bad("store", causes(&error))),
    };
    let promise = durability(store.durability());
    findings.push(Finding::good("store", format!("{}; {promise}", config::shown(url))));
    findings.extend(master_key(url));
    findings.extend(store.warnings().into_iter().map(|remark| Finding::good("note", remark)));
    sessions(&store, findings).await;
}

/// Whether the master key can be read, where there is one already.
fn master_key(url: &str) -> Option<Finding> {
    let known = match master_keys::known(url, None) {
        Ok(known) => known,
        Err(problem) => return Some(Finding::bad("secrets", problem)),
    };
    known.map(|(keys, place)| Finding::good("secrets", format!("{}, {place}", counted(keys.len(), "master key"))))
}

/// Checks every session. Intact ones are counted, damaged ones are named.
async fn sessions(store: &Arc<dyn Store>, findings: &mut Vec<Finding>) {
    match callboard_engine::check(store, &Progress::default()).await {
        Ok(Survey { sessions, entries, faults }) => {
            findings.extend(faults.into_iter().map(|(id, fault)| Finding::bad(format!("session {id}"), fault)));
            findings.push(Finding::good(
                "sessions",
                format!("{} intact, with {}", counted(sessions, "session"), counted(entries, "entry")),
            ));
        }
        Err(error) => findings.push(Finding::bad("sessions", causes(&error))),
    }
}

/// What is said where no model is set up, which is no fault: only runs need one.
const NO_MODEL: &str = "none is set up. Only runs need one: set CALLBOARD_MODEL, and OPENAI_BASE_URL or an API key";

/// Checks the endpoint of the default model, and each other one that there is.
async fn models(findings: &mut Vec<Finding>) {
    let (endpoints, named) = (config::endpoints(), config::default_model());
    let parsed: Option<Result<ModelName, _>> = named.as_deref().map(str::parse);
    let default = match &parsed {
        Some(Ok(named)) => Some(named.provider()),
        Some(Err(error)) => return findings.push(Finding::bad("model", error.to_string())),
        None => None,
    };
    let is_there = |provider: &Provider| default == Some(*provider) || endpoints.check(*provider).is_ok();
    let there: Vec<_> = [Provider::OpenAi, Provider::Anthropic].into_iter().filter(is_there).collect();
    if there.is_empty() {
        return findings.push(Finding::good("model", NO_MODEL));
    }
    for provider in there {
        let named = named.as_deref().filter(|_| default == Some(provider));
        findings.push(match endpoints.models(provider).await {
            Ok(models) => listed(provider, &models, named, default.is_some()),
            Err(error) => Finding::bad("model", error.to_string()),
        });
    }
}

/// Whether an endpoint lists the default model, where that is one of its provider's.
fn listed(provider: Provider, models: &[String], named: Option<&str>, is_any_named: bool) -> Finding {
    let there = models.join(", ");
    match named {
        None if is_any_named => Finding::good("model", format!("the {} endpoint has: {there}", provider.as_str())),
        None => Finding::good("model", format!("none is set (CALLBOARD_MODEL); the endpoint has: {there}")),
        Some(named) if models.iter().any(|model| named.ends_with(model.as_str())) => {
            Finding::good("model", format!("{named} is available"))
        }
        Some(named) => Finding::bad("model", format!("the endpoint does not list {named}; it has: {there}")),
    }
}

fn show(finding: &Finding, output: Output) {
    let (style, mark) = if finding.ok { (Style::Good, "ok   ") } else { (Style::Bad, "WRONG") };
    output.line(format!("{} {}: {}", output.paint(style, mark), finding.what, finding.detail));
}
