//! `GET /metrics`

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::{caller::Here, rights::ReadMetrics};

/// Read what the server counts of itself, in the text form of Prometheus
#[utoipa::path(get, path = "/metrics", tag = "server", operation_id = "metrics",
    responses((status = OK, description = "The numbers", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(here: Here<ReadMetrics>) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"));
    ([kind], here.app.metrics.text(here.app.drivers.len())).into_response()
}
