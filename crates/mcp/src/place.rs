//! The addresses of resources: `callboard://SESSION/…`.

use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::call::{ApiCall, Refusal, escaped};

const SCHEME: &str = "callboard://";
/// How many of the newest messages the resource of a conversation shows.
const NEWEST: &str = "50";

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The session: its team and settings.
    Session,
    /// All context sets.
    Sets,
    Set(String),
    /// The newest messages of a conversation.
    Thread(String),
    Plan,
    Workflow,
    /// The list of documents.
    Documents,
    Document(String),
    /// The list of context files.
    Files,
    File(String),
    /// What an agent is shown now.
    Prompt(String),
}

/// A resource of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) session: String,
    pub(crate) place: Place,
}

/// A kind of resource whose address has a name in it, and what it is.
pub(crate) struct Template {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) media_type: &'static str,
}

pub(crate) const TEMPLATES: &[Template] = &[
    Template { path: "context-sets/{name}", title: "A context set", media_type: "text/plain" },
    Template {
        path: "threads/{thread}",
        title: "The newest messages of a conversation",
        media_type: "application/json",
    },
    Template { path: "plan", title: "The plan", media_type: "application/json" },
    Template { path: "workflow", title: "The workflow", media_type: "application/json" },
    Template { path: "documents/{name}", title: "A document", media_type: "text/plain" },
    Template { path: "files/{path}", title: "A context file", media_type: "text/markdown" },
    Template { path: "prompts/{agent}", title: "What an agent is shown now", media_type: "text/plain" },
];

impl Place {
    /// The address in this session.
    pub(crate) fn address(&self, session: &str) -> String {
        let path = match self {
            Self::Session => String::new(),
            Self::Sets => "context-sets".to_owned(),
            Self::Set(name) => format!("context-sets/{}", escaped(name)),
            Self::Thread(thread) => format!("threads/{}", escaped(thread)),
            Self::Plan => "plan".to_owned(),
            Self::Workflow => "workflow".to_owned(),
            Self::Documents => "documents".to_owned(),
            Self::Document(name) => format!("documents/{}", escaped(name)),
            Self::Files => "files".to_owned(),
            Self::File(path) => format!("files/{}", escaped(path)),
            Self::Prompt(agent) => format!("prompts/{}", escaped(agent)),
        };
        format!("{SCHEME}{}/{path}", escaped(session))
    }

