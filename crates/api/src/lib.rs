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
    collection::CollectionInfo as Collection,
    compression::{
        Compression as CompressAnswer, CompressionSettings, Method as CompressionMethod, Spent as SpentOnCompression,
    },
    context_set::{Outcome as OutcomeWord, SetOutcome as Outcome, form::Field},
    conversation::{
        MessageReceipt as AddedMessage, MessageView as Message, ToolCall, settings::ThreadPatch as PutThread,
    },
    count::{Cost, Usage as ReportedUsage},
    directive::{Directed, FormRequest, NewOrUpdate, Recipient, SetUpdate as ContextSetUpdate, schema_for::SchemaFor},
    document::{DocumentOutcome, MediaType, PutDocument as NewDocument},
    file::{FoundFile as ContextFile, Match as FileMatch},
    id::{
        AgentName, CollectionName, DocumentName, ExecutionId, MessageId, NodeId, RunId, SessionId, SetName, ThreadId,
        VariableName,
    },
    limits::Limits,
    overview::{LargestPrompt, LastEntry, RunOverview as SessionRun},
    plan::{
        Phase as PlanPhase, PlanDocument, PutPlan, Status as PlanStatus, Task as PlanTask, TaskPatch as PlanTaskPatch,
        diff::{Change as PlanChange, How as PlanChangeWord},
    },
    prompt::{Format, LayoutName as Layout},
    recall::{RecallRole, Source as RecallSource},
    run::{
        NewRun, RunKind, Used,
        view::{Delta, TurnView as Turn},
    },
    schema::Label,
    session::SessionPatch,
    step::{
        Step,
        offer::{Denied as DeniedTool, Offer},
    },
    tool::file::AddFile as NewContextFile,
    variable::PutVariable,
    view::{JournalPage, Projected as Entry},
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
    browser::*, collection::*, compression::*, context_set::*, directive::*, document::*, file::*, form::*, journal::*,
    login::*, message::*, orchestration::*, overview::*, plan::*, problem::*, prompt::*, query::*, recall::*, rules::*,
    run::*, session::*, system::*, thread::*, token::*, tool::*, transfer::*, turn::*, variable::*, workflow::*,
};
