//! Export and import of sessions.

use std::io::BufReader;

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use callboard_core::entry::Actor;
use futures::{StreamExt, stream};

use crate::{
    answer::broken,
    call::*,
    caller::AuthorizedOnServer,
    idempotency::Attempt,
    received::Received,
    resources::session::created,
    rights::{ExportSession, ImportSession},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export_session)).routes(routes!(import_session))
}

/// Export a whole session
///
/// The answer is JSON lines: a header, the entries with their long texts, and a last line that marks the end.
#[utoipa::path(get, path = "/v1/sessions/{session}/export", tag = "export and import",
    responses((status = OK, description = "The session as JSON lines", body = String,
        content_type = "application/x-ndjson")))]
async fn export_session(caller: Authorized<ExportSession>) -> Result<Response, CallError> {
    caller.export().await
}

/// Import an exported session
///
/// Nothing is stored unless the whole export is valid.
#[utoipa::path(post, path = "/v1/import", tag = "export and import",
    params(api::ImportQuery),
    request_body(content = String, content_type = "application/x-ndjson", description = "The JSON lines of an export"),
    responses((status = CREATED, description = "The new session", body = api::Session)))]
async fn import_session(
    server: AuthorizedOnServer<ImportSession>,
    Query(query): Query<api::ImportQuery>,
    Received { file, options }: Received,
) -> Result<Answer<api::Session>, CallError> {
    let app = &server.app;
    let import = async |attempt: Attempt<()>| {
        let session = app.board.import(BufReader::new(file), query.id, attempt.is_repeat).await?;
        created(app, &session).await
    };
    Ok(Answer::ok(app.idempotent(Actor::User, &options, None, (), import).await?).created())
}

impl Authorized<ExportSession> {
    /// The JSON lines of an export, as they are read.
    pub(super) async fn export(&self) -> Result<Response, CallError> {
        let export = self.session.export().await?;
        let lines = stream::try_unfold(export, async |mut export| {
            let lines = export.next().await.map_err(CallError::from).map_err(broken)?;
            Ok::<_, std::io::Error>(lines.map(|lines| (lines, export)))
        });
        Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines.boxed())).into_response())
    }
}
