//! `GET /openapi.json`

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Read this document
#[utoipa::path(get, path = "/openapi.json", tag = "server", operation_id = "openapi",
    responses((status = OK, description = "The OpenAPI document", body = Object)))]
pub(crate) async fn document() -> Response {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| crate::openapi().to_string());
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([kind], DOCUMENT.as_str()).into_response()
}
