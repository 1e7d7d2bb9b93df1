//! The shapes of what is sent and given, for the OpenAPI document, where the types themselves are the rules' own. That
//! they agree is held by a test, which sends an example of each.

#![allow(dead_code, reason = "they are read by the document alone")]

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What agents can be called.
pub(crate) const AGENT_NAME: &str = "^[A-Za-z0-9_.@/-]([A-Za-z0-9 _.@/-]{0,126}[A-Za-z0-9_.@/-])?$";

/// The name of an agent; not `all`, `none`, `user` or `system`.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentName, pattern = "^[A-Za-z0-9_.@/-]([A-Za-z0-9 _.@/-]{0,126}[A-Za-z0-9_.@/-])?$", example = "writer")]
pub(crate) struct NameShape(String);

/// One of the team.
#[derive(ToSchema)]
#[schema(as = Agent)]
pub(crate) struct AgentShape {
    name: NameShape,
    role: AgentRole,
    title: Option<String>,
    instructions: Option<String>,
    /// `openai:NAME` or `anthropic:NAME`; `CALLBOARD_MODEL` where it is left out.
    model: Option<String>,
    #[schema(required = false)]
    tools: Vec<ToolShape>,
}

/// What an agent is in its team, which has at most one manager.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum AgentRole {
    Manager,
    Worker,
}

/// A function that an agent's model may call; the caller of the run executes it.
#[derive(ToSchema)]
#[schema(as = Tool)]
pub(crate) struct ToolShape {
    #[schema(min_length = 1, max_length = 128)]
    name: String,
    #[schema(required = false)]
    description: String,
    /// The JSON Schema of its arguments.
    #[schema(required = false)]
    parameters: BTreeMap<String, Value>,
    #[schema(required = false)]
    idempotent: bool,
}

/// Who may see a thing: `all`, `none`, an agent's name or a list of names.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Audience)]
pub(crate) enum AudienceShape {
    Word(NameShape),
    Names(Vec<NameShape>),
}

/// A number of seconds above 0, or `never`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Ttl)]
pub(crate) enum TtlShape {
    Seconds(Seconds),
    Never(Never),
}

#[derive(Serialize, ToSchema)]
#[schema(minimum = 1, maximum = 9007199254740991_u64)]
pub(crate) struct Seconds(u64);

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Never {
    Never,
}

/// What workers may see that is otherwise for the user and the manager.
#[derive(ToSchema)]
#[schema(as = Share, rename_all = "snake_case")]
pub(crate) enum ShareShape {
    Plan,
    Workflow,
    Variables,
    Browser,
    Runs,
}

/// What workers may do that is otherwise for the user and the manager.
#[derive(ToSchema)]
#[schema(as = Grant, rename_all = "snake_case")]
pub(crate) enum GrantShape {
    ContextSets,
}

/// How the parts of a prompt share its budget.
#[derive(ToSchema)]
#[schema(as = Profile)]
pub(crate) struct ProfileShape {
    #[schema(minimum = 0)]
    budget: Option<u64>,
    #[schema(minimum = 0)]
    answer_tokens: Option<u64>,
    #[schema(required = false)]
    parts: PartsShape,
}

/// The parts that are other than by default.
#[derive(ToSchema)]
#[schema(as = ProfileParts)]
pub(crate) struct PartsShape {
    #[schema(required = false)]
    context_sets: SharesShape,
    #[schema(required = false)]
    history: SharesShape,
    #[schema(required = false)]
    task: SharesShape,
}

/// What of the budget a part gets: tokens, or a percentage such as `"25%"`.
#[derive(ToSchema)]
#[schema(as = Shares)]
pub(crate) struct SharesShape {
    min: Option<ShareOf>,
    max: Option<ShareOf>,
    priority: Option<i32>,
}

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ShareOf {
    Tokens(u64),
    Percent(Percent),
}

#[derive(Serialize, ToSchema)]
#[schema(pattern = "^(100|[0-9]{1,2})%$")]
pub(crate) struct Percent(String);

/// How far a run goes before it is paused; what is left out is not limited.
#[derive(ToSchema)]
#[schema(as = Limits)]
pub(crate) struct LimitsShape {
    #[schema(minimum = 0)]
    turns: Option<u64>,
    #[schema(minimum = 0)]
    tokens: Option<u64>,
    #[schema(minimum = 0)]
    seconds: Option<u64>,
}

