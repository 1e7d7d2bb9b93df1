//! Bodies that are long: JSON lines, received into a file.

use std::fs::File;

use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

use crate::{
    app::App,
    body::{next, too_large},
    call_error::CallError,
    write_options::{WriteOptions, write_options},
};

/// An export that was received completely. It may be large, so it is in a file.
pub(crate) struct Received {
    pub(crate) file: File,
    pub(crate) options: WriteOptions,
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
        while let Some(piece) = next(&mut pieces, limits).await? {
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
