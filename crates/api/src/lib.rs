//! The requests and answers of Callboard's API, as types with their OpenAPI schemas.
//!
//! The server reads and writes them, the command line writes and reads them, and so can any program in Rust. A type has
//! the name of its schema in the OpenAPI document. What the rules have in the same form is used as it is there: messages,
//! steps, entries, and commands that are the bodies of their calls ([`NewRun`], [`PutPlan`] and others). Answers are read
//! leniently: fields that a newer server adds are passed over. Requests are read strictly: a field that is not known is an
//! error.

mod query;
mod rules;

mod browser;
mod collection;
mod compression;
mod context_set;
mod directive;
mod document;
mod file;
mod form;
mod journal;
mod login;
mod message;
mod orchestration;
mod overview;
mod plan;
mod problem;
mod prompt;
mod recall;
mod run;
mod session;
mod system;
mod thread;
mod token;
mod tool;
mod transfer;
mod turn;
mod variable;
mod workflow;

pub use callboard_core::{
    browser::{Act, Action, ActionKind, CloseTab, Inspect, Inspection, Navigate, OpenTab},
    compression::{CompressionSettings, Method as CompressionMethod, Spent as SpentOnCompression},
    context_set::{Outcome as OutcomeWord, SetOutcome as Outcome, form::Field},
    conversation::{
        MessageReceipt as AddedMessage, MessageView as Message, NewMessage, ToolCall,
        settings::ThreadPatch as PutThread,
    },
    directive::{Directed, FormRequest, NewOrUpdate, Recipient, SetUpdate as ContextSetUpdate, schema_for::SchemaFor},
    document::{DocumentOutcome, MediaType, PutDocument as NewDocument},
    file::Match as FileMatch,
    id::{
        AgentName, CollectionName, DocumentName, ExecutionId, MessageId, NodeId, RunId, SessionId, SetName, ThreadId,
        VariableName,
    },
    limits::Limits,
    plan::{
        Phase as PlanPhase, PlanDocument, PutPlan, Status as PlanStatus, Task as PlanTask, TaskPatch as PlanTaskPatch,
        diff::{Change as PlanChange, How as PlanChangeWord},
    },
    prompt::{Format, LayoutName as Layout},
    recall::Source as RecallSource,
    run::{NewRun, RunKind, Used},
    schema::Label,
    session::SessionPatch,
    step::{
        Step,
        offer::{Denied as DeniedTool, Offer},
    },
    tool::file::AddFile as NewContextFile,
    variable::PutVariable,
    view::Projected as Entry,
    workflow::{
        About as AboutWorkflow, CreateNode as NewWorkflowNode, Document as Workflow, Edge as WorkflowEdge,
        EdgeKind as WorkflowEdgeKind, GivenResult as PutNodeResult, NodePatch as WorkflowNodePatch, NodeStatus,
        PatchWorkflow as WorkflowPatch, Shown as WorkflowNode,
        execution::{Execute as RunWorkflow, Execution as WorkflowExecution, ExecutionLimits, ExecutionStatus},
    },
};
pub use callboard_prompt::{
    PartReport as PromptPart,
    why::{Finding, Gone, HowGone, Shown},
};

pub use self::{
    browser::{
        Browser, BrowserAnswer, BrowserStatus, BrowserTab, Screenshot, ScreenshotList, TakeScreenshot, TakenScreenshot,
    },
    collection::{Collection, CollectionList},
    compression::{
        AgentContext, Compress, CompressAnswer, ContextSize, LastTurn, Pinned, PossibleCompression, UndoneCompression,
        WantedMethod,
    },
    context_set::{ContextSet, ContextSetList, PutContextSet, PutContextSetAnswer},
    directive::{ContextSetUpdates, Directive, DirectiveAnswer, SchemaQuery, StructuredDirective, TextDirective},
    document::{Document, DocumentChanged, DocumentList, DocumentQuery, DocumentsQuery, PutDocument},
    file::{
        ContextFile, ContextFileAdded, ContextFileKeywords, ContextFileList, Delegation, DelegationMessage, FilesQuery,
    },
    form::{Form, FormAnswers, FormList, ListedForm},
    journal::{
        DELTA, Delta, ErasedEntry, Event, Findings, FollowQuery, JournalOrder, JournalPage, JournalQuery, WhyQuery,
    },
    login::{Login, Me},
    message::{Added, AnyMessage, MessageList, MessagesQuery, NewMessages, Roles, ShapeQuery},
    orchestration::{Orchestration, OrchestrationPatch, ReportedUsage, TokenUsage, Tools, UsedTool},
    overview::{Cost, LargestPrompt, LastEntry, SessionOverview, SessionRun, SessionUsage},
    plan::{Plan, PlanChanged, PlanDiff, PlanDiffQuery, PlanVersion, PlanVersionList, PlanVersionsQuery},
    problem::{Fault, Problem},
    prompt::{Prompt, PromptBody, PromptPiece},
    query::{AtQuery, PageAtQuery, PageQuery, read_time, whole, words},
    recall::{
        AskedSource, ForeignHit, FoundPassage, PassageBytes, RecallBody, RecallHit, RecallRole, Recalled, SearchQuery,
        WhyRecalled,
    },
    rules::add_rules,
    run::{Pause, Run, RunList, ToolResult, ToolResults},
    session::{Fork, NewSession, Session, SessionEvent, SessionList, SessionOrder, SessionSettings, SessionsQuery},
    system::{Health, Ready},
    thread::{Thread, ThreadList},
    token::{NewToken, Token, TokenList},
    tool::{ToolCallBody, ToolCallResult, ToolFormat, ToolList, ToolsQuery},
    transfer::ImportQuery,
    turn::{SentPrompt, Turn, TurnAnswer, TurnAnswered, TurnList, TurnsQuery},
    variable::{
        ReasonQuery, RestoreSecret, RestoredSecret, RevealQuery, Variable, VariableAfter, VariableList, VariableValue,
    },
    workflow::{ChangedWorkflowNode, ExecutionList, NodeResult, PutWorkflow, WorkflowChangeQuery},
};
