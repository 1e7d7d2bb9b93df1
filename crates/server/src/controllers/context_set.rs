//! Context sets.

pub(super) mod delete;
pub(super) mod list;
pub(super) mod put;
pub(super) mod read;

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    context_set::{Held, SetView, hidden_from_agents},
    count::Tokens,
    form::Field,
    id::{AgentName, SetName},
    text::Text,
    time::Timestamp,
    view::View,
};
use callboard_engine::Session;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{problem::Problem, shape};

/// A context set, as far as its reader may know it.
#[derive(Serialize, ToSchema)]
#[schema(as = ContextSet)]
pub(crate) struct SetBody {
    #[schema(value_type = String)]
    name: SetName,
    /// Left out where the manager sees that there is such a set, and not what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    content: Option<Arc<str>>,
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
    #[schema(value_type = Vec<String>)]
    hidden_from_agents: Vec<AgentName>,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<FormBody>,
    #[schema(value_type = u64)]
    tokens: Tokens,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A form.
#[derive(Serialize, ToSchema)]
#[schema(as = Form)]
struct FormBody {
    #[schema(value_type = String)]
    name: SetName,
    #[schema(value_type = Vec<shape::form::FieldShape>)]
    fields: Vec<Field>,
    answered: bool,
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Value>, required = false)]
    answers: Map<String, Value>,
}

/// A set as it was seen, before its content is read.
pub(crate) struct Seen {
    body: SetBody,
    content: Option<Text>,
}

impl Seen {
    /// What is seen of a set.
    pub(crate) fn of(seen: SetView<'_>, view: &View<'_>) -> Self {
        let Held { set, updated_at, .. } = seen.held();
        let form = set.form.as_ref().map(|form| FormBody {
            name: set.name.clone(),
            fields: form.fields.clone(),
            answered: form.answered,
            answers: form.answers.clone(),
        });
        let is_whole = matches!(seen, SetView::Whole(_));
        let body = SetBody {
            name: set.name.clone(),
            content: None,
            visible_to: set.visible_to.clone(),
            hidden_from_agents: hidden_from_agents(seen.held(), &view.state.team).cloned().collect(),
            enabled: set.enabled,
            form: form.filter(|_| is_whole),
            tokens: set.tokens,
            updated_at: *updated_at,
        };
        Self { body, content: is_whole.then(|| set.content.clone()) }
    }

    /// The same with its content, which is read where it is long.
    pub(crate) async fn whole(self, session: &Session) -> Result<SetBody, Problem> {
        let Self { mut body, content } = self;
        if let Some(content) = content {
            body.content = Some(session.text(&content).await?);
        }
        Ok(body)
    }
}
