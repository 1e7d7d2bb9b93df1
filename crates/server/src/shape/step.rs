//! Steps, and when they are entered.

use utoipa::ToSchema;

use super::text::{Label, ToolName};

/// One step of a team's work.
#[derive(ToSchema)]
#[schema(as = Step)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepShape {
    name: Label,
    #[schema(required = false)]
    description: String,
    #[schema(required = false)]
    is_default: bool,
    #[schema(required = false)]
    conditions: Vec<ConditionShape>,
    #[schema(required = false)]
    available_tools: AvailableToolsShape,
    #[schema(required = false, max_items = 256)]
    sequence: Vec<ToolName>,
}

/// When a step is entered.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = Condition)]
pub(crate) enum ConditionShape {
    ToolUsed(ToolUsedShape),
    SequenceMatch(SequenceMatchShape),
    All(AllShape),
    Any(AnyShape),
    Not(NotShape),
}

/// The tool was used since the last reset.
#[derive(ToSchema)]
#[schema(as = ToolUsed)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolUsedShape {
    r#type: ToolUsedType,
    value: ToolName,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolUsedType {
    ToolUsed,
}

/// The newest tools that were used are those of the step's sequence.
#[derive(ToSchema)]
#[schema(as = SequenceMatch)]
#[serde(deny_unknown_fields)]
pub(crate) struct SequenceMatchShape {
    r#type: SequenceMatchType,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SequenceMatchType {
    SequenceMatch,
}

#[derive(ToSchema)]
#[schema(as = AllOf)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllShape {
    #[schema(no_recursion, min_items = 1)]
    all: Vec<ConditionShape>,
}

#[derive(ToSchema)]
#[schema(as = AnyOf)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnyShape {
    #[schema(no_recursion, min_items = 1)]
    any: Vec<ConditionShape>,
}

#[derive(ToSchema)]
#[schema(as = NotThis)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotShape {
    #[schema(no_recursion)]
    not: Box<ConditionShape>,
}

/// Which tools may be used in a step.
#[derive(ToSchema)]
#[schema(as = AvailableTools)]
#[serde(deny_unknown_fields)]
pub(crate) struct AvailableToolsShape {
    allowed: Option<Vec<ToolName>>,
    #[schema(required = false)]
    denied: Vec<ToolName>,
}
