//! `GET /`

use axum::response::Html;

/// See what there is
#[utoipa::path(get, path = "/", tag = "server", operation_id = "page",
    responses((status = OK, description = "A page with links", body = String, content_type = "text/html")))]
pub(crate) async fn page() -> Html<&'static str> {
    Html(include_str!("page.html"))
}
