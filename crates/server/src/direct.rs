//! Calls of routes that come over no connection.

use std::io;

use axum::{Router, body::Body};
use bytes::Bytes;
use futures::{TryStreamExt as _, stream::BoxStream};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

/// The pieces of a body, as they arrive.
pub type Pieces = BoxStream<'static, io::Result<Bytes>>;

/// What `routes` answer to a call.
pub(crate) async fn answered(routes: Router, request: http::Request<Pieces>) -> http::Response<Pieces> {
    let Ok(response) = TowerToHyperService::new(routes).call(request.map(Body::from_stream)).await;
    response.map(|body| -> Pieces { Box::pin(body.into_data_stream().map_err(io::Error::other)) })
}
