//! The addresses of resources: `callboard://SESSION/…`.

use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::call::{ApiCall, Refusal, escaped};

const SCHEME: &str = "callboard://";
pub(crate) const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
/// How many of the newest messages the resource of a conversation shows.
const NEWEST: &str = "50";

/// A kind of resource: all that is known of it. Its addresses begin as the paths of the API below a session do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResourceKind {
    /// The first segment of its addresses; empty for the session itself.
    pub(crate) path: &'static str,
    /// The title of what has no name: the only one of its kind, or the list of all; none where there is no such.
    pub(crate) title: Option<&'static str>,
    /// With what the types of entries begin that change what has no name.
    changed_by: &'static [&'static str],
    /// Those that have names; none where there are none.
    pub(crate) each: Option<Each>,
}

/// The resources of a kind that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Each {
    /// What the name is called in templates.
    pub(crate) parameter: &'static str,
    /// What such a resource is.
    pub(crate) title: &'static str,
    /// The title of one; `{}` is its name.
    titled: &'static str,
    pub(crate) media_type: &'static str,
    /// The field of the API's answer that has its text; none where all of the answer is shown.
    text: Option<&'static str>,
    /// The first word of the types of entries about it.
    entries: &'static str,
    /// The field that has its name, in these entries and in lists of the API.
    pub(crate) key: &'static str,
}

static SESSION: ResourceKind = ResourceKind::at("", Some("The session"), &["session.", "agent."]);
static THREADS: ResourceKind = ResourceKind::at("threads", None, &[]).of(
    ("thread", "The newest messages of a conversation", "Conversation: {}"),
    (JSON, None),
    ("thread", "name"),
);
static PROMPTS: ResourceKind = ResourceKind::at("prompts", None, &[]).of(
    ("agent", "What an agent is shown now", "What {} is shown now"),
    (TEXT, Some("text")),
    ("agent", "name"),
);

/// All kinds of resources, in the order in which they are listed.
pub(crate) static KINDS: &[&ResourceKind] = &[
    &SESSION,
    &ResourceKind::at("context-sets", Some("All context sets"), &["context_set.", "directive."]).of(
        ("name", "A context set", "Context set: {}"),
        (TEXT, Some("content")),
        ("context_set", "name"),
    ),
    &THREADS,
    &ResourceKind::at("plan", Some("The plan"), &["plan."]),
    &ResourceKind::at("workflow", Some("The workflow"), &["workflow.", "node."]),
    &ResourceKind::at("documents", Some("Documents"), &["document."]).of(
        ("name", "A document", "Document: {}"),
        (TEXT, Some("text")),
        ("document", "name"),
    ),
    &ResourceKind::at("files", Some("Context files"), &["file."]).of(
        ("path", "A context file", "Context file: {}"),
        ("text/markdown", Some("content")),
        ("file", "path"),
    ),
    &PROMPTS,
];

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    kind: &'static ResourceKind,
    name: Option<String>,
}

/// A resource of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) session: String,
    pub(crate) place: Place,
}

impl ResourceKind {
    /// What is at this path, with the title of what has no name there.
    const fn at(path: &'static str, title: Option<&'static str>, changed_by: &'static [&'static str]) -> Self {
        Self { path, title, changed_by, each: None }
    }

    /// The same with what there is of each: its parameter and titles, its media type and the field with its text, and the word of
    /// entries about it and the field with its name.
    const fn of(
        self,
        (parameter, title, titled): (&'static str, &'static str, &'static str),
        (media_type, text): (&'static str, Option<&'static str>),
        (entries, key): (&'static str, &'static str),
    ) -> Self {
        Self { each: Some(Each { parameter, title, titled, media_type, text, entries, key }), ..self }
    }

    /// What of this kind has no name, if there is such.
    pub(crate) fn whole(&'static self) -> Option<Place> {
        self.title.map(|_| Place { kind: self, name: None })
    }

    /// The one with this name, if there are such.
    pub(crate) fn named(&'static self, name: String) -> Option<Place> {
        self.each.as_ref().map(|_| Place { kind: self, name: Some(name) })
    }
}