/// One step of a team's work.
#[derive(ToSchema)]
#[schema(as = Step)]
pub(crate) struct StepShape {
    #[schema(min_length = 1, max_length = 200, pattern = "^[!-~]([ -~]*[!-~])?$")]
    name: String,
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
#[derive(Serialize, ToSchema)]
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
#[derive(Serialize, ToSchema)]
#[schema(as = ToolUsed)]
pub(crate) struct ToolUsedShape {
    r#type: ToolUsedType,
    value: ToolName,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolUsedType {
    ToolUsed,
}

/// The newest tools that were used are those of the step's sequence.
#[derive(Serialize, ToSchema)]
#[schema(as = SequenceMatch)]
pub(crate) struct SequenceMatchShape {
    r#type: SequenceMatchType,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SequenceMatchType {
    SequenceMatch,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AllOf)]
pub(crate) struct AllShape {
    #[schema(no_recursion, min_items = 1)]
    all: Vec<ConditionShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AnyOf)]
pub(crate) struct AnyShape {
    #[schema(no_recursion, min_items = 1)]
    any: Vec<ConditionShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NotThis)]
pub(crate) struct NotShape {
    #[schema(no_recursion)]
    not: Box<ConditionShape>,
}

/// The name of a tool; where tools are allowed or denied, `*` in it stands for any characters.
#[derive(Serialize, ToSchema)]
#[schema(min_length = 1, max_length = 128, pattern = "^[!-~]([ -~]*[!-~])?$")]
pub(crate) struct ToolName(String);

/// Which tools may be used in a step.
#[derive(ToSchema)]
#[schema(as = AvailableTools)]
pub(crate) struct AvailableToolsShape {
    allowed: Option<Vec<ToolName>>,
    #[schema(required = false)]
    denied: Vec<ToolName>,
}

/// What is to be changed of a session; what is left out stays as it is.
#[derive(ToSchema)]
#[schema(as = SessionPatch)]
pub(crate) struct SessionPatchShape {
    #[schema(max_length = 500)]
    title: Option<String>,
    agents: Option<Vec<AgentShape>>,
    default_visibility: Option<AudienceShape>,
    share: Option<Vec<ShareShape>>,
    grant: Option<Vec<GrantShape>>,
    prompt: Option<ProfileShape>,
    ttl_seconds: Option<TtlShape>,
    limits: Option<LimitsShape>,
    steps: Option<Vec<StepShape>>,
}

/// A time: RFC 3339, or milliseconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Time)]
pub(crate) enum TimeShape {
    Text(Rfc3339),
    Milliseconds(Milliseconds),
}

#[derive(Serialize, ToSchema)]
#[schema(format = DateTime)]
pub(crate) struct Rfc3339(String);

#[derive(Serialize, ToSchema)]
#[schema(minimum = -300_000_000_000_000_i64, maximum = 250_000_000_000_000_i64)]
pub(crate) struct Milliseconds(i64);

/// An entry of a journal, as far as the caller may see it.
#[derive(ToSchema)]
#[schema(as = Entry)]
pub(crate) struct EntryShape {
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// `user`, `system` or `agent:NAME`.
    by: String,
    #[schema(example = "message.added")]
    r#type: String,
    #[schema(example = "thread:main")]
    subject: String,
    data: Value,
}

/// An entry in which a text stands, and what became of it.
#[derive(ToSchema)]
#[schema(as = Finding)]
pub(crate) struct FindingShape {
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// `user`, `system` or `agent:NAME`.
    by: String,
    r#type: String,
    subject: String,
    /// The text with what is around it.
    excerpt: String,
    /// Which agents may see what the entry is about now; left out where that is gone.
    visible_to: Option<AudienceShape>,
    /// The agents from which it is hidden now.
    #[schema(required = false)]
    hidden_from: Vec<String>,
    /// The prompts that showed it.
    #[schema(required = false)]
    shown: Vec<ShownShape>,
    gone: Option<GoneShape>,
}

/// A prompt that showed an entry.
#[derive(ToSchema)]
#[schema(as = Shown)]
pub(crate) struct ShownShape {
    agent: String,
    run: String,
    turn: u64,
    /// The entry that requested the turn.
    seq: u64,
}

/// What took the place of a thing, or took it away.
#[derive(ToSchema)]
#[schema(as = Gone)]
pub(crate) struct GoneShape {
    seq: u64,
    by: String,
    how: GoneWord,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum GoneWord {
    Replaced,
    Deleted,
}

/// Messages that are to be added, all or none.
#[derive(ToSchema)]
#[schema(as = NewMessages)]
pub(crate) struct NewMessagesShape {
    messages: Vec<NewMessageShape>,
}

/// A message that is to be added.
#[derive(ToSchema)]
#[schema(as = NewMessage)]
pub(crate) struct NewMessageShape {
    #[schema(min_length = 1, max_length = 200)]
    message_id: Option<String>,
    thread_id: Option<String>,
    role: RoleShape,
    content: Option<ContentShape>,
    timestamp: Option<TimeShape>,
    metadata: Option<BTreeMap<String, Value>>,
    #[schema(required = false)]
    tool_calls: Vec<ToolCallShape>,
    tool_call_id: Option<String>,
}

/// A text, or parts, each an object with a `type`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub(crate) enum ContentShape {
    Text(String),
    Parts(Vec<PartShape>),
}

