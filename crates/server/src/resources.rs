//! What can be called. A resource is a file: its calls, each declared where it is answered.

pub(crate) mod browser;
pub(crate) mod collection;
pub(crate) mod compression;
pub(crate) mod context_set;
pub(crate) mod directive;
pub(crate) mod document;
pub(crate) mod file;
pub(crate) mod form;
pub(crate) mod journal;
pub(crate) mod login;
pub(crate) mod message;
pub(crate) mod orchestration;
pub(crate) mod plan;
pub(crate) mod prompt;
pub(crate) mod recall;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod system;
pub(crate) mod thread;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod transfer;
pub(crate) mod turn;
pub(crate) mod variable;
pub(crate) mod workflow;

use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use callboard_api as api;

use crate::app::App;

/// What the document has besides the calls.
#[derive(OpenApi)]
#[openapi(components(schemas(
    api::Problem,
    api::ContextSetUpdate,
    api::Roles,
    api::ToolFormat,
    api::FileMatch,
    api::ContextFileKeywords,
    api::Label,
    api::AgentName,
    api::SessionId
)))]
struct Document;

/// All calls, with what they declare.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let resources = [
        session::routes(),
        journal::routes(),
        login::routes(),
        context_set::routes(),
        directive::routes(),
        document::routes(),
        form::routes(),
        thread::routes(),
        collection::routes(),
        compression::routes(),
        browser::routes(),
        message::routes(),
        orchestration::routes(),
        file::routes(),
        plan::routes(),
        turn::routes(),
        prompt::routes(),
        recall::routes(),
        run::routes(),
        token::routes(),
        tool::routes(),
        variable::routes(),
        workflow::routes(),
        transfer::routes(),
        system::routes(),
    ];
    resources.into_iter().fold(OpenApiRouter::with_openapi(Document::openapi()), OpenApiRouter::merge)
}
