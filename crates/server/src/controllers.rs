//! What can be called. Each call is declared where it is answered, in a file of its own.

mod context_set;
mod directive;
mod file;
mod form;
mod journal;
mod message;
mod orchestration;
mod prompt;
mod run;
mod session;
mod system;
mod thread;
mod token;
mod transfer;

use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    problem::ProblemBody,
    shape::{directive::SetUpdateShape, text},
};

/// What the document has besides the calls.
#[derive(OpenApi)]
#[openapi(components(schemas(
    ProblemBody,
    SetUpdateShape,
    text::AgentName,
    text::Label,
    text::Roles,
    text::SessionId
)))]
struct Document;

/// All calls, with what they declare.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(session::list::list, session::create::create))
        .routes(routes!(session::read::read, session::update::update, session::delete::delete))
        .routes(routes!(session::fork::fork))
        .routes(routes!(journal::read::read))
        .routes(routes!(journal::events::events))
        .route("/v1/sessions/{session}/ws", get(journal::ws::ws))
        .routes(routes!(journal::why::why))
        .routes(routes!(context_set::list::list))
        .routes(routes!(context_set::read::read, context_set::put::put, context_set::delete::delete))
        .routes(routes!(directive::give::give))
        .routes(routes!(directive::schema::schema))
        .routes(routes!(form::answer::answer))
        .routes(routes!(thread::list::list))
        .routes(routes!(thread::put::put))
        .routes(routes!(thread::context::context))
        .routes(routes!(message::list::list, message::add::add))
        .routes(routes!(orchestration::read::read, orchestration::update::update))
        .routes(routes!(orchestration::tools::tools))
        .routes(routes!(orchestration::advance::advance))
        .routes(routes!(orchestration::reset::reset))
        .routes(routes!(orchestration::usage::usage))
        .routes(routes!(orchestration::allowed_tools::allowed_tools))
        .routes(routes!(file::list::list, file::add::add))
        .routes(routes!(file::search::search))
        .routes(routes!(file::delegate::delegate))
        .routes(routes!(file::read::read, file::remove::remove))
        // The same, where the `/` of the path is written as it is.
        .route("/v1/sessions/{session}/files/{folder}/{file}", get(file::read::read).delete(file::remove::remove))
        .routes(routes!(prompt::build::build))
        .routes(routes!(run::list::list, run::start::start))
        .routes(routes!(run::read::read))
        .routes(routes!(run::steer::pause))
        .routes(routes!(run::steer::resume))
        .routes(routes!(run::steer::cancel))
        .routes(routes!(run::tool_results::bring))
        .routes(routes!(token::list::list, token::create::create))
        .routes(routes!(token::revoke::revoke))
        .routes(routes!(transfer::export::export))
        .routes(routes!(transfer::import::import))
        .routes(routes!(system::health::health))
        .routes(routes!(system::health::ready))
        .routes(routes!(system::metrics::metrics))
        .routes(routes!(system::document::document))
        .routes(routes!(system::page::page))
}