impl Place {
    /// The session: its team and settings.
    pub(crate) fn session() -> Self {
        Self { kind: &SESSION, name: None }
    }

    /// What an agent is shown now.
    pub(crate) fn prompt(agent: String) -> Self {
        Self { kind: &PROMPTS, name: Some(agent) }
    }

    /// The resource with a name that an entry of this type with this data is about.
    pub(crate) fn of_entry(kind: &str, data: &Value) -> Option<Self> {
        let named = |field: &str| data.get(field).and_then(Value::as_str).map(str::to_owned);
        let (word, _) = kind.split_once('.')?;
        if word == "message" {
            return THREADS.named(named("thread_id")?);
        }
        let kind = KINDS.iter().find(|kind| kind.each.is_some_and(|each| each.entries == word))?;
        kind.named(named(kind.each?.key)?)
    }

    /// The address in this session.
    pub(crate) fn address(&self, session: &str) -> String {
        let name = self.name.as_ref().map_or_else(String::new, |name| format!("/{}", escaped(name)));
        format!("{SCHEME}{}/{}{name}", escaped(session), self.kind.path)
    }

    /// What people are told that it is.
    pub(crate) fn title(&self) -> String {
        let whole = || self.kind.title.unwrap_or_default().to_owned();
        self.each().map_or_else(whole, |(name, each)| each.titled.replace("{}", name))
    }

    pub(crate) fn media_type(&self) -> &'static str {
        self.each().map_or(JSON, |(_, each)| each.media_type)
    }

    /// Its name, and what is known of those that have one; `None` where it has none.
    fn each(&self) -> Option<(&str, &'static Each)> {
        Some((self.name.as_deref()?, self.kind.each.as_ref()?))
    }

    /// The call that reads it.
    pub(crate) fn call(&self, session: &str) -> ApiCall {
        match (self.kind.path, &self.name) {
            ("", _) => ApiCall::get(session, &[]),
            ("prompts", Some(agent)) => ApiCall::on(session, Method::POST, &["prompt"]).with(json!({"agent": agent})),
            ("threads", Some(thread)) => ApiCall::get(session, &["threads", thread, "messages"]).query("limit", NEWEST),
            (path, Some(name)) => ApiCall::get(session, &[path, name]),
            (path, None) => ApiCall::get(session, &[path]),
        }
    }

    /// What the answer says of it.
    pub(crate) fn text(&self, answer: &Value) -> String {
        let Some((name, Each { text: Some(field), .. })) = self.each() else { return format!("{answer:#}") };
        let text = answer.get(*field).and_then(Value::as_str).map(str::to_owned);
        // A manager may know that it is there, and not what it says.
        text.unwrap_or_else(|| format!("[{name} is hidden from you]"))
    }

    /// Whether an event of this type with this data changes it.
    pub(crate) fn is_changed_by(&self, kind: &str, data: &Value) -> bool {
        match (self.kind.path, self.each()) {
            // It is made of all that its agent may see.
            ("prompts", _) => true,
            ("threads", _) => kind.starts_with("message.") && Self::of_entry(kind, data).as_ref() == Some(self),
            ("files", Some((path, _))) => {
                kind.starts_with("file.") && data.get("path").is_some_and(|other| is_same(path, other))
            }
            (_, Some(_)) => Self::of_entry(kind, data).as_ref() == Some(self),
            (_, None) => self.kind.changed_by.iter().any(|beginning| kind.starts_with(beginning)),
        }
    }
}

