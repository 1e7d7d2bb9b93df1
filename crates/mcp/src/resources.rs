//! Resources: what can be read, each with an address.

use http::StatusCode;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource as Listed, ResourceContents, ResourceTemplate};
use serde_json::Value;

use crate::{
    call::{ApiCall, Caller, Refusal, escaped},
    place::{JSON, KINDS, Place, Resource},
};

impl Caller {
    /// What there is to read in the session, as far as the caller may see it; where no session is given, the sessions.
    pub(crate) async fn resources(&self) -> Result<ListResourcesResult, Refusal> {
        let Some(session) = self.scope.session.as_ref().map(ToString::to_string) else {
            // Which sessions there are, agents do not know.
            if self.scope.acting_as.is_some() {
                return Ok(ListResourcesResult::with_all_items(Vec::new()));
            }
            let list = self.ask(ApiCall::new(http::Method::GET, &["v1", "sessions"]).query("order", "recent")).await?;
            let session = |one: &Value| {
                let id = one.get("id")?.as_str()?;
                let title = one.get("title").and_then(Value::as_str).unwrap_or(id);
                Some(listed(&Place::session(), id, title))
            };
            return Ok(ListResourcesResult::with_all_items(items(&list, "sessions").filter_map(session).collect()));
        };
        let asker = self.asker(&session).await?;
        let titled = |place: Place| listed(&place, &session, &place.title());
        let mut all: Vec<Listed> = KINDS.iter().filter_map(|kind| kind.whole()).map(titled).collect();
        for kind in KINDS {
            let Some(each) = &kind.each else { continue };
            let names = match kind.path {
                "prompts" => self.prompted(&session, &asker).await,
                path => self.names(&session, path, each.key).await,
            };
            let names = match names {
                // Not every server has a folder with context files.
                Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Vec::new(),
                names => names?,
            };
            all.extend(names.into_iter().filter_map(|name| kind.named(name)).map(titled));
        }
        Ok(ListResourcesResult::with_all_items(all))
    }

    /// What all things in the list at `path` have as their `key`, page by page.
    async fn names(&self, session: &str, path: &str, key: &str) -> Result<Vec<String>, Refusal> {
        let field = path.replace('-', "_");
        let (mut names, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let call = ApiCall::get(session, &[path]);
            let list = self.ask(cursor.iter().fold(call, |call, cursor| call.query("cursor", cursor))).await?;
            names.extend(items(&list, &field).filter_map(|one| Some(one.get(key)?.as_str()?.to_owned())));
            cursor = list.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                return Ok(names);
            }
        }
    }

    /// Reads a resource.
    pub(crate) async fn resource(&self, address: &str) -> Result<ReadResourceResult, Refusal> {
        let Resource { session, place } = Resource::at(address)?;
        let session = self.session(Some(&session))?;
        let answer = self.ask(place.call(&session)).await?;
        let contents = ResourceContents::text(place.text(&answer), address).with_mime_type(place.media_type());
        Ok(ReadResourceResult::new(vec![contents]))
    }

    /// The kinds of resources whose addresses have names in them.
    pub(crate) fn templates(&self) -> Vec<ResourceTemplate> {
        let session = self.scope.session.as_ref().map_or_else(|| "{session}".to_owned(), |id| escaped(id.as_str()));
        let templates = KINDS.iter().filter_map(|kind| {
            let (path, title, media_type) = match (&kind.each, kind.title) {
                (Some(each), _) => (format!("{}/{{{}}}", kind.path, each.parameter), each.title, each.media_type),
                (None, Some(title)) if !kind.path.is_empty() => (kind.path.to_owned(), title, JSON),
                _ => return None,
            };
            Some(ResourceTemplate::new(format!("callboard://{session}/{path}"), title).with_mime_type(media_type))
        });
        templates.collect()
    }
}

/// The things in a list.
pub(crate) fn items<'a>(list: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    list.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn listed(place: &Place, session: &str, title: &str) -> Listed {
    Listed::new(place.address(session), title).with_mime_type(place.media_type())
}
