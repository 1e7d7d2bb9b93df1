//! How much later the first byte of a streamed answer comes through a base URL than straight from the endpoint.

use std::{
    pin::Pin,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use axum::body::{Body, to_bytes};
use callboard_model::scripted::{Reply, Scripted};
use hyper::{body::Body as _, client::conn::http1::SendRequest};
use serde_json::{Value, json};

use crate::{
    Scale, board,
    client::{connect, post},
    report::{Goal, Report},
    rounds::ROUNDS,
    served::Served,
    timing::{median, millis, ms},
};

/// What the endpoint always answers.
const ANSWER: &str = "The tide turns before noon.";

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let endpoint = Scripted::start(|_, _| Reply::text(ANSWER));
    let base = endpoint.base_url();
    let served = Served::board(Vec::new(), Some(base.clone())).await?;
    let straight = base.strip_prefix("http://").and_then(|base| base.strip_suffix("/v1")).context("no address")?;
    let (mut straight, straight_connection) = connect(straight).await?;
    let (mut gateway, gateway_connection) = connect(served.address).await?;
    let calls = scale.of(210) / ROUNDS;
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        // Each round is a conversation, which its first request begins.
        let path = format!("/gateway/talk-{round}/writer/openai/v1/chat/completions");
        let mut messages = Vec::new();
        for number in 0..=calls {
            messages.push(json!({"role": "user", "content": board::text(number)}));
            let body = json!({"model": "gpt-4o", "stream": true, "messages": messages});
            // In turns, so that whatever else the machine does falls on both.
            let took = (
                first_byte(&mut straight, "/v1/chat/completions", &body).await?,
                first_byte(&mut gateway, &path, &body).await?,
            );
            if round > 0 && number > 0 {
                direct.push(took.0);
                through.push(took.1);
            }
            messages.push(json!({"role": "assistant", "content": ANSWER}));
        }
    }
    drop((straight, gateway));
    straight_connection.await??;
    gateway_connection.await??;
    tokio::task::block_in_place(|| served.stop())?;
    tokio::task::block_in_place(|| drop(endpoint));
    let (direct, through) = (median(&direct), median(&through));
    let measured = format!("{} ms − {} ms", millis(through), millis(direct));
    let what = "first byte of a stream: through a base URL − straight from the endpoint, in ms";
    report.promised(what, ms(through) - ms(direct), Goal::AtMost(5.0), measured);
    Ok(())
}

/// How long it takes until the first bytes of an answer are there. The rest is read, too.
async fn first_byte(sender: &mut SendRequest<Body>, path: &str, body: &Value) -> anyhow::Result<Duration> {
    let request = post(path, body.to_string())?;
    sender.ready().await?;
    let began = Instant::now();
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let mut answer = answer.into_body();
    let first = std::future::poll_fn(|context| Pin::new(&mut answer).poll_frame(context)).await;
    let took = began.elapsed();
    first.context("the answer is empty")??;
    let rest = to_bytes(Body::new(answer), usize::MAX).await?;
    ensure!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&rest));
    Ok(took)
}
