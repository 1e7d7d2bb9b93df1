//! What somebody may have meant who named an agent, a thread, a context set or a form that is not there.

use callboard_api as api;
use http::Method;

use super::{Body, Call, Client};
use crate::{because::Because, failure::Failure};

/// So many letters may be wrong, missing, too many or swapped.
const MAX_DISTANCE: usize = 2;

/// The same failure of a call to `address`, with the name that was probably meant.
pub(super) async fn explained(client: &Client, address: &str, failure: Failure) -> Failure {
    let Some(meant) = meant(client, address, &failure).await else { return failure };
    let more = failure.problem.hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
    failure.hint(format!("did you mean {meant}?{more}"))
}

/// The thing whose name is almost the one that is not there. Only those that the caller sees are looked at.
async fn meant(client: &Client, address: &str, failure: &Failure) -> Option<String> {
    let resource = failure.problem.resource.as_deref()?;
    let what = resource.replace('_', " ");
    let typed = failure.problem.detail.strip_prefix("there is no ")?.strip_prefix(what.as_str())?.trim_start();
    let typed: String = serde_json::from_str(typed).ok()?;
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let session = path.strip_prefix("/v1/sessions/")?.split('/').next()?;
    let acting_as = query.split('&').find(|part| part.starts_with("as=")).map(|part| format!("?{part}"));
    let of = |list: &str| format!("/v1/sessions/{session}/{list}{}", acting_as.as_deref().unwrap_or_default());
    let names = match resource {
        "agent" => agents(client, session).await,
        "thread" => threads(client, of("threads")).await,
        "context_set" => sets(client, of("context-sets")).await,
        "form" => forms(client, of("forms")).await,
        _ => return None,
    };
    nearest(&typed, &names.ok()?)
}

async fn agents(client: &Client, session: &str) -> Result<Vec<String>, Failure> {
    let session = get(client, format!("/v1/sessions/{session}")).sent().await?.read::<api::Session>().await?.it;
    Ok(session.agents.iter().map(|agent| agent.name.to_string()).collect())
}

async fn threads(client: &Client, address: String) -> Result<Vec<String>, Failure> {
    let list = get(client, address).sent().await?.read::<api::ThreadList>().await?.it;
    Ok(list.threads.iter().map(|thread| thread.name.to_string()).collect())
}

async fn sets(client: &Client, address: String) -> Result<Vec<String>, Failure> {
    let list = get(client, address).sent().await?.read::<api::ContextSetList>().await?.it;
    Ok(list.context_sets.iter().map(|set| set.name.to_string()).collect())
}

async fn forms(client: &Client, address: String) -> Result<Vec<String>, Failure> {
    let list = get(client, address).sent().await?.read::<api::FormList>().await?.it;
    Ok(list.forms.iter().map(|listed| listed.form.name.to_string()).collect())
}

fn get(client: &Client, address: String) -> Call<'_> {
    Call { client, method: Method::GET, address, body: Body::Nothing, because: Because::Option }
}

/// The name that is spelled almost like what was typed, if there is one.
fn nearest(typed: &str, names: &[String]) -> Option<String> {
    let names = names.iter().map(|name| (strsim::osa_distance(typed, name), name));
    // Every short name is near another one.
    let near = names.filter(|(distance, _)| *distance <= MAX_DISTANCE && *distance < typed.chars().count());
    near.min().map(|(_, name)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_suggested_only_where_it_is_near() {
        let names = ["main", "writer", "b"].map(str::to_owned);
        assert_eq!(nearest("mian", &names).as_deref(), Some("main"));
        assert_eq!(nearest("writr", &names).as_deref(), Some("writer"));
        assert_eq!([nearest("notes", &names), nearest("a", &names), nearest("main", &[])], [None, None, None]);
    }
}