#[derive(Serialize, ToSchema)]
#[schema(as = ContentPart)]
pub(crate) struct PartShape {
    r#type: String,
    text: Option<String>,
}

/// In which role a message is said; also as `user`, `assistant`, `system`, `tool`.
#[derive(ToSchema)]
#[schema(as = Role)]
pub(crate) enum RoleShape {
    #[schema(rename = "USER")]
    User,
    #[schema(rename = "AI")]
    Ai,
    #[schema(rename = "SYSTEM")]
    System,
    #[schema(rename = "TOOL")]
    Tool,
}

/// A call of a tool.
#[derive(ToSchema)]
#[schema(as = ToolCall)]
pub(crate) struct ToolCallShape {
    id: String,
    name: String,
    arguments: Option<Value>,
}

/// A message.
#[derive(ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageShape {
    message_id: String,
    thread_id: String,
    seq: u64,
    role: RoleShape,
    agent: Option<String>,
    content: ContentShape,
    #[schema(format = DateTime)]
    timestamp: String,
    metadata: Option<BTreeMap<String, Value>>,
    #[schema(required = false)]
    tool_calls: Vec<ToolCallShape>,
    tool_call_id: Option<String>,
    expected_output: Option<String>,
}

/// A manager's directive: structured, or a `text` in the fallback's grammar. `GET …/directives/schema` has its schema
/// for the team as it is.
#[derive(ToSchema)]
#[schema(as = Directive, rename_all = "camelCase")]
pub(crate) struct DirectiveShape {
    text: Option<String>,
    message_to: Option<String>,
    message: Option<String>,
    workflow_complete: Option<bool>,
    /// Taken, and means nothing.
    context_updates: Option<Value>,
    is_info_request: Option<bool>,
    form: Option<FormRequestShape>,
    context_set_update: Option<SetUpdatesShape>,
    expected_output: Option<String>,
}

#[derive(ToSchema)]
#[schema(as = ContextSetUpdates, rename_all = "camelCase")]
pub(crate) struct SetUpdatesShape {
    context_sets: Vec<SetUpdateShape>,
}

#[derive(ToSchema)]
#[schema(as = ContextSetUpdate, rename_all = "camelCase")]
pub(crate) struct SetUpdateShape {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The whole new content; empty deletes the set.
    context: String,
    new_or_update: Option<NewOrUpdateShape>,
    visible_to_agents: Option<AudienceShape>,
}

#[derive(ToSchema)]
#[schema(as = NewOrUpdate, rename_all = "snake_case")]
pub(crate) enum NewOrUpdateShape {
    New,
    Update,
}

/// A form that a directive puts before the user.
#[derive(ToSchema)]
#[schema(as = FormRequest)]
pub(crate) struct FormRequestShape {
    name: Option<String>,
    #[schema(min_items = 1)]
    fields: Vec<FieldShape>,
}

/// One thing that a form asks for.
#[derive(ToSchema)]
#[schema(as = Field, rename_all = "camelCase")]
pub(crate) struct FieldShape {
    key: String,
    value_type: ValueTypeShape,
    label: String,
    required: bool,
    #[schema(required = false)]
    enum_values: Vec<String>,
    description: Option<String>,
}

#[derive(ToSchema)]
#[schema(as = ValueType, rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ValueTypeShape {
    String,
    Number,
    Boolean,
    Date,
    Enum,
    EnumOrCustom,
    Array,
    File,
}

/// How one update of a context set came out.
#[derive(ToSchema)]
#[schema(as = Outcome)]
pub(crate) struct OutcomeShape {
    name: String,
    outcome: OutcomeWord,
    reason: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum OutcomeWord {
    Created,
    Updated,
    Unchanged,
    Deleted,
    CreatedEmpty,
    Conflict,
    Rejected,
}

/// One part of a prompt.
#[derive(ToSchema)]
#[schema(as = PromptPart)]
pub(crate) struct PromptPartShape {
    name: String,
    tokens: u64,
    shortened: bool,
    #[schema(required = false)]
    omitted: Vec<String>,
}
