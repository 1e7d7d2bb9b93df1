//! Export and import of sessions.

use std::fs::File;

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Created, broken},
    app::App,
    body::{next, too_large},
    calls::{
        Authorized, AuthorizedOnServer, CallError, WriteOptions,
        rights::{ExportSession, ImportSession},
    },
    params::Query,
    write_options::write_options,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export)).routes(routes!(import))
}

/// Export a whole session
///
/// The answer is JSON lines: a header, the entries with their long texts, and a last line that marks the end.
#[utoipa::path(get, path = "/v1/sessions/{session}/export", tag = "export and import", operation_id = "export_session",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The session as JSON lines", body = String,
        content_type = "application/x-ndjson")))]
async fn export(caller: Authorized<ExportSession>) -> Result<Response, CallError> {
    let lines = caller.export_session().await?.map_ok(|lines| lines.concat()).map_err(broken);
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(([kind], Body::from_stream(lines)).into_response())
}

/// An export that was received completely. It may be large, so it is in a file.
pub(super) struct Received {
    pub(super) file: File,
    pub(super) options: WriteOptions,
}

/// Import an exported session
///
/// Nothing is stored unless the whole export is valid.
#[utoipa::path(post, path = "/v1/import", tag = "export and import", operation_id = "import_session",
    params(api::ImportQuery),
    request_body(content = String, content_type = "application/x-ndjson", description = "The JSON lines of an export"),
    responses((status = CREATED, description = "The new session", body = api::Session)))]
async fn import(
    server: AuthorizedOnServer<ImportSession>,
    Query(query): Query<api::ImportQuery>,
    received: Received,
) -> Result<Created<api::Session>, CallError> {
    server.import_session(query, received.file, received.options).await.map(Created)
}

impl FromRequest<App> for Received {
    type Rejection = CallError;

    async fn from_request(request: Request, app: &App) -> Result<Self, CallError> {
        let (parts, body) = request.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !["application/x-ndjson", "application/jsonl", "application/json"].contains(&kind) {
            let detail = "an export is JSON lines: send the header `Content-Type: application/x-ndjson`";
            return Err(CallError::new("unsupported_media_type", detail));
        }
        let limits = &app.settings.limits;
        let (mut pieces, mut size, mut hash) = (body.into_data_stream(), 0_u64, Sha256::new());
        let mut file = tokio::fs::File::from_std(tempfile::tempfile().map_err(|error| no_room(&error))?);
        while let Some(piece) = next(&mut pieces, limits.body_time).await? {
            size = size.saturating_add(piece.len() as u64);
            if size > limits.import_bytes {
                return Err(too_large(limits.import_bytes));
            }
            hash.update(&piece);
            file.write_all(&piece).await.map_err(|error| no_room(&error))?;
        }
        file.flush().await.map_err(|error| no_room(&error))?;
        file.rewind().await.map_err(|error| no_room(&error))?;
        let options = write_options(&parts, &hash.finalize())?;
        Ok(Self { file: file.into_std().await, options })
    }
}

fn no_room(error: &std::io::Error) -> CallError {
    let detail = format!("no space to receive the export: {error}");
    CallError::new("store_full", detail)
}
