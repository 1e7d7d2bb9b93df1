//! Calls of routes that come over no connection.

use std::io;

use axum::{Router, body::Body};
use callboard_mcp::Pieces;
use futures::TryStreamExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

/// What `routes` answer to a call.
pub(crate) async fn answered(routes: Router, request: http::Request<Pieces>) -> http::Response<Pieces> {
    let Ok(response) = TowerToHyperService::new(routes).call(request.map(Body::from_stream)).await;
    response.map(|body| -> Pieces { Box::pin(body.into_data_stream().map_err(io::Error::other)) })
}
