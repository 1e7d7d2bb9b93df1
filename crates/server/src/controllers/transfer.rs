//! Export and import of sessions.

use std::{fs::File, io::BufReader};

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use callboard_core::{entry::Actor, id::SessionId};
use callboard_engine::Board;
use futures::stream;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, Created},
    app::App,
    body::{next, too_large},
    caller::{Authorized, AuthorizedOnServer},
    controllers::session::made,
    idempotency::Attempt,
    params::Query,
    problem::Problem,
    rights::{ExportSession, ImportSession},
    write_options::WriteOptions,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export)).routes(routes!(import))
}

/// Export a whole session as lines of JSON
#[utoipa::path(get, path = "/v1/sessions/{session}/export", tag = "export and import", operation_id = "export_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The session, a line an entry", body = String,
        content_type = "application/x-ndjson")))]
async fn export(caller: Authorized<ExportSession>) -> Result<Response, Problem> {
    let export = caller.session.export().await?;
    let lines = stream::try_unfold(export, async |mut export| {
        let lines = export.next().await.map_err(|error| {
            tracing::error!(%error, "an export breaks off");
            std::io::Error::other(error)
        })?;
        Ok::<_, std::io::Error>(lines.map(|lines| (lines, export)))
    });
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(([kind], Body::from_stream(lines)).into_response())
}

/// An export that was received whole: it is large, and stands in a file.
pub(crate) struct Received {
    file: File,
    options: WriteOptions,
}

/// Import a session that was exported. All of it is checked before anything is taken in
#[utoipa::path(post, path = "/v1/import", tag = "export and import", operation_id = "import_session",
    params(api::ImportQuery),
    request_body(content = String, content_type = "application/x-ndjson", description = "What an export gave"),
    responses((status = CREATED, description = "The session", body = api::Session)))]
async fn import(
    server: AuthorizedOnServer<ImportSession>,
    Query(query): Query<api::ImportQuery>,
    received: Received,
) -> Result<Created<Value>, Problem> {
    let Received { file, options } = received;
    let (board, id) = (&server.app.board, query.id);
    let made = server.app.idempotent(Actor::User, &options, None, (), |attempt| make(board, file, id, attempt)).await?;
    Ok(Created(Answer::ok(made)))
}

async fn make(board: &Board, file: File, id: Option<SessionId>, attempt: Attempt<()>) -> Result<Value, Problem> {
    let file = BufReader::new(file);
    let session = if attempt.is_repeat { board.import_again(file, id).await? } else { board.import(file, id).await? };
    made(&session).await
}

impl FromRequest<App> for Received {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !["application/x-ndjson", "application/jsonl", "application/json"].contains(&kind) {
            let detail = "an export is lines of JSON: send the header `Content-Type: application/x-ndjson`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
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
        let options = WriteOptions::of(&parts, &hash.finalize())?;
        Ok(Self { file: file.into_std().await, options })
    }
}

fn no_room(error: &std::io::Error) -> Problem {
    let detail = format!("the export cannot be kept while it is read: {error}");
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, "store_full", detail)
}