/// Whether a path is that of a context file, whole or below the session's folder.
fn is_same(path: &str, listed: &Value) -> bool {
    let listed = listed.as_str().and_then(|listed| listed.strip_suffix(path));
    listed.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

impl Resource {
    /// The resource with this address.
    pub(crate) fn at(address: &str) -> Result<Self, Refusal> {
        let unknown = || {
            Refusal::not_found(format!(
                "{address} is no resource: they begin with {SCHEME}SESSION/, and templates list them"
            ))
        };
        let mut segments = address.strip_prefix(SCHEME).ok_or_else(unknown)?.splitn(3, '/');
        let mut next = || segments.next().map(|text| percent_decode_str(text).decode_utf8_lossy().into_owned());
        let session = next().filter(|session| !session.is_empty()).ok_or_else(unknown)?;
        let path = next().unwrap_or_default();
        let kind = KINDS.iter().find(|kind| kind.path == path).ok_or_else(unknown)?;
        let place = match next().filter(|name| !name.is_empty()) {
            Some(name) => kind.named(name),
            None => kind.whole(),
        };
        let place = place.ok_or_else(unknown)?;
        Ok(Self { session, place })
    }

    pub(crate) fn address(&self) -> String {
        self.place.address(&self.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The resource with this name below `path`.
    fn named(path: &str, name: &str) -> Place {
        KINDS.iter().find(|kind| kind.path == path).and_then(|kind| kind.named(name.to_owned())).unwrap()
    }

    /// What has no name at `path`.
    fn whole(path: &str) -> Place {
        KINDS.iter().find(|kind| kind.path == path).and_then(|kind| kind.whole()).unwrap()
    }

    #[test]
    fn each_resource_is_found_by_its_address() {
        let names = |name: &'static str| KINDS.iter().filter_map(move |kind| kind.named(name.to_owned()));
        let plain = KINDS.iter().filter_map(|kind| kind.whole());
        let all: Vec<_> = plain.chain(names("Process Steps")).chain(names("agent:a/b?c#d%41\u{fc}")).collect();
        assert_eq!(all.len(), 16);
        for place in all {
            let resource = Resource { session: "20260101-000000-abcd:x".to_owned(), place };
            assert_eq!(Resource::at(&resource.address()).unwrap(), resource);
        }
        for wrong in [
            "",
            "callboard://",
            "http://a/plan",
            "callboard://a/dance",
            "callboard://a/threads",
            "callboard://a/plan/b",
        ] {
            assert!(Resource::at(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            Resource::at("callboard://a/files/.tmp/sessions/a.md").unwrap().place,
            named("files", ".tmp/sessions/a.md")
        );
    }

    #[test]
    fn an_event_changes_what_it_is_about() {
        let said = json!({"thread_id": "main", "content": "Hi"});
        assert!(named("threads", "main").is_changed_by("message.added", &said));
        assert!(!named("threads", "agent:a").is_changed_by("message.added", &said));
        assert!(
            named("prompts", "a").is_changed_by("message.added", &said)
                && !whole("plan").is_changed_by("message.added", &said)
        );
        assert!(named("context-sets", "Facts").is_changed_by("context_set.deleted", &json!({"name": "Facts"})));
        let added = json!({"path": ".tmp/sessions/s/features/login.md"});
        for (path, expected) in [
            (".tmp/sessions/s/features/login.md", true),
            ("features/login.md", true),
            ("in.md", false),
            ("features/logout.md", false),
        ] {
            assert_eq!(named("files", path).is_changed_by("file.added", &added), expected, "{path}");
        }
        assert!(whole("workflow").is_changed_by("node.created", &json!({})));
        assert!(named("documents", "a").is_changed_by("document.removed", &json!({"name": "a"})));
    }

    #[test]
    fn what_is_hidden_is_told_to_be_and_is_no_empty_text() {
        let [set, document] = [named("context-sets", "Plot"), named("documents", "guide.md")];
        assert_eq!(set.text(&json!({"name": "Plot", "content": ""})), "");
        assert_eq!(set.text(&json!({"name": "Plot"})), "[Plot is hidden from you]");
        assert_eq!(document.text(&json!({"text": "Tides rise."})), "Tides rise.");
        assert_eq!(document.text(&json!({"name": "guide.md"})), "[guide.md is hidden from you]");
    }
}
