//! `GET /v1/sessions/{session}/export`

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures::stream;

use crate::{caller::On, problem::Problem, rights::ExportSession};

/// Export a whole session as lines of JSON
#[utoipa::path(get, path = "/v1/sessions/{session}/export", tag = "export and import", operation_id = "export_session",
    params(("session" = String, Path, description = "The session")),
    responses((status = OK, description = "The session, a line an entry", body = String,
        content_type = "application/x-ndjson")))]
pub(crate) async fn export(on: On<ExportSession>) -> Result<Response, Problem> {
    let export = on.session.export().await?;
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
