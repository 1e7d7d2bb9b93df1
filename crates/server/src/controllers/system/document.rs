//! `GET /openapi.json`

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::app::App;

/// Read this document
#[utoipa::path(get, path = "/openapi.json", tag = "server", operation_id = "openapi",
    responses((status = OK, description = "The OpenAPI document", body = Object)))]
pub(crate) async fn document(State(app): State<App>) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([kind], app.document.clone()).into_response()
}