    pub(crate) fn media_type(&self) -> &'static str {
        match self {
            Self::Set(_) | Self::Document(_) | Self::Prompt(_) => "text/plain",
            Self::File(_) => "text/markdown",
            _ => "application/json",
        }
    }

    /// The call that reads it.
    pub(crate) fn call(&self, session: &str) -> ApiCall {
        match self {
            Self::Session => ApiCall::get(session, &[]),
            Self::Sets => ApiCall::get(session, &["context-sets"]),
            Self::Set(name) => ApiCall::get(session, &["context-sets", name]),
            Self::Thread(thread) => ApiCall::get(session, &["threads", thread, "messages"]).query("limit", NEWEST),
            Self::Plan => ApiCall::get(session, &["plan"]),
            Self::Workflow => ApiCall::get(session, &["workflow"]),
            Self::Documents => ApiCall::get(session, &["documents"]),
            Self::Document(name) => ApiCall::get(session, &["documents", name]),
            Self::Files => ApiCall::get(session, &["files"]),
            Self::File(path) => ApiCall::get(session, &["files", path]),
            Self::Prompt(agent) => ApiCall::on(session, Method::POST, &["prompt"]).with(json!({"agent": agent})),
        }
    }

    /// What the answer says of it.
    pub(crate) fn text(&self, answer: &Value) -> String {
        let text = |field: &str| answer.get(field).and_then(Value::as_str).map(str::to_owned);
        // A manager may know that it is there, and not what it says.
        let hidden = |name: &str| format!("[{name} is hidden from you]");
        match self {
            Self::Set(name) => text("content").unwrap_or_else(|| hidden(name)),
            Self::Document(name) => text("text").unwrap_or_else(|| hidden(name)),
            Self::File(_) => text("content").unwrap_or_default(),
            Self::Prompt(_) => text("text").unwrap_or_default(),
            _ => format!("{answer:#}"),
        }
    }

    /// Whether an event of this type with this data changes it.
    pub(crate) fn is_changed_by(&self, kind: &str, data: &Value) -> bool {
        let is = |field: &str, name: &str| data.get(field).and_then(Value::as_str) == Some(name);
        match self {
            // It is made of all that its agent may see.
            Self::Prompt(_) => true,
            Self::Session => kind.starts_with("session.") || kind.starts_with("agent."),
            Self::Sets => kind.starts_with("context_set.") || kind.starts_with("directive."),
            Self::Set(name) => kind.starts_with("context_set.") && is("name", name),
            Self::Thread(thread) => kind.starts_with("message.") && is("thread_id", thread),
            Self::Plan => kind.starts_with("plan."),
            Self::Workflow => kind.starts_with("workflow.") || kind.starts_with("node."),
            Self::Documents => kind.starts_with("document."),
            Self::Document(name) => kind.starts_with("document.") && is("name", name),
            Self::Files => kind.starts_with("file."),
            Self::File(path) => kind.starts_with("file.") && data.get("path").is_some_and(|other| is_same(path, other)),
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
        let place = match (next().unwrap_or_default().as_str(), next().filter(|name| !name.is_empty())) {
            ("", None) => Place::Session,
            ("context-sets", None) => Place::Sets,
            ("context-sets", Some(name)) => Place::Set(name),
            ("threads", Some(thread)) => Place::Thread(thread),
            ("plan", None) => Place::Plan,
            ("workflow", None) => Place::Workflow,
            ("documents", None) => Place::Documents,
            ("documents", Some(name)) => Place::Document(name),
            ("files", None) => Place::Files,
            ("files", Some(path)) => Place::File(path),
            ("prompts", Some(agent)) => Place::Prompt(agent),
            _ => return Err(unknown()),
        };
        Ok(Self { session, place })
    }

    pub(crate) fn address(&self) -> String {
        self.place.address(&self.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_is_found_by_its_address() {
        let names = |name: &str| {
            [
                Place::Set(name.to_owned()),
                Place::Thread(name.to_owned()),
                Place::Document(name.to_owned()),
                Place::File(name.to_owned()),
                Place::Prompt(name.to_owned()),
            ]
        };
        let plain = [Place::Session, Place::Sets, Place::Plan, Place::Workflow, Place::Documents, Place::Files];
        let all = plain.into_iter().chain(names("Process Steps")).chain(names("agent:a/b?c#d%41\u{fc}"));
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
            Place::File(".tmp/sessions/a.md".to_owned())
        );
    }

    #[test]
    fn an_event_changes_what_it_is_about() {
        let said = json!({"thread_id": "main", "content": "Hi"});
        assert!(Place::Thread("main".to_owned()).is_changed_by("message.added", &said));
        assert!(!Place::Thread("agent:a".to_owned()).is_changed_by("message.added", &said));
        assert!(
            Place::Prompt("a".to_owned()).is_changed_by("message.added", &said)
                && !Place::Plan.is_changed_by("message.added", &said)
        );
        assert!(Place::Set("Facts".to_owned()).is_changed_by("context_set.deleted", &json!({"name": "Facts"})));
        let added = json!({"path": ".tmp/sessions/s/features/login.md"});
        for (path, expected) in [
            (".tmp/sessions/s/features/login.md", true),
            ("features/login.md", true),
            ("in.md", false),
            ("features/logout.md", false),
        ] {
            assert_eq!(Place::File(path.to_owned()).is_changed_by("file.added", &added), expected, "{path}");
        }
        assert!(Place::Workflow.is_changed_by("node.created", &json!({})));
        assert!(Place::Document("a".to_owned()).is_changed_by("document.removed", &json!({"name": "a"})));
    }

    #[test]
    fn what_is_hidden_is_told_to_be_and_is_no_empty_text() {
        let [set, document] = [Place::Set("Plot".to_owned()), Place::Document("guide.md".to_owned())];
        assert_eq!(set.text(&json!({"name": "Plot", "content": ""})), "");
        assert_eq!(set.text(&json!({"name": "Plot"})), "[Plot is hidden from you]");
        assert_eq!(document.text(&json!({"text": "Tides rise."})), "Tides rise.");
        assert_eq!(document.text(&json!({"name": "guide.md"})), "[guide.md is hidden from you]");
    }
}
