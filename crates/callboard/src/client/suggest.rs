//! What somebody may have meant who named an agent, a thread, a context set or a form that is not there.

use http::Method;
use serde_json::Value;

use super::{Call, Client};
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
    let (address, list) = match resource {
        "agent" => (format!("/v1/sessions/{session}"), "agents"),
        "thread" => (of("threads"), "threads"),
        "context_set" => (of("context-sets"), "context_sets"),
        "form" => (of("forms"), "forms"),
        _ => return None,
    };
    let call = Call { client, method: Method::GET, address, body: None, because: Because::Option };
    let answer = call.sent().await.ok()?.read::<Value>().await.ok()?.it;
    let things = answer.get(list)?.as_array()?;
    let names: Vec<_> = things.iter().filter_map(|thing| thing.get("name")?.as_str().map(str::to_owned)).collect();
    nearest(&typed, &names)
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
