//! Calls over one connection, whose caller waits for every answer.

use anyhow::ensure;
use axum::body::{Body, to_bytes};
use hyper::{
    Request,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpStream, ToSocketAddrs},
    task::JoinHandle,
};

/// A connection, and what drives it until it is dropped.
pub(crate) async fn connect(
    address: impl ToSocketAddrs,
) -> anyhow::Result<(SendRequest<Body>, JoinHandle<hyper::Result<()>>)> {
    let (sender, connection) = http1::handshake(TokioIo::new(TcpStream::connect(address).await?)).await?;
    Ok((sender, tokio::spawn(connection)))
}

/// A call that sends JSON.
pub(crate) fn post(path: &str, body: impl Into<Body>) -> anyhow::Result<Request<Body>> {
    let request =
        Request::post(path).header(header::HOST, "localhost").header(header::CONTENT_TYPE, "application/json");
    Ok(request.body(body.into())?)
}

/// Makes a call, and reads all of its answer.
pub(crate) async fn send(sender: &mut SendRequest<Body>, request: Request<Body>) -> anyhow::Result<()> {
    sender.ready().await?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = to_bytes(Body::new(answer.into_body()), usize::MAX).await?;
    ensure!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
    Ok(())
}
