//! Resources: what can be read, each with an address.

use http::StatusCode;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource as Listed, ResourceContents, ResourceTemplate};
use serde_json::Value;

use crate::{
    call::{ApiCall, Caller, Refusal, escaped},
    place::{Place, Resource, TEMPLATES},
};

impl Caller {
    /// What there is to read in the session, as far as the caller may see it; where no session is given, the sessions.
    pub(crate) async fn resources(&self) -> Result<ListResourcesResult, Refusal> {
        let Some(session) = self.scope.session.as_ref().map(ToString::to_string) else {
            let list = self.ask(ApiCall::new(http::Method::GET, &["v1", "sessions"]).query("order", "recent")).await?;
            let session = |one: &Value| {
                let id = one.get("id")?.as_str()?;
                let title = one.get("title").and_then(Value::as_str).unwrap_or(id);
                Some(listed(&Place::Session, id, title))
            };
            return Ok(ListResourcesResult::with_all_items(items(&list, "sessions").filter_map(session).collect()));
        };
        let asker = self.asker(&session).await?;
        let mut all = vec![
            listed(&Place::Session, &session, "The session"),
            listed(&Place::Sets, &session, "All context sets"),
            listed(&Place::Plan, &session, "The plan"),
            listed(&Place::Workflow, &session, "The workflow"),
            listed(&Place::Documents, &session, "Documents"),
            listed(&Place::Files, &session, "Context files"),
        ];
        for name in self.names(&session, "context-sets", "context_sets", "name").await? {
            let title = format!("Context set: {name}");
            all.push(listed(&Place::Set(name), &session, &title));
        }
        for name in self.names(&session, "threads", "threads", "name").await? {
            let title = format!("Conversation: {name}");
            all.push(listed(&Place::Thread(name), &session, &title));
        }
        for name in self.names(&session, "documents", "documents", "name").await? {
            let title = format!("Document: {name}");
            all.push(listed(&Place::Document(name), &session, &title));
        }
        let files = match self.names(&session, "files", "files", "path").await {
            // Not every server has a folder with context files.
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Vec::new(),
            files => files?,
        };
        for path in files {
            let title = format!("Context file: {path}");
            all.push(listed(&Place::File(path), &session, &title));
        }
        for name in self.prompted(&session, &asker).await? {
            let title = format!("What {name} is shown now");
            all.push(listed(&Place::Prompt(name), &session, &title));
        }
        Ok(ListResourcesResult::with_all_items(all))
    }

    /// What all things in a list have as their `key`, page by page.
    async fn names(&self, session: &str, path: &str, field: &str, key: &str) -> Result<Vec<String>, Refusal> {
        let (mut names, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let call = ApiCall::get(session, &[path]);
            let list = self.ask(cursor.iter().fold(call, |call, cursor| call.query("cursor", cursor))).await?;
            names.extend(items(&list, field).filter_map(|one| Some(one.get(key)?.as_str()?.to_owned())));
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
        let templates = TEMPLATES.iter().map(|template| {
            ResourceTemplate::new(format!("callboard://{session}/{}", template.path), template.title)
                .with_mime_type(template.media_type)
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
