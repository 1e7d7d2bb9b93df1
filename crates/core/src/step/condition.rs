//! Conditions: when a step is entered.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value, json};

use super::{Progress, Step};
use crate::agent::{TOOL_NAME, is_tool_name};

/// When a step is entered.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The tool was used since the last reset.
    ToolUsed(Arc<str>),
    /// The newest tools that were used are those of the step's sequence, in its order.
    SequenceMatch,
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

/// How deep conditions may stand inside of each other.
const DEPTH: usize = 16;

impl Condition {
    /// Whether it holds of the tools that were used after the first `since`.
    pub(super) fn holds(&self, step: &Step, progress: &Progress, since: u64) -> bool {
        match self {
            Self::ToolUsed(tool) => progress.was_used(tool, since),
            Self::SequenceMatch => progress.ends_with(&step.sequence, since),
            Self::All(all) => all.iter().all(|one| one.holds(step, progress, since)),
            Self::Any(any) => any.iter().any(|one| one.holds(step, progress, since)),
            Self::Not(one) => !one.holds(step, progress, since),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::ToolUsed(tool) if !is_tool_name(tool) => Err(format!("{tool:?} is no name of a tool: {TOOL_NAME}")),
            Self::All(inner) | Self::Any(inner) if inner.is_empty() => {
                Err("all and any need at least one condition in them".to_owned())
            }
            Self::All(inner) | Self::Any(inner) => inner.iter().try_for_each(Self::check),
            Self::Not(one) => one.check(),
            Self::ToolUsed(_) | Self::SequenceMatch => Ok(()),
        }
    }

    /// The tools that it names.
    pub(super) fn tools(&self) -> Vec<&Arc<str>> {
        match self {
            Self::ToolUsed(tool) => vec![tool],
            Self::SequenceMatch => Vec::new(),
            Self::All(inner) | Self::Any(inner) => inner.iter().flat_map(Self::tools).collect(),
            Self::Not(one) => one.tools(),
        }
    }

    /// Whether it speaks of the sequence of its step.
    pub(super) fn needs_sequence(&self) -> bool {
        match self {
            Self::SequenceMatch => true,
            Self::ToolUsed(_) => false,
            Self::All(inner) | Self::Any(inner) => inner.iter().any(Self::needs_sequence),
            Self::Not(one) => one.needs_sequence(),
        }
    }

    fn read(value: &Value, depth: usize) -> Result<Self, String> {
        const FORMS: &str = "a condition is {\"type\": \"tool_used\", \"value\": TOOL}, {\"type\": \"sequence_match\"}, \
                             {\"all\": [..]}, {\"any\": [..]} or {\"not\": {..}}";
        let depth = depth.checked_sub(1).ok_or_else(|| format!("nest conditions at most {DEPTH} levels"))?;
        let list = |value: &Value| -> Result<Vec<Self>, String> {
            let inner = value.as_array().ok_or(FORMS)?;
            inner.iter().map(|one| Self::read(one, depth)).collect()
        };
        let fields = value.as_object().ok_or(FORMS)?;
        let mut named = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.as_str(), value));
        match (named.next(), named.next(), named.next()) {
            (Some(("all", inner)), None, None) => list(inner).map(Self::All),
            (Some(("any", inner)), None, None) => list(inner).map(Self::Any),
            (Some(("not", inner)), None, None) => Self::read(inner, depth).map(|one| Self::Not(Box::new(one))),
            (_, _, None) => Self::typed(fields),
            _ => Err(FORMS.to_owned()),
        }
    }

    fn typed(fields: &Map<String, Value>) -> Result<Self, String> {
        let kind = fields.get("type").and_then(Value::as_str);
        let kind = kind.ok_or("say the type of the condition, or give it one of all, any, not")?;
        let value = fields.get("value").filter(|value| !value.is_null());
        if let Some(unknown) = fields.keys().find(|name| !["type", "value"].contains(&name.as_str())) {
            return Err(format!("a condition of type {kind} has no field {unknown:?}"));
        }
        match (kind, value) {
            ("tool_used", Some(Value::String(tool))) => Ok(Self::ToolUsed(tool.as_str().into())),
            ("tool_used", _) => Err("tool_used needs a value: the name of the tool".to_owned()),
            ("sequence_match", None) => Ok(Self::SequenceMatch),
            ("sequence_match", Some(_)) => Err("sequence_match has no value: it is the step's sequence".to_owned()),
            _ => Err(format!("{kind:?} is no type of condition: use tool_used or sequence_match")),
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self {
            Self::ToolUsed(tool) => json!({"type": "tool_used", "value": tool}),
            Self::SequenceMatch => json!({"type": "sequence_match"}),
            Self::All(all) => json!({"all": all}),
            Self::Any(any) => json!({"any": any}),
            Self::Not(one) => json!({"not": one}),
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?, DEPTH).map_err(de::Error::custom)
    }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use utoipa::ToSchema;

    use super::Condition;
    use crate::{same_schema, schema::ToolName};

    same_schema! {
        Condition as ConditionForm;
    }

    /// When a step is entered.
    #[derive(ToSchema)]
    #[serde(untagged)]
    #[schema(as = Condition)]
    enum ConditionForm {
        ToolUsed(ToolUsed),
        SequenceMatch(SequenceMatch),
        All(AllOf),
        Any(AnyOf),
        Not(NotThis),
    }

    /// The tool was used since the last reset.
    #[derive(ToSchema)]
    #[serde(deny_unknown_fields)]
    struct ToolUsed {
        r#type: ToolUsedType,
        value: ToolName,
    }

    #[derive(ToSchema)]
    #[serde(rename_all = "snake_case")]
    enum ToolUsedType {
        ToolUsed,
    }

    /// The newest tools that were used are those of the step's sequence.
    #[derive(ToSchema)]
    #[serde(deny_unknown_fields)]
    struct SequenceMatch {
        r#type: SequenceMatchType,
    }

    #[derive(ToSchema)]
    #[serde(rename_all = "snake_case")]
    enum SequenceMatchType {
        SequenceMatch,
    }

    #[derive(ToSchema)]
    #[serde(deny_unknown_fields)]
    struct AllOf {
        #[schema(no_recursion, min_items = 1)]
        all: Vec<ConditionForm>,
    }

    #[derive(ToSchema)]
    #[serde(deny_unknown_fields)]
    struct AnyOf {
        #[schema(no_recursion, min_items = 1)]
        any: Vec<ConditionForm>,
    }

    #[derive(ToSchema)]
    #[serde(deny_unknown_fields)]
    struct NotThis {
        #[schema(no_recursion)]
        not: Box<ConditionForm>,
    }
}
