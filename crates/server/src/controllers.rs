//! What can be called. A resource is a file: its calls, each declared where it is answered.

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
mod plan;
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
